// SPDX-License-Identifier: MIT
//
// The trellis search over tiles in host memory, wherever the stream runs it; keeps its device
// buffers between calls.
#pragma once

#include "kernels/common/device.h"
#include "kernels/common/stream.h"
#include "kernels/exl3/exl3.h"

#include <cstdint>
#include <span>

namespace firesteel::engine {

class TileSearch
{
public:
    TileSearch(int rate, kernels::Exl3Codebook codebook, kernels::Stream &stream)
        : m_rate(rate)
        , m_codebook(codebook)
        , m_stream(stream)
    {
    }

    // states, tiles [n, 256] in step order (kernels/exl3/exl3_viterbi.h).
    void run(std::span<std::uint16_t> states, std::span<const float> tiles);

private:
    int m_rate;
    kernels::Exl3Codebook m_codebook;
    kernels::Stream &m_stream;
    kernels::DeviceMemory m_tiles, m_states, m_scratch;
};

} // namespace firesteel::engine
