// SPDX-License-Identifier: MIT
//
// What      mixed[t, h] = sum_n softmax_n(absorbed[t, h] . c_n / 16) c_n over the positions n that
//           row t selected
// Layout    absorbed, mixed [rows, heads, 512] float32; c [context, 512] BF16 in the slots
// Limits    latentDim 512
// Traffic   1024 bytes a selected position and row from DRAM, once for every group of 16 heads
//           (prefill: 32) from L2; 2048 bytes a head of absorbed and of mixed; in the decode class
//           4096 bytes a head and part, written and read back
// Work      3 * 2 * 512 flop a position and head: the query is BF16 hi + lo, so that scores keep 16
//           bits of it; probabilities are BF16
// Plan      A block has one row, a group of heads and a part of the selection, and goes over it in
//           tiles of 32 positions, double-buffered by cp.async. A warp owns 64 of the 512 columns:
//           it multiplies them for the scores, which are summed over the warps through shared
//           memory in order, and holds the mixed values of those columns. Online softmax in
//           float32. Decode: parts of 288 positions, merged in order by a second launch (a row of
//           one part needs none); prefill: one part, 256 rows a launch.
// Flight    32 KB a block; 81 KB (decode) or 99 KB (prefill) of shared memory
// Measured  not measured
#include "kernels/common/cuda_queue.cuh"
#include "kernels/mla/mla_backends.h"
#include "kernels/mla/mla_device.cuh"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace firesteel::kernels::cuda {

namespace {

constexpr int kWarps = 8;
constexpr int kThreads = 32 * kWarps;
constexpr int kTilePositions = 32;
constexpr int kWarpColumns = kLatentDim / kWarps;
constexpr int kRowBytes = 2 * kLatentDim;
constexpr int kStageBytes = kTilePositions * kRowBytes;
constexpr int kProbabilityBytes = 2 * kTilePositions + 16; // a row; no bank conflicts in ldmatrix
constexpr int kDecodePart = 288;
constexpr std::int64_t kPrefillRowsPerLaunch = 256;
constexpr int kMergeThreads = kLatentDim / 4;

// A block's shared memory, for 16 * kTiles heads.
template <int kTiles> struct Places
{
    static constexpr int kHeads = 16 * kTiles;
    static constexpr int kScores = 2 * kStageBytes; // [kWarps][kHeads][kTilePositions] float
    static constexpr int kProbabilities = kScores + kWarps * kHeads * kTilePositions * 4;
    static constexpr int kFactors = kProbabilities + kHeads * kProbabilityBytes; // [kHeads] float
    static constexpr int kTotals = kFactors + kHeads * 4; // [kHeads] float2
    static constexpr int kBytes = kTotals + kHeads * 8;
};
static_assert(Places<2>::kBytes <= 99 * 1024);

struct AttendArguments
{
    float *mixed;
    float *partials; // [rows, parts, heads, 512], not divided by their totals
    float2 *partialTotals; // [rows, parts, heads]: largest score (base 2), sum
    const float *absorbed;
    const MlaSlot *slots;
    const std::int32_t *sequenceOf;
    const std::int32_t *positions, *counts;
    std::int64_t maxSelected;
    std::int64_t firstRow; // of this launch
    int heads, groups;
    int partLength, parts;
    float scale; // to base 2
};

__device__ float warpMax(float value)
{
#pragma unroll
    for (int offset = 16; offset > 0; offset /= 2)
        value = fmaxf(value, __shfl_xor_sync(~0U, value, offset));
    return value;
}

__device__ float warpSum(float value)
{
#pragma unroll
    for (int offset = 16; offset > 0; offset /= 2)
        value += __shfl_xor_sync(~0U, value, offset);
    return value;
}

// Within a tile the 16-byte chunks of a latent are permuted by its row, so that the eight rows that
// ldmatrix reads at a time lie in different banks.
__device__ std::uint32_t chunkPlace(int position, int chunk)
{
    return static_cast<std::uint32_t>(position * kRowBytes + (chunk ^ (position & 7)) * 16);
}

// Likewise the scores of a head: lanes of four heads store 8 positions each.
__device__ int scorePlace(int head, int position)
{
    return head * kTilePositions + (position ^ (head & 3) * 8);
}

template <int kTiles>
__global__ void __launch_bounds__(kThreads, kTiles == 1 ? 2 : 1)
    mla_attend_kernel(const AttendArguments arguments)
{
    using Place = Places<kTiles>;
    constexpr int kHeadsOfWarp = Place::kHeads / kWarps; // in the softmax
    extern __shared__ __align__(128) unsigned char shared[];
    auto *scores = reinterpret_cast<float *>(shared + Place::kScores);
    auto *factors = reinterpret_cast<float *>(shared + Place::kFactors);
    auto *totals = reinterpret_cast<float2 *>(shared + Place::kTotals);
    const std::uint32_t stages = sharedAddress(shared);

    cudaGridDependencySynchronize();
    const int warp = static_cast<int>(threadIdx.x) / 32;
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int g = lane / 4;
    const int t = lane % 4;
    const std::int64_t row = arguments.firstRow + blockIdx.x / arguments.groups;
    const int firstHead = static_cast<int>(blockIdx.x) % arguments.groups * Place::kHeads;
    const int count = arguments.counts[row];
    const int begin = static_cast<int>(blockIdx.y) * arguments.partLength;
    if (begin >= count && blockIdx.y > 0)
        return;
    const int end = min(count, begin + arguments.partLength);
    const int tiles = (end - begin + kTilePositions - 1) / kTilePositions;
    const std::int32_t *positions = arguments.positions + row * arguments.maxSelected;
    const auto *latents
        = static_cast<const std::uint16_t *>(arguments.slots[arguments.sequenceOf[row]].latents);

    // Lane i of every warp has position i of the tile; negative: none.
    const auto positionOfLane = [&](int tile) {
        const int n = begin + tile * kTilePositions + lane;
        return n < end ? positions[n] : -1;
    };
    const auto load = [&](int tile, std::int32_t position) {
        const std::uint32_t stage = stages + tile % 2 * kStageBytes;
#pragma unroll
        for (int i = 0; i < kTilePositions / kWarps; ++i) {
            const int inTile = warp * (kTilePositions / kWarps) + i;
            const std::int32_t source = __shfl_sync(~0U, position, inTile);
            const std::uint16_t *from
                = latents + std::int64_t { source < 0 ? 0 : source } * kLatentDim;
#pragma unroll
            for (int chunk = lane; chunk < kLatentDim / 8; chunk += 32)
                copyAsync(stage + chunkPlace(inTile, chunk), from + chunk * 8, source >= 0);
        }
        commitCopies();
    };
    if (tiles > 0)
        load(0, positionOfLane(0));
    std::int32_t nextPosition = positionOfLane(1);

    std::uint32_t queryHi[kTiles][kWarpColumns / 16][4];
    std::uint32_t queryLo[kTiles][kWarpColumns / 16][4];
#pragma unroll
    for (int m = 0; m < kTiles; ++m)
#pragma unroll
        for (int k = 0; k < kWarpColumns / 16; ++k)
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                const int head = firstHead + m * 16 + g + i % 2 * 8;
                const int column = warp * kWarpColumns + k * 16 + 2 * t + i / 2 * 8;
                float2 values = make_float2(0, 0);
                if (head < arguments.heads)
                    values = *reinterpret_cast<const float2 *>(
                        arguments.absorbed + (row * arguments.heads + head) * kLatentDim + column);
                const SplitPair split = splitBf16(values.x, values.y);
                queryHi[m][k][i] = split.hi;
                queryLo[m][k][i] = split.lo;
            }

