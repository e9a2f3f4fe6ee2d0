// SPDX-License-Identifier: MIT
//
// What the kernels of one forward call read of its sequences: rows, positions, and where each
// layer's caches and states lie. Written by the host into one block of memory, which on the device
// is copied once a step, always between the same addresses: a recorded step is replayed with new
// tables.
#pragma once

#include "engine/state/sequence_state.h"
#include "kernels/common/buffer.h"
#include "kernels/common/step.h"
#include "kernels/common/stream.h"
#include "kernels/kda/kda.h"
#include "kernels/mla/mla.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace firesteel::engine {

// Sequences of one step.
inline constexpr std::size_t kMaxStepSequences = 8;

// Consecutive rows of a forward call that belong to one sequence.
struct RowGroup
{
    SequenceState *sequence = nullptr;
    std::int64_t firstRow = 0;
    std::int64_t rows = 0;
    std::int64_t firstPosition = 0;
};

class StepTables
{
public:
    StepTables(std::size_t kdaLayers, std::size_t mlaLayers, std::int64_t maxRows,
               kernels::Stream &stream);

    // Describes a call: the rows of `groups`, one token each, in order. longestContext: of
    // kernels::Step. Waits for the device to have read the tables before.
    void describe(std::span<const RowGroup> groups, std::span<const std::int32_t> tokens,
                  std::int64_t longestContext);

    const kernels::Step &step() const { return m_step; }
    std::int64_t rows() const { return m_step.rows; }
    std::span<const std::int32_t> tokens() const; // [rows]
    std::span<const kernels::KdaSlot> kda(int layer) const; // as step().sequences
    std::span<const kernels::MlaSlot> mla(int layer) const;

private:
    template <typename T> std::span<T> host(std::size_t offset, std::size_t count) const;
    template <typename T> std::span<const T> placed(std::size_t offset, std::size_t count) const;

    kernels::Stream &m_stream;
    std::size_t m_kdaLayers;
    std::size_t m_mlaLayers;
    std::size_t m_maxRows;
    // Offsets of the tables in the block.
    std::size_t m_kdaAt, m_mlaAt, m_tokensAt, m_sequenceOfAt, m_bytes;
    kernels::Buffer<std::byte> m_block; // where the kernels run
    kernels::PinnedMemory m_pinned; // what is copied there, on the device
    kernels::Step m_step;
};

} // namespace firesteel::engine
