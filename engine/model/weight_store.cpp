// SPDX-License-Identifier: MIT
#include "engine/model/weight_store.h"

#include "kernels/common/synthetic.h"

#include <algorithm>

namespace firesteel::engine {

namespace {

constexpr std::size_t kBlockBytes = std::size_t { 256 } << 20;
constexpr std::size_t kAlignment = 256;
constexpr float kRandomScale = 0.03F; // keeps activations of order one

} // namespace

std::byte *WeightStore::allocate(std::size_t bytes)
{
    if (m_blocks.empty() || m_blocks.back().bytes() - m_used < bytes) {
        m_blocks.emplace_back(std::max(bytes, kBlockBytes));
        m_used = 0;
    }
    std::byte *place = m_blocks.back().data() + m_used;
    m_used = std::min(m_blocks.back().bytes(),
                      m_used + (bytes + kAlignment - 1) / kAlignment * kAlignment);
    m_placedBytes += bytes;
    return place;
}

const void *WeightStore::place(const void *data, std::size_t count, kernels::DType dtype)
{
    if (m_stream.backend() == kernels::Backend::Cpu || count == 0)
        return data;
    const std::size_t bytes = count * kernels::dtypeBytes(dtype);
    std::byte *to = allocate(bytes);
    if (isRandom())
        kernels::fillRandomValues(to, count, dtype, kRandomScale, m_placedBytes, m_stream.cuda());
    else
        kernels::copyToDevice(to, data, bytes, m_stream.cuda());
    return to;
}

const std::uint16_t *WeightStore::placeTrellis(const std::uint16_t *data, std::size_t count)
{
    if (m_stream.backend() == kernels::Backend::Cpu)
        return data;
    const std::size_t bytes = count * sizeof(std::uint16_t);
    std::byte *to = allocate(bytes);
    if (isRandom())
        kernels::fillRandomBits(to, bytes, m_placedBytes, m_stream.cuda());
    else
        kernels::copyToDevice(to, data, bytes, m_stream.cuda());
    return reinterpret_cast<const std::uint16_t *>(to);
}

} // namespace firesteel::engine