    float sums[kTiles][kWarpColumns / 8][4] = {};
    float top[kHeadsOfWarp];
    float total[kHeadsOfWarp];
#pragma unroll
    for (int i = 0; i < kHeadsOfWarp; ++i) {
        top[i] = -INFINITY;
        total[i] = 0;
    }

    for (int tile = 0; tile < tiles; ++tile) {
        const std::uint32_t stage = stages + tile % 2 * kStageBytes;
        waitForCopies<0>();
        __syncthreads(); // this tile is there, the one before was used
        if (tile + 1 < tiles) {
            load(tile + 1, nextPosition);
            nextPosition = positionOfLane(tile + 2);
        }

#pragma unroll
        for (int n = 0; n < kTilePositions / 8; ++n) {
            float part[kTiles][4] = {};
#pragma unroll
            for (int k = 0; k < kWarpColumns / 16; k += 2) {
                std::uint32_t b[4];
                loadMatrices(b,
                             stage
                                 + chunkPlace(n * 8 + lane % 8,
                                              warp * (kWarpColumns / 8) + 2 * k + lane / 8));
#pragma unroll
                for (int m = 0; m < kTiles; ++m) {
                    multiplyAdd(part[m], queryHi[m][k], b[0], b[1]);
                    multiplyAdd(part[m], queryLo[m][k], b[0], b[1]);
                    multiplyAdd(part[m], queryHi[m][k + 1], b[2], b[3]);
                    multiplyAdd(part[m], queryLo[m][k + 1], b[2], b[3]);
                }
            }
            float *to = scores + warp * Place::kHeads * kTilePositions;
#pragma unroll
            for (int m = 0; m < kTiles; ++m) {
                const int head = m * 16 + g;
                *reinterpret_cast<float2 *>(to + scorePlace(head, n * 8 + 2 * t))
                    = make_float2(part[m][0], part[m][1]);
                *reinterpret_cast<float2 *>(to + scorePlace(head + 8, n * 8 + 2 * t))
                    = make_float2(part[m][2], part[m][3]);
            }
        }
        __syncthreads();

        const bool isPosition = begin + tile * kTilePositions + lane < end;
#pragma unroll
        for (int i = 0; i < kHeadsOfWarp; ++i) {
            const int head = warp * kHeadsOfWarp + i;
            float score = 0;
#pragma unroll
            for (int w = 0; w < kWarps; ++w)
                score += scores[w * Place::kHeads * kTilePositions + scorePlace(head, lane)];
            score = isPosition ? score * arguments.scale : -INFINITY;
            const float newTop = fmaxf(top[i], warpMax(score));
            const float factor = exp2f(top[i] - newTop);
            const __nv_bfloat16 probability = __float2bfloat16_rn(exp2f(score - newTop));
            top[i] = newTop;
            total[i] = fmaf(total[i], factor, warpSum(__bfloat162float(probability)));
            reinterpret_cast<__nv_bfloat16 *>(shared + Place::kProbabilities
                                              + head * kProbabilityBytes)[lane]
                = probability;
            if (lane == 0)
                factors[head] = factor;
        }
        __syncthreads();

#pragma unroll
        for (int m = 0; m < kTiles; ++m) {
            const float upper = factors[m * 16 + g];
            const float lower = factors[m * 16 + g + 8];
            if (__any_sync(~0U, upper != 1 || lower != 1)) {
#pragma unroll
                for (float(&sum)[4] : sums[m]) {
                    sum[0] *= upper;
                    sum[1] *= upper;
                    sum[2] *= lower;
                    sum[3] *= lower;
                }
            }
        }
#pragma unroll
        for (int k = 0; k < kTilePositions / 16; ++k) {
            std::uint32_t a[kTiles][4];
#pragma unroll
            for (int m = 0; m < kTiles; ++m)
                loadMatrices(
                    a[m],
                    stages + Place::kProbabilities
                        + static_cast<std::uint32_t>((m * 16 + lane % 16) * kProbabilityBytes
                                                     + k * 32 + lane / 16 * 16));
#pragma unroll
            for (int n = 0; n < kWarpColumns / 8; n += 2) {
                std::uint32_t b[4];
                loadMatricesTransposed(b,
                                       stage
                                           + chunkPlace(k * 16 + lane % 16,
                                                        warp * (kWarpColumns / 8) + n + lane / 16));
#pragma unroll
                for (int m = 0; m < kTiles; ++m) {
                    multiplyAdd(sums[m][n], a[m], b[0], b[1]);
                    multiplyAdd(sums[m][n + 1], a[m], b[2], b[3]);
                }
            }
        }
    }

#pragma unroll
    for (int i = 0; i < kHeadsOfWarp; ++i)
        if (lane == 0)
            totals[warp * kHeadsOfWarp + i] = make_float2(top[i], total[i]);
    __syncthreads();
    const bool isWhole = count <= arguments.partLength;
    const std::int64_t part = row * arguments.parts + blockIdx.y;
#pragma unroll
    for (int m = 0; m < kTiles; ++m)
#pragma unroll
        for (int i = 0; i < 2; ++i) {
            const int inGroup = m * 16 + g + i * 8;
            const int head = firstHead + inGroup;
            if (head >= arguments.heads)
                continue;
            const float2 headTotal = totals[inGroup];
            const float divisor = isWhole && count > 0 ? headTotal.y : 1;
            float *to = isWhole ? arguments.mixed + (row * arguments.heads + head) * kLatentDim
                                : arguments.partials + (part * arguments.heads + head) * kLatentDim;
#pragma unroll
            for (int n = 0; n < kWarpColumns / 8; ++n)
                *reinterpret_cast<float2 *>(to + warp * kWarpColumns + n * 8 + 2 * t)
                    = make_float2(sums[m][n][2 * i] / divisor, sums[m][n][2 * i + 1] / divisor);
            if (!isWhole && warp == 0 && t == 0)
                arguments.partialTotals[part * arguments.heads + head] = headTotal;
        }
}

