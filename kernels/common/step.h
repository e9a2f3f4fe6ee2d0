// SPDX-License-Identifier: MIT
//
// The rows of one forward call and the sequences they belong to. Kernels of stateful layers take
// everything that changes from step to step from these tables, so that a recorded decode step
// (DeviceGraph) can be replayed at other positions.
#pragma once

#include <cstdint>
#include <span>

namespace firesteel::kernels {

// Consecutive rows of a call that belong to one sequence.
struct StepSequence
{
    std::int32_t firstRow = 0;
    std::int32_t rows = 0;
    std::int32_t firstPosition = 0; // of its first row
    std::int32_t recordedRows = 0; // accepted rows of its last decode step that its recurrent
                                   // states lack (at most kMaxSequenceRows)
};

// Rows a sequence may have in one decode or verification step: the last accepted token and eight
// drafts.
inline constexpr int kMaxSequenceRows = 9;

// The spans lie where the stream runs.
struct Step
{
    std::span<const StepSequence> sequences;
    std::span<const std::int32_t> sequenceOf; // [rows]: which of `sequences`
    std::int64_t rows = 0;
    // Known to the host, for the sizes of grids and buffers.
    std::int64_t mostRows = 0; // of one sequence, at least
    std::int64_t longestContext = 0; // tokens that a row of this step may see, at most
};

} // namespace firesteel::kernels
