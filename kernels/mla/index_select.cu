// SPDX-License-Identifier: MIT
//
// What      the topK / 4 best pools of every row (ties: the earlier), ascending, and its tail
// Layout    scores [rows of a slice, stride] float32; positions [rows, maxSelected] int32
// Limits    topK <= 2048
// Traffic   16 bytes a complete pool and row, from L2
// Plan      A block a row. Three passes of a radix select over the scores' bits, made to order as
//           integers, find the worst kept score and how many of its equals are kept. Then every
//           warp lists what it may keep of its part of the row, in order, and the lists are joined.
// Measured  not measured
#include "kernels/mla/index_select.cuh"
#include "kernels/mla/mla_backends.h"
#include "kernels/mla/mla_device.cuh"

#include <algorithm>

namespace firesteel::kernels::cuda {

namespace {

constexpr int kWarps = 32;
constexpr int kThreads = 32 * kWarps;
constexpr int kBins = 2 * kThreads;
constexpr std::uint32_t kEqual = 0x80000000U; // marks a pool of the worst kept score
constexpr std::int64_t kSliceScores = 8LL * 1024 * 1024;
constexpr std::int64_t kSliceRows = 512;

struct SelectArguments
{
    std::int32_t *positions, *counts;
    std::int64_t maxSelected;
    IndexSlice slice;
    const StepSequence *sequences;
    const std::int32_t *sequenceOf;
    int keep; // pools
};

// Orders as the scores do; NaN as -inf, zeros of both signs alike.
__device__ std::uint32_t orderOf(float score)
{
    const std::uint32_t bits = __float_as_uint(isnan(score) ? -INFINITY : score + 0.0F);
    return (bits & 0x80000000U) != 0 ? ~bits : bits | 0x80000000U;
}

// Sum over the lanes below; total: over all.
__device__ int laneScan(int value, int &total)
{
    const int lane = static_cast<int>(threadIdx.x) % 32;
    int sum = value;
#pragma unroll
    for (int offset = 1; offset < 32; offset *= 2) {
        const int below = __shfl_up_sync(~0U, sum, offset);
        sum += lane >= offset ? below : 0;
    }
    total = __shfl_sync(~0U, sum, 31);
    return sum - value;
}

struct Four
{
    std::uint32_t order[4];
    int count; // that exist
};
__device__ Four loadFour(const float *scores, int first, int end)
{
    Four four {};
    four.count = min(4, end - first);
    if (four.count <= 0)
        return four;
    const float4 values = *reinterpret_cast<const float4 *>(scores + first);
    four.order[0] = orderOf(values.x);
    four.order[1] = orderOf(values.y);
    four.order[2] = orderOf(values.z);
    four.order[3] = orderOf(values.w);
    return four;
}

struct Threshold
{
    std::uint32_t order; // of the worst kept score
    int equals; // pools of that score that are kept
};

// Of `pools` > keep scores. Ends with a barrier.
__device__ Threshold findThreshold(const float *scores, int pools, int keep, int *histogram)
{
    __shared__ int warpSums[kWarps];
    __shared__ int found[2]; // bin, pools still to be kept in it
    const int thread = static_cast<int>(threadIdx.x);
    std::uint32_t order = 0;
    std::uint32_t known = 0; // bits of `order`
    int remaining = keep;
#pragma unroll 1
    for (int shift = 21; shift >= 0; shift = shift == 21 ? 10 : shift == 10 ? 0 : -1) {
        const std::uint32_t mask = shift == 0 ? 1023 : 2047;
        histogram[thread] = 0;
        histogram[thread + kThreads] = 0;
        __syncthreads();
        for (int first = thread * 4; first < pools; first += kThreads * 4) {
            const Four four = loadFour(scores, first, pools);
#pragma unroll
            for (int i = 0; i < 4; ++i)
                if (i < four.count && (four.order[i] & known) == order)
                    atomicAdd(&histogram[four.order[i] >> shift & mask], 1);
        }
        __syncthreads();
        // The best bins first, two a thread.
        const int bin = kBins - 1 - 2 * thread;
        const int better = histogram[bin];
        const int both = better + histogram[bin - 1];
        int warpSum = 0;
        int above = laneScan(both, warpSum);
        if (thread % 32 == 31)
            warpSums[thread / 32] = warpSum;
        __syncthreads();
        for (int warp = 0; warp < thread / 32; ++warp)
            above += warpSums[warp];
        if (above < remaining && remaining <= above + both) {
            const bool isBetter = remaining <= above + better;
            found[0] = isBetter ? bin : bin - 1;
            found[1] = remaining - above - (isBetter ? 0 : better);
        }
        __syncthreads();
        order |= static_cast<std::uint32_t>(found[0]) << shift;
        known |= mask << shift;
        remaining = found[1];
    }
    return { order, remaining };
}

__global__ void __launch_bounds__(kThreads) index_select_kernel(const SelectArguments arguments)
{
    extern __shared__ __align__(16) int shared[]; // the histogram, then lists of `keep` a warp
    __shared__ int listed[kWarps];
    __shared__ int listedEquals[kWarps];

    cudaGridDependencySynchronize();
    const int thread = static_cast<int>(threadIdx.x);
    const int warp = thread / 32;
    const int lane = thread % 32;
    const std::int64_t row = arguments.slice.firstRow + blockIdx.x;
    const int visible
        = static_cast<int>(positionOf(arguments.sequences[arguments.sequenceOf[row]], row) + 1);
    const int pools = visible / kIndexPool;
    const int keep = arguments.keep;
    std::int32_t *positions = arguments.positions + row * arguments.maxSelected;
    if (pools <= keep) {
        for (int i = thread; i < visible; i += kThreads)
            positions[i] = i;
        if (thread == 0)
            arguments.counts[row] = visible;
        return;
    }
    const float *scores
        = arguments.slice.scores + std::int64_t { blockIdx.x } * arguments.slice.stride;
    const Threshold threshold = findThreshold(scores, pools, keep, shared);

    // No warp lists more than `keep`: better pools and as many equals as are kept in all.
    auto *list = reinterpret_cast<std::uint32_t *>(shared) + kBins + warp * keep;
    const int part = (pools + kWarps * 128 - 1) / (kWarps * 128) * 128; // of a warp
    const int end = min(pools, (warp + 1) * part);
    int count = 0;
    int equals = 0;
    for (int first = warp * part; first < end; first += 128) {
        const int mine = first + lane * 4;
        const Four four = loadFour(scores, mine, end);
        bool isKept[4];
        bool isEqual[4];
        int myEquals = 0;
        bool isAny = false;
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            isKept[i] = i < four.count && four.order[i] > threshold.order;
            isEqual[i] = i < four.count && four.order[i] == threshold.order;
            myEquals += isEqual[i] ? 1 : 0;
            isAny = isAny || isKept[i] || isEqual[i];
        }
        if (!__any_sync(~0U, isAny))
            continue;
        int allEquals = 0;
        int rank = equals + laneScan(myEquals, allEquals);
        int myKept = 0;
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            isKept[i] = isKept[i] || (isEqual[i] && rank < threshold.equals);
            rank += isEqual[i] ? 1 : 0;
            myKept += isKept[i] ? 1 : 0;
        }
        int allKept = 0;
        int place = count + laneScan(myKept, allKept);
#pragma unroll
        for (int i = 0; i < 4; ++i)
            if (isKept[i])
                list[place++] = static_cast<std::uint32_t>(mine + i) | (isEqual[i] ? kEqual : 0);
        count += allKept;
        equals += allEquals;
    }
    if (lane == 0) {
        listed[warp] = count;
        listedEquals[warp] = min(equals, threshold.equals);
    }
    __syncthreads();

