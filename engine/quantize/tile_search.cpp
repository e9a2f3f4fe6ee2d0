// SPDX-License-Identifier: MIT
#include "engine/quantize/tile_search.h"

#include "kernels/exl3/exl3_codec.h"
#include "kernels/exl3/exl3_viterbi.h"

#include <cstddef>

namespace firesteel::engine {

namespace {

void grow(kernels::DeviceMemory &memory, std::size_t bytes)
{
    if (memory.bytes() < bytes) {
        memory = {}; // freed first
        memory = kernels::DeviceMemory(bytes);
    }
}

} // namespace

void TileSearch::run(std::span<std::uint16_t> states, std::span<const float> tiles)
{
    if (m_stream.backend() == kernels::Backend::Cpu) {
        kernels::launchExl3Viterbi(states, tiles, m_rate, m_codebook, {}, m_stream);
        return;
    }
    const auto count = static_cast<std::int64_t>(tiles.size() / kernels::kExl3TileSize);
    grow(m_tiles, tiles.size_bytes());
    grow(m_states, states.size_bytes());
    grow(m_scratch, kernels::exl3ViterbiScratchBytes(count, m_rate, m_stream));
    kernels::CudaQueue &queue = m_stream.cuda();
    kernels::copyToDevice(m_tiles.data(), tiles.data(), tiles.size_bytes(), queue);
    kernels::launchExl3Viterbi(m_states.as<std::uint16_t>().first(states.size()),
                               m_tiles.as<float>().first(tiles.size()), m_rate, m_codebook,
                               { m_scratch.as<std::byte>() }, m_stream);
    kernels::copyToHost(states.data(), m_states.data(), states.size_bytes(), queue);
}

} // namespace firesteel::engine
