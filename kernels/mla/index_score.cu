// SPDX-License-Identifier: MIT
//
// What      I[t, p] = (heads * 128)^-0.5 sum_h w[t, h] relu(q[t, h] . K_p)
// Layout    q [rows, heads, 128], w [rows, heads] float32; K [context / 4, 128] BF16 in the slots
// Limits    headDim 128, pool 4, at most 32 heads
// Traffic   256 bytes a pool from DRAM, once for all rows of a sequence in the slice; from L2, per
//           256 pools and row, 512 bytes a head of q; 4 bytes a pool and row of scores
// Work      2 * 2 * 128 flop a pool, head and row: q is BF16 hi + lo
// Plan      A first launch splits q. A block takes 256 pools at a time, a warp 32 of them, whose
//           keys lie in registers while the rows pass by, double-buffered by cp.async. mma over
//           16 pools x 8 heads; which 16 of the 128 channels a product takes is free, so that
//           lanes load keys and queries by 16 bytes. Heads are summed within a lane, then over the
//           four lanes of a pool. Rows that keep every token are passed over.
// Flight    64 KB of keys a block, two blocks a multiprocessor
// Measured  not measured
#include "kernels/mla/index_select.cuh"
#include "kernels/mla/mla_backends.h"
#include "kernels/mla/mla_device.cuh"

#include <algorithm>
#include <cmath>

namespace firesteel::kernels::cuda {

namespace {

constexpr int kWarps = 8;
constexpr int kThreads = 32 * kWarps;
constexpr int kWarpPools = 32;
constexpr int kBlockPools = kWarps * kWarpPools;
constexpr int kMaxHeads = 32;
constexpr int kHeadBytes = 2 * kIndexDim;
constexpr int kChunks = kHeadBytes / 16; // of a head or a key

int paddedHeads(const IndexShape &shape) { return static_cast<int>((shape.heads + 7) / 8 * 8); }

// parts [rows of the slice, hi and lo, padded heads, 128] BF16; zeros for the added heads.
__global__ void __launch_bounds__(kThreads)
    index_query_kernel(std::uint32_t *parts, const float *query, std::int64_t firstRow, int heads,
                       int padded)
{
    cudaGridDependencySynchronize();
    constexpr int kPairs = kIndexDim / 2;
    const float *from = query + (firstRow + blockIdx.x) * heads * kIndexDim;
    std::uint32_t *to = parts + std::int64_t { blockIdx.x } * 2 * padded * kPairs;
    for (int i = static_cast<int>(threadIdx.x); i < padded * kPairs; i += kThreads) {
        float2 values = make_float2(0, 0);
        if (i < heads * kPairs)
            values = reinterpret_cast<const float2 *>(from)[i];
        const SplitPair split = splitBf16(values.x, values.y);
        to[i] = split.hi;
        to[padded * kPairs + i] = split.lo;
    }
}

struct ScoreArguments
{
    IndexSlice slice;
    const unsigned char *queryParts;
    const float *weights;
    const MlaSlot *slots;
    const StepSequence *sequences;
    std::int64_t keep; // pools
    int heads, padded;
    float scale;
};

// Heads of even and odd number use the two halves of the banks at a time.
__device__ int chunkPlace(int head, int chunk)
{
    return head * kHeadBytes + (chunk ^ head % 2 * 4) * 16;
}

__global__ void __launch_bounds__(kThreads, 2) index_score_kernel(const ScoreArguments arguments)
{
    __shared__ __align__(16) unsigned char queries[2][2 * kMaxHeads * kHeadBytes];
    __shared__ float weights[2][kMaxHeads];

    cudaGridDependencySynchronize();
    const int warp = static_cast<int>(threadIdx.x) / 32;
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int g = lane / 4;
    const int t = lane % 4;
    const IndexSlice &slice = arguments.slice;
    const int padded = arguments.padded;
    const StepSequence sequence = arguments.sequences[blockIdx.y];
    const std::int64_t begin = max(std::int64_t { sequence.firstRow }, slice.firstRow);
    const std::int64_t end
        = min(std::int64_t { sequence.firstRow } + sequence.rows, slice.firstRow + slice.rows);
    if (begin >= end)
        return;
    const auto *keys = static_cast<const std::uint16_t *>(arguments.slots[blockIdx.y].pooledKeys);
    const std::int64_t pools = (positionOf(sequence, end - 1) + 1) / kIndexPool;

    const auto load = [&](std::int64_t row, int stage) {
        const int rowBytes = 2 * padded * kHeadBytes;
        const unsigned char *from = arguments.queryParts + (row - slice.firstRow) * rowBytes;
        const std::uint32_t to = sharedAddress(queries[stage]);
        for (int i = static_cast<int>(threadIdx.x); i < rowBytes / 16; i += kThreads)
            copyAsync(to + static_cast<std::uint32_t>(chunkPlace(i / kChunks, i % kChunks)),
                      from + i * 16);
        commitCopies();
        if (static_cast<int>(threadIdx.x) < padded)
            weights[stage][threadIdx.x] = static_cast<int>(threadIdx.x) < arguments.heads
                ? arguments.weights[row * arguments.heads + threadIdx.x]
                : 0;
    };

    for (std::int64_t firstPool = std::int64_t { blockIdx.x } * kBlockPools; firstPool < pools;
         firstPool += std::int64_t { gridDim.x } * kBlockPools) {
        // Rows at which more pools are complete than are kept, and some of this block's.
        const std::int64_t needed = max(arguments.keep, firstPool) + 1;
        const std::int64_t first = begin
            + max(std::int64_t { 0 }, needed * kIndexPool - 1 - positionOf(sequence, begin));
        if (first >= end)
            break;

        // Chunk 4 j + t of pools g and g + 8 of a tile of 16.
        uint4 upper[2][kChunks / 4];
        uint4 lower[2][kChunks / 4];
#pragma unroll
        for (int m = 0; m < 2; ++m) {
            const std::int64_t pool = firstPool + warp * kWarpPools + m * 16 + g;
            const auto *above
                = reinterpret_cast<const uint4 *>(keys + min(pool, pools - 1) * kIndexDim);
            const auto *below
                = reinterpret_cast<const uint4 *>(keys + min(pool + 8, pools - 1) * kIndexDim);
#pragma unroll
            for (int j = 0; j < kChunks / 4; ++j) {
                upper[m][j] = __ldg(above + 4 * j + t);
                lower[m][j] = __ldg(below + 4 * j + t);
            }
        }
        __syncthreads(); // the queries of the pools before were read
        load(first, 0);
        for (std::int64_t row = first; row < end; ++row) {
            const int stage = static_cast<int>(row - first) % 2;
            waitForCopies<0>();
            __syncthreads(); // this row is there, the one before was used
            if (row + 1 < end)
                load(row + 1, 1 - stage);
            float sums[2][2] = {};
#pragma unroll 1
            for (int n = 0; n < padded / 8; ++n) {
                float hi[2][4] = {};
                float lo[2][4] = {};
#pragma unroll
                for (int j = 0; j < kChunks / 4; ++j) {
                    const int place = chunkPlace(n * 8 + g, 4 * j + t);
                    const uint4 b = *reinterpret_cast<const uint4 *>(queries[stage] + place);
                    const uint4 c = *reinterpret_cast<const uint4 *>(queries[stage]
                                                                     + padded * kHeadBytes + place);
#pragma unroll
                    for (int m = 0; m < 2; ++m) {
                        const uint4 u = upper[m][j];
                        const uint4 l = lower[m][j];
                        multiplyAdd(hi[m], { u.x, l.x, u.y, l.y }, b.x, b.y);
                        multiplyAdd(lo[m], { u.x, l.x, u.y, l.y }, c.x, c.y);
                        multiplyAdd(hi[m], { u.z, l.z, u.w, l.w }, b.z, b.w);
                        multiplyAdd(lo[m], { u.z, l.z, u.w, l.w }, c.z, c.w);
                    }
                }
                const float left = weights[stage][n * 8 + 2 * t];
                const float right = weights[stage][n * 8 + 2 * t + 1];
#pragma unroll
                for (int m = 0; m < 2; ++m)
#pragma unroll
                    for (int i = 0; i < 2; ++i) {
                        sums[m][i] = fmaf(left, fmaxf(hi[m][2 * i] + lo[m][2 * i], 0), sums[m][i]);
                        sums[m][i] = fmaf(right, fmaxf(hi[m][2 * i + 1] + lo[m][2 * i + 1], 0),
                                          sums[m][i]);
                    }
            }
            // Lane 4 g + t stores pool g + 8 t.
            float mine = 0;
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                float sum = sums[i / 2][i % 2];
                sum += __shfl_xor_sync(~0U, sum, 1);
                sum += __shfl_xor_sync(~0U, sum, 2);
                mine = t == i ? sum : mine;
            }
            const std::int64_t pool = firstPool + warp * kWarpPools + 8 * t + g;
            if (pool < (positionOf(sequence, row) + 1) / kIndexPool)
                slice.scores[(row - slice.firstRow) * slice.stride + pool] = arguments.scale * mine;
        }
    }
}

} // namespace

