// SPDX-License-Identifier: MIT
#include "engine/model/step_tables.h"

#include <algorithm>
#include <stdexcept>

namespace firesteel::engine {

using kernels::Backend;
using kernels::KdaSlot;
using kernels::MlaSlot;
using kernels::StepSequence;

StepTables::StepTables(std::size_t kdaLayers, std::size_t mlaLayers, std::int64_t maxRows,
                       kernels::Stream &stream)
    : m_stream(stream)
    , m_kdaLayers(kdaLayers)
    , m_mlaLayers(mlaLayers)
    , m_maxRows(static_cast<std::size_t>(maxRows))
    , m_kdaAt(kMaxStepSequences * sizeof(StepSequence))
    , m_mlaAt(m_kdaAt + kdaLayers * kMaxStepSequences * sizeof(KdaSlot))
    , m_tokensAt(m_mlaAt + mlaLayers * kMaxStepSequences * sizeof(MlaSlot))
    , m_sequenceOfAt(m_tokensAt + m_maxRows * sizeof(std::int32_t))
    , m_bytes(m_sequenceOfAt + m_maxRows * sizeof(std::int32_t))
    , m_block(kernels::Buffer<std::byte>::zeros(m_bytes, stream))
{
    static_assert(kMaxStepSequences * sizeof(StepSequence) % alignof(KdaSlot) == 0);
    if (stream.backend() == Backend::Cuda)
        m_pinned = kernels::PinnedMemory(m_bytes);
}

template <typename T> std::span<T> StepTables::host(std::size_t offset, std::size_t count) const
{
    std::byte *base = m_stream.backend() == Backend::Cuda ? m_pinned.span().data() : m_block.data();
    return { reinterpret_cast<T *>(base + offset), count };
}

template <typename T>
std::span<const T> StepTables::placed(std::size_t offset, std::size_t count) const
{
    return { reinterpret_cast<const T *>(m_block.data() + offset), count };
}

void StepTables::describe(std::span<const RowGroup> groups, std::span<const std::int32_t> tokens,
                          std::int64_t longestContext)
{
    if (groups.size() > kMaxStepSequences)
        throw std::logic_error("StepTables: too many sequences in one step");
    if (tokens.size() > m_maxRows)
        throw std::logic_error("StepTables: too many rows in one step");
    if (m_stream.backend() == Backend::Cuda)
        kernels::synchronize(m_stream.cuda());
    const auto sequences = host<StepSequence>(0, groups.size());
    const auto kda = host<KdaSlot>(m_kdaAt, m_kdaLayers * kMaxStepSequences);
    const auto mla = host<MlaSlot>(m_mlaAt, m_mlaLayers * kMaxStepSequences);
    const auto sequenceOf = host<std::int32_t>(m_sequenceOfAt, tokens.size());
    std::int64_t mostRows = 0;
    for (std::size_t i = 0; i < groups.size(); ++i) {
        const RowGroup &group = groups[i];
        sequences[i] = { .firstRow = static_cast<std::int32_t>(group.firstRow),
                         .rows = static_cast<std::int32_t>(group.rows),
                         .firstPosition = static_cast<std::int32_t>(group.firstPosition),
                         .recordedRows = group.sequence->recordedRows() };
        std::ranges::fill(sequenceOf.subspan(static_cast<std::size_t>(group.firstRow),
                                             static_cast<std::size_t>(group.rows)),
                          static_cast<std::int32_t>(i));
        for (std::size_t layer = 0; layer < m_kdaLayers; ++layer)
            kda[layer * kMaxStepSequences + i]
                = group.sequence->kda(static_cast<int>(layer)).slot();
        for (std::size_t layer = 0; layer < m_mlaLayers; ++layer)
            mla[layer * kMaxStepSequences + i]
                = group.sequence->mla(static_cast<int>(layer)).slot();
        mostRows = std::max(mostRows, group.rows);
    }
    std::ranges::copy(tokens, host<std::int32_t>(m_tokensAt, tokens.size()).begin());
    if (m_stream.backend() == Backend::Cuda)
        kernels::enqueueToDevice(m_block.data(), m_pinned.span(), m_stream.cuda());
    m_step = { .sequences = placed<StepSequence>(0, groups.size()),
               .sequenceOf = placed<std::int32_t>(m_sequenceOfAt, tokens.size()),
               .rows = static_cast<std::int64_t>(tokens.size()),
               .mostRows = mostRows,
               .longestContext = longestContext };
}

std::span<const std::int32_t> StepTables::tokens() const
{
    return placed<std::int32_t>(m_tokensAt, static_cast<std::size_t>(m_step.rows));
}

std::span<const KdaSlot> StepTables::kda(int layer) const
{
    return placed<KdaSlot>(
        m_kdaAt + static_cast<std::size_t>(layer) * kMaxStepSequences * sizeof(KdaSlot),
        m_step.sequences.size());
}

std::span<const MlaSlot> StepTables::mla(int layer) const
{
    return placed<MlaSlot>(
        m_mlaAt + static_cast<std::size_t>(layer) * kMaxStepSequences * sizeof(MlaSlot),
        m_step.sequences.size());
}

} // namespace firesteel::engine