__global__ void __launch_bounds__(kMergeThreads)
    mla_attend_merge_kernel(const AttendArguments arguments)
{
    cudaGridDependencySynchronize();
    const std::int64_t row = blockIdx.y;
    const int head = static_cast<int>(blockIdx.x);
    const int count = arguments.counts[row];
    if (count <= arguments.partLength)
        return;
    const int parts = (count + arguments.partLength - 1) / arguments.partLength;
    const std::int64_t first = row * arguments.parts * arguments.heads + head;
    float top = -INFINITY;
    for (int i = 0; i < parts; ++i)
        top = fmaxf(top, arguments.partialTotals[first + std::int64_t { i } * arguments.heads].x);
    float total = 0;
    float4 sum = make_float4(0, 0, 0, 0);
    for (int i = 0; i < parts; ++i) {
        const std::int64_t part = first + std::int64_t { i } * arguments.heads;
        const float2 partTotal = arguments.partialTotals[part];
        const float factor = exp2f(partTotal.x - top);
        const float4 values
            = reinterpret_cast<const float4 *>(arguments.partials + part * kLatentDim)[threadIdx.x];
        total = fmaf(partTotal.y, factor, total);
        sum.x = fmaf(values.x, factor, sum.x);
        sum.y = fmaf(values.y, factor, sum.y);
        sum.z = fmaf(values.z, factor, sum.z);
        sum.w = fmaf(values.w, factor, sum.w);
    }
    reinterpret_cast<float4 *>(arguments.mixed
                               + (row * arguments.heads + head) * kLatentDim)[threadIdx.x]
        = make_float4(sum.x / total, sum.y / total, sum.z / total, sum.w / total);
}

