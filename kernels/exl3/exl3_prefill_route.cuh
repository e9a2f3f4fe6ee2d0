// SPDX-License-Identifier: MIT
//
// Which rows an expert receives, decided on the device: assignments (row * expertsPerToken + i)
// are sorted by (expert, assignment) with a counting sort, and every expert's run is cut into
// segments of up to kSegmentRows: full ones and a rest. Nothing is dropped, whatever the router
// chose.
#pragma once

#include "kernels/common/cuda_queue.cuh"

#include <cstdint>

namespace firesteel::kernels::cuda {

inline constexpr int kSegmentRows = 128; // a tile's

struct Segment
{
    std::int32_t expert;
    std::int32_t first; // place of its first row
    std::int32_t rows; // 1..kSegmentRows
};

struct Routing
{
    std::int32_t *place; // [assignments]: where an assignment's row lies
    Segment *segments; // by rows in steps of 32, most first; then by expert
    std::int32_t *segmentCount;
    std::int32_t *counts; // scratch of the sort, [routingChunks(assignments), experts]
};

inline constexpr std::int64_t kRoutingChunk = 256; // assignments that a block sorts

constexpr std::int64_t routingChunks(std::int64_t assignments)
{
    return (assignments + kRoutingChunk - 1) / kRoutingChunk;
}
std::int64_t maxSegments(std::int64_t assignments, std::int64_t experts);

void routeToExperts(const Routing &routing, const std::int32_t *experts, std::int64_t assignments,
                    std::int64_t expertCount, CudaQueue &queue);

} // namespace firesteel::kernels::cuda
