// SPDX-License-Identifier: MIT
#include "engine/model/weight_store.h"

#include "engine/checkpoint/direct_reader.h"
#include "kernels/common/synthetic.h"

#include <algorithm>
#include <utility>

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
        m_copies.push_back({ to, data, bytes });
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
        m_copies.push_back({ to, data, bytes });
    return reinterpret_cast<const std::uint16_t *>(to);
}

Result<void> WeightStore::load(const TensorFolder &folder,
                               const std::function<void(double)> &progress,
                               const CancelToken &cancel)
{
    std::vector<FilePiece> pieces;
    std::uint64_t bytes = 0;
    for (const Copy &copy : std::exchange(m_copies, {})) {
        if (const auto place = folder.locate(copy.from)) {
            pieces.push_back({ place->file, place->offset, copy.bytes, copy.to });
            bytes += copy.bytes;
        } else {
            kernels::copyToDevice(copy.to, copy.from, copy.bytes, m_stream.cuda());
        }
    }
    if (pieces.empty())
        return {};
    const auto report = [&](std::uint64_t read) {
        if (progress)
            progress(std::min(1.0, static_cast<double>(read) / static_cast<double>(bytes)));
    };
    const auto read = readPieces(folder.files(), std::move(pieces), m_stream, report, cancel);
    if (!read)
        return std::unexpected(read.error());
    folder.dropPages(); // of headers and small tensors
    return {};
}

} // namespace firesteel::engine