//------------------------------------------------------------------------------------------------

std::size_t indexQueryBytes(const IndexShape &shape)
{
    return std::size_t { 2 } * static_cast<std::size_t>(paddedHeads(shape)) * kHeadBytes;
}

void indexScore(const IndexSlice &slice, void *queryParts, std::span<const float> query,
                std::span<const float> weights, std::span<const MlaSlot> slots,
                const IndexShape &shape, const Step &step, CudaQueue &queue)
{
    const int heads = static_cast<int>(shape.heads);
    const int padded = paddedHeads(shape);
    launchAhead(index_query_kernel, dim3(static_cast<unsigned>(slice.rows)), kThreads, 0, queue,
                "index_query_kernel", static_cast<std::uint32_t *>(queryParts), query.data(),
                slice.firstRow, heads, padded);
    const std::int64_t chunks = (step.longestContext / kIndexPool + kBlockPools - 1) / kBlockPools;
    const std::int64_t blocks = std::min<std::int64_t>(chunks, 2LL * queue.multiprocessors());
    const dim3 grid(static_cast<unsigned>(blocks), static_cast<unsigned>(step.sequences.size()));
    launchAhead(index_score_kernel, grid, kThreads, 0, queue, "index_score_kernel",
                ScoreArguments {
                    .slice = slice,
                    .queryParts = static_cast<const unsigned char *>(queryParts),
                    .weights = weights.data(),
                    .slots = slots.data(),
                    .sequences = step.sequences.data(),
                    .keep = shape.topK / shape.pool,
                    .heads = heads,
                    .padded = padded,
                    .scale = 1.0F / std::sqrt(static_cast<float>(shape.heads * shape.headDim)),
                });
}

} // namespace firesteel::kernels::cuda
