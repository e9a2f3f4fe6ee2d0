// SPDX-License-Identifier: MIT
//
// What      the counting sort of exl3_prefill_route.cuh
// Plan      counts per chunk of 256 assignments; one block turns them into places and writes the
//           segments; each chunk ranks its assignments. Everything is exact, so the places never
//           depend on timing.
// Traffic   16 bytes per assignment and 12 per chunk and expert
#include "kernels/exl3/exl3_prefill_route.cuh"

#include <algorithm>

namespace firesteel::kernels::cuda {

namespace {

constexpr int kPlanThreads = 1024;
constexpr int kClasses = kSegmentRows / 32; // of segments, by size

__device__ __forceinline__ int sizeClass(int rows) { return kClasses - 1 - (rows - 1) / 32; }

__device__ __forceinline__ std::int32_t sumOfLanesBefore(std::int32_t value)
{
    std::int32_t sum = value;
    for (int stride = 1; stride < 32; stride *= 2) {
        const std::int32_t more = __shfl_up_sync(0xFFFFFFFFU, sum, stride);
        if (static_cast<int>(threadIdx.x % 32) >= stride)
            sum += more;
    }
    return sum - value;
}

__global__ void __launch_bounds__(kRoutingChunk)
    exl3_route_count_kernel(std::int32_t *counts, const std::int32_t *experts, int assignments,
                            int expertCount)
{
    extern __shared__ std::int32_t chunkCounts[];
    for (int e = static_cast<int>(threadIdx.x); e < expertCount; e += kRoutingChunk)
        chunkCounts[e] = 0;
    __syncthreads();
    const int i = static_cast<int>(blockIdx.x * kRoutingChunk + threadIdx.x);
    if (i < assignments)
        atomicAdd(&chunkCounts[experts[i]], 1);
    __syncthreads();
    for (int e = static_cast<int>(threadIdx.x); e < expertCount; e += kRoutingChunk)
        counts[static_cast<std::size_t>(blockIdx.x) * expertCount + e] = chunkCounts[e];
}

// counts[chunk][expert] becomes the place of the chunk's first row of the expert.
__global__ void __launch_bounds__(kPlanThreads)
    exl3_route_plan_kernel(std::int32_t *counts, Segment *segments, std::int32_t *segmentCount,
                           int chunks, int expertCount)
{
    extern __shared__ std::int32_t totals[]; // [expertCount], then the expert's first place
    constexpr int kBatch = 16; // loads in flight
    for (int e = static_cast<int>(threadIdx.x); e < expertCount; e += kPlanThreads) {
        std::int32_t total = 0;
        for (int first = 0; first < chunks; first += kBatch) {
            std::int32_t batch[kBatch];
#pragma unroll
            for (int c = 0; c < kBatch; ++c)
                batch[c] = first + c < chunks
                    ? counts[static_cast<std::size_t>(first + c) * expertCount + e]
                    : 0;
#pragma unroll
            for (int c = 0; c < kBatch; ++c) {
                if (first + c < chunks)
                    counts[static_cast<std::size_t>(first + c) * expertCount + e] = total;
                total += batch[c];
            }
        }
        totals[e] = total;
    }
    __syncthreads();
    if (threadIdx.x < 32) { // exclusive sums over the experts, a run of them per lane
        const int lane = static_cast<int>(threadIdx.x);
        const int run = (expertCount + 31) / 32;
        const int begin = min(lane * run, expertCount);
        const int end = min(begin + run, expertCount);
        std::int32_t rows = 0;
        std::int32_t segmentsOfClass[kClasses] = {};
        for (int e = begin; e < end; ++e) {
            rows += totals[e];
            segmentsOfClass[0] += totals[e] / kSegmentRows;
            const int rest = totals[e] % kSegmentRows;
#pragma unroll
            for (int c = 0; c < kClasses; ++c)
                segmentsOfClass[c] += rest > 0 && sizeClass(rest) == c ? 1 : 0;
        }
        std::int32_t row = sumOfLanesBefore(rows);
        std::int32_t next[kClasses]; // segment of each class
        std::int32_t classBegin = 0;
#pragma unroll
        for (int c = 0; c < kClasses; ++c) {
            const std::int32_t before = sumOfLanesBefore(segmentsOfClass[c]);
            next[c] = classBegin + before;
            classBegin += __shfl_sync(0xFFFFFFFFU, before + segmentsOfClass[c], 31);
        }
        if (lane == 31)
            *segmentCount = classBegin;
        for (int e = begin; e < end; ++e) {
            const std::int32_t count = totals[e];
            totals[e] = row;
            for (int first = 0; first < count; first += kSegmentRows) {
                const int segmentRows = min(kSegmentRows, count - first);
#pragma unroll
                for (int c = 0; c < kClasses; ++c)
                    if (sizeClass(segmentRows) == c)
                        segments[next[c]++] = { e, row + first, segmentRows };
            }
            row += count;
        }
    }
    __syncthreads();
    for (int i = static_cast<int>(threadIdx.x); i < chunks * expertCount; i += kPlanThreads)
        counts[i] += totals[i % expertCount];
}

__global__ void __launch_bounds__(kRoutingChunk)
    exl3_route_place_kernel(std::int32_t *place, const std::int32_t *counts,
                            const std::int32_t *experts, int assignments, int expertCount)
{
    __shared__ std::int32_t chunk[kRoutingChunk];
    const int i = static_cast<int>(blockIdx.x * kRoutingChunk + threadIdx.x);
    chunk[threadIdx.x] = i < assignments ? experts[i] : -1;
    __syncthreads();
    if (i >= assignments)
        return;
    const std::int32_t expert = chunk[threadIdx.x];
    int rank = 0;
    for (unsigned earlier = 0; earlier < threadIdx.x; ++earlier)
        rank += chunk[earlier] == expert ? 1 : 0;
    place[i] = counts[static_cast<std::size_t>(blockIdx.x) * expertCount + expert] + rank;
}

} // namespace

//------------------------------------------------------------------------------------------------

std::int64_t maxSegments(std::int64_t assignments, std::int64_t experts)
{
    return assignments / kSegmentRows + std::min(assignments, experts);
}

void routeToExperts(const Routing &routing, const std::int32_t *experts, std::int64_t assignments,
                    std::int64_t expertCount, CudaQueue &queue)
{
    const auto chunks = static_cast<unsigned>(routingChunks(assignments));
    const auto count = static_cast<int>(assignments);
    const auto expertsInt = static_cast<int>(expertCount);
    const std::size_t expertBytes = static_cast<std::size_t>(expertCount) * sizeof(std::int32_t);
    exl3_route_count_kernel<<<chunks, kRoutingChunk, expertBytes, queue.stream()>>>(
        routing.counts, experts, count, expertsInt);
    checkLaunch("exl3_route_count_kernel");
    exl3_route_plan_kernel<<<1, kPlanThreads, expertBytes, queue.stream()>>>(
        routing.counts, routing.segments, routing.segmentCount, static_cast<int>(chunks),
        expertsInt);
    checkLaunch("exl3_route_plan_kernel");
    exl3_route_place_kernel<<<chunks, kRoutingChunk, 0, queue.stream()>>>(
        routing.place, routing.counts, experts, count, expertsInt);
    checkLaunch("exl3_route_place_kernel");
}

} // namespace firesteel::kernels::cuda