    // Lane w: what warp w may keep of its list.
    int total = 0;
    const int laneEquals = listedEquals[lane];
    const int equalsBefore = laneScan(laneEquals, total);
    const int laneAllowed = min(laneEquals, max(0, threshold.equals - equalsBefore));
    const int laneOffset = laneScan(listed[lane] - laneEquals + laneAllowed, total);
    const int allowed = __shfl_sync(~0U, laneAllowed, warp);
    int offset = __shfl_sync(~0U, laneOffset, warp);
    const std::uint32_t lanesBelow = (1U << lane) - 1;
    equals = 0;
    for (int first = 0; first < count; first += 32) {
        const bool exists = first + lane < count;
        const std::uint32_t entry = exists ? list[first + lane] : 0;
        const bool isEqual = (entry & kEqual) != 0;
        const std::uint32_t equalLanes = __ballot_sync(~0U, isEqual);
        const bool isKept
            = exists && (!isEqual || equals + __popc(equalLanes & lanesBelow) < allowed);
        const std::uint32_t keptLanes = __ballot_sync(~0U, isKept);
        if (isKept) {
            const int at = (offset + __popc(keptLanes & lanesBelow)) * kIndexPool;
            const auto pool = static_cast<std::int32_t>(entry & ~kEqual);
#pragma unroll
            for (int j = 0; j < kIndexPool; ++j)
                positions[at + j] = pool * kIndexPool + j;
        }
        offset += __popc(keptLanes);
        equals += __popc(equalLanes);
    }
    const int tail = visible % kIndexPool;
    if (thread < tail)
        positions[keep * kIndexPool + thread] = pools * kIndexPool + thread;
    if (thread == 0)
        arguments.counts[row] = keep * kIndexPool + tail;
}