// Parts of the longest selection.
std::int64_t partCount(std::int64_t maxSelected, RowClass rowClass)
{
    return rowClass == RowClass::Decode ? (maxSelected + kDecodePart - 1) / kDecodePart : 1;
}

template <int kTiles>
void launch(AttendArguments arguments, std::int64_t rows, std::int64_t rowsPerLaunch,
            CudaQueue &queue)
{
    const auto kernel = mla_attend_kernel<kTiles>;
    checkCuda(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   Places<kTiles>::kBytes),
              "cudaFuncSetAttribute");
    arguments.groups = (arguments.heads + Places<kTiles>::kHeads - 1) / Places<kTiles>::kHeads;
    for (std::int64_t first = 0; first < rows; first += rowsPerLaunch) {
        arguments.firstRow = first;
        const dim3 grid(
            static_cast<unsigned>(std::min(rowsPerLaunch, rows - first) * arguments.groups),
            static_cast<unsigned>(arguments.parts));
        launchAhead(kernel, grid, kThreads, Places<kTiles>::kBytes, queue, "mla_attend_kernel",
                    arguments);
    }
}

} // namespace

//------------------------------------------------------------------------------------------------

std::size_t attendScratchBytes(const MlaShape &shape, std::int64_t maxSelected, std::int64_t rows,
                               RowClass rowClass)
{
    const std::int64_t parts = partCount(maxSelected, rowClass);
    return parts == 1 ? 0
                      : static_cast<std::size_t>(rows * parts * shape.heads)
            * (kLatentDim * sizeof(float) + sizeof(float2));
}

void mlaAttend(std::span<float> mixed, std::span<const float> absorbed,
               std::span<const MlaSlot> slots, const Selection &selection,
               std::span<std::byte> scratch, const MlaShape &shape, const Step &step,
               RowClass rowClass, CudaQueue &queue)
{
    if (step.rows == 0)
        return;
    const std::int64_t parts = partCount(selection.maxSelected, rowClass);
    auto *partials = reinterpret_cast<float *>(scratch.data());
    const AttendArguments arguments {
        .mixed = mixed.data(),
        .partials = partials,
        .partialTotals = parts == 1
            ? nullptr
            : reinterpret_cast<float2 *>(partials + step.rows * parts * shape.heads * kLatentDim),
        .absorbed = absorbed.data(),
        .slots = slots.data(),
        .sequenceOf = step.sequenceOf.data(),
        .positions = selection.positions.data(),
        .counts = selection.counts.data(),
        .maxSelected = selection.maxSelected,
        .firstRow = 0,
        .heads = static_cast<int>(shape.heads),
        .groups = 0,
        .partLength = parts == 1 ? static_cast<int>(selection.maxSelected) : kDecodePart,
        .parts = static_cast<int>(parts),
        .scale
        = static_cast<float>(std::numbers::log2e / std::sqrt(static_cast<double>(shape.keyDim))),
    };
    if (rowClass == RowClass::Prefill && shape.heads > 16)
        return launch<2>(arguments, step.rows, kPrefillRowsPerLaunch, queue);
    launch<1>(arguments, step.rows,
              rowClass == RowClass::Prefill ? kPrefillRowsPerLaunch : step.rows, queue);
    if (parts > 1)
        launchAhead(mla_attend_merge_kernel,
                    dim3(static_cast<unsigned>(shape.heads), static_cast<unsigned>(step.rows)),
                    kMergeThreads, 0, queue, "mla_attend_merge_kernel", arguments);
}

} // namespace firesteel::kernels::cuda