std::int64_t alignUp(std::int64_t value, std::int64_t to) { return (value + to - 1) / to * to; }

struct Slicing
{
    std::int64_t rows, stride;
};
Slicing sliceOf(const IndexShape &shape, std::int64_t rows, std::int64_t longestContext)
{
    const std::int64_t stride = alignUp(longestContext / shape.pool, 4);
    return { std::min({ rows, kSliceRows, std::max<std::int64_t>(1, kSliceScores / stride) }),
             stride };
}

bool isEverythingKept(const IndexShape &shape, std::int64_t longestContext)
{
    return longestContext / shape.pool <= shape.topK / shape.pool;
}

} // namespace

//------------------------------------------------------------------------------------------------

void selectBest(const Selection &selection, const IndexSlice &slice, const IndexShape &shape,
                const Step &step, CudaQueue &queue)
{
    const int keep = static_cast<int>(shape.topK / shape.pool);
    const int sharedBytes
        = slice.scores == nullptr ? 0 : (kBins + kWarps * keep) * static_cast<int>(sizeof(int));
    checkCuda(cudaFuncSetAttribute(index_select_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   (kBins + kWarps * keep) * static_cast<int>(sizeof(int))),
              "cudaFuncSetAttribute");
    launchAhead(index_select_kernel, dim3(static_cast<unsigned>(slice.rows)), kThreads, sharedBytes,
                queue, "index_select_kernel",
                SelectArguments { selection.positions.data(), selection.counts.data(),
                                  selection.maxSelected, slice, step.sequences.data(),
                                  step.sequenceOf.data(), keep });
}

std::size_t indexScratchBytes(const IndexShape &shape, std::int64_t rows,
                              std::int64_t longestContext)
{
    if (isEverythingKept(shape, longestContext))
        return 0;
    const Slicing slicing = sliceOf(shape, rows, longestContext);
    return static_cast<std::size_t>(slicing.rows)
        * (indexQueryBytes(shape) + static_cast<std::size_t>(slicing.stride) * sizeof(float));
}

void indexSelect(const Selection &selection, std::span<std::byte> scratch,
                 std::span<const float> query, std::span<const float> weights,
                 std::span<const MlaSlot> slots, const IndexShape &shape, const Step &step,
                 CudaQueue &queue)
{
    if (step.rows == 0)
        return;
    if (isEverythingKept(shape, step.longestContext))
        return selectBest(selection, { .rows = step.rows }, shape, step, queue);
    const Slicing slicing = sliceOf(shape, step.rows, step.longestContext);
    auto *scores = reinterpret_cast<float *>(
        scratch.data() + static_cast<std::size_t>(slicing.rows) * indexQueryBytes(shape));
    for (std::int64_t first = 0; first < step.rows; first += slicing.rows) {
        const IndexSlice slice { .scores = scores,
                                 .stride = slicing.stride,
                                 .firstRow = first,
                                 .rows = std::min(slicing.rows, step.rows - first) };
        indexScore(slice, scratch.data(), query, weights, slots, shape, step, queue);
        selectBest(selection, slice, shape, step, queue);
    }
}

} // namespace firesteel::kernels::cuda
