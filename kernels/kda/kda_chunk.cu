// SPDX-License-Identifier: MIT
//
// What      the parts of a chunk that do not need the state (kda_prefill.cuh): pair scores A and P,
//           (I + A)^-1 applied to beta V and beta K exp(G), Q exp(G), K exp(G_last - G)
// Layout    kda.h and kda_prefill.cuh; float32
// Limits    heads of 128 channels
// Traffic   per chunk and head 128 KiB of rows read, 145 KiB of parts written
// Work      per chunk and head 0.28 million exponentials, 1.7 Mflop for the pairs, 1.0 for the
//           substitution: bound by the exponentials
// Plan      one block a chunk and head. Every pair's exponents G_i - G_j <= 0 are taken directly,
//           so nothing can overflow and nothing has to be split at reference rows: a thread has 4
//           rows i by 2 rows j below the diagonal. Then a thread owns one of 256 columns of the
//           right-hand sides, 64 rows in registers, and substitutes downwards. Rows behind the
//           chunk's last are zeros with decay 1: they change nothing.
//           48 KB of shared memory, two blocks a multiprocessor.
// Measured  not measured
#include "kernels/common/cuda_queue.cuh"
#include "kernels/kda/kda_prefill.cuh"

namespace firesteel::kernels::cuda {

namespace {

constexpr int kThreads = 288;
constexpr int kTiles = kRowQuads * (kRowQuads + 1); // of 4 x 2 pairs, on and below the diagonal
constexpr int kChannelsAtOnce = 32;
constexpr float kLog2E = 1.44269504F;

static_assert(kTiles <= kThreads && 2 * kHeadDim <= kThreads);

// Shared memory, in floats. Arrays of [channels][64 rows] are swizzled (see place()).
constexpr int kSums = 0; // [128][64] log2(e) G
constexpr int kKeys = kSums + kHeadDim * kChunkRows; // [32][64]
constexpr int kQueries = kKeys + kChannelsAtOnce * kChunkRows; // [32][64]
constexpr int kSolve = kKeys; // A [16 quads of i][64 j][4 i], when keys and queries were used
constexpr int kBeta = kQueries + kChannelsAtOnce * kChunkRows; // [64]
constexpr int kSharedFloats = kBeta + kChunkRows;

static_assert(kChunkRows * kChunkRows == kBeta - kKeys);

// exp(x) of x / ln 2, to 2 ulp.
__device__ __forceinline__ float exp2Of(float x)
{
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

// Where rows 4 quad .. 4 quad + 3 of a channel lie. Neighbouring channels have them in different
// banks, for the threads that have a channel each.
__device__ __forceinline__ int place(int channel, int quad)
{
    return channel * kChunkRows + ((quad ^ (channel & 7)) << 2);
}

// Four rows of a column, zeros behind the last row.
__device__ __forceinline__ float4 loadColumn(const float *column, std::int64_t stride, int quad,
                                             int rows)
{
    const int row = 4 * quad;
    const float *p = column + row * stride;
    return make_float4(row < rows ? p[0] : 0.0F, row + 1 < rows ? p[stride] : 0.0F,
                       row + 2 < rows ? p[2 * stride] : 0.0F,
                       row + 3 < rows ? p[3 * stride] : 0.0F);
}

struct Chunk
{
    const float *q; // row t at + t * 3 * channels
    const float *k;
    const float *v;
    const float *g; // row t at + t * channels
    std::int64_t channels;
    int rows;
};

__device__ __forceinline__ void sumDecays(float *shared, const Chunk &x, int channel)
{
    float sum = 0;
#pragma unroll 4
    for (int quad = 0; quad < kRowQuads; ++quad) {
        const float4 g = loadColumn(x.g + channel, x.channels, quad, x.rows);
        float4 sums;
        sums.x = fmaf(g.x, kLog2E, sum);
        sums.y = fmaf(g.y, kLog2E, sums.x);
        sums.z = fmaf(g.z, kLog2E, sums.y);
        sums.w = fmaf(g.w, kLog2E, sums.z);
        sum = sums.w;
        store4(shared + kSums + place(channel, quad), sums);
    }
}

// Keys and queries of the channels from `first` on, by `count` threads.
__device__ __forceinline__ void loadChannels(float *shared, const Chunk &x, int first, int index,
                                             int count)
{
    for (int item = index; item < 2 * kChannelsAtOnce * kRowQuads; item += count) {
        const int channel = item % kChannelsAtOnce;
        const int quad = item / kChannelsAtOnce % kRowQuads;
        const bool isKey = item < kChannelsAtOnce * kRowQuads;
        store4(shared + (isKey ? kKeys : kQueries) + place(channel, quad),
               loadColumn((isKey ? x.k : x.q) + first + channel, 3 * x.channels, quad, x.rows));
    }
}

// Rows i = 4 quad .. + 3 against rows j = 2 pair, 2 pair + 1.
struct Tile
{
    int quad;
    int pair;
    float4 key[2]; // sum of k_i k_j exp(G_i - G_j), by j
    float4 query[2]; // sum of q_i k_j exp(G_i - G_j)
};

// The tiles on and below the diagonal in order: 2 quad + 2 of each quad.
__device__ __forceinline__ Tile tileOf(int index)
{
    const int quad = static_cast<int>((sqrtf(4.0F * static_cast<float>(index) + 1.0F) - 1) / 2);
    return { quad, index - quad * (quad + 1), {}, {} };
}

__device__ __forceinline__ void addPairs(Tile &tile, const float *shared, int first)
{
#pragma unroll 8
    for (int channel = 0; channel < kChannelsAtOnce; ++channel) {
        const int rows = place(channel, tile.quad);
        const int columns = place(channel, tile.pair / 2) + tile.pair % 2 * 2;
        const float *sums = shared + kSums + first * kChunkRows;
        const float4 sum = load4(sums + rows);
        const float4 key = load4(shared + kKeys + rows);
        const float4 query = load4(shared + kQueries + rows);
        const float2 otherSums = *reinterpret_cast<const float2 *>(sums + columns);
        const float2 otherKeys = *reinterpret_cast<const float2 *>(shared + kKeys + columns);
#pragma unroll
        for (int j = 0; j < 2; ++j) {
            const float other = j == 0 ? otherSums.x : otherSums.y;
            const float otherKey = j == 0 ? otherKeys.x : otherKeys.y;
            const float x = __fmul_rn(otherKey, exp2Of(__fsub_rn(sum.x, other)));
            const float y = __fmul_rn(otherKey, exp2Of(__fsub_rn(sum.y, other)));
            const float z = __fmul_rn(otherKey, exp2Of(__fsub_rn(sum.z, other)));
            const float w = __fmul_rn(otherKey, exp2Of(__fsub_rn(sum.w, other)));
            tile.key[j].x = fmaf(key.x, x, tile.key[j].x);
            tile.key[j].y = fmaf(key.y, y, tile.key[j].y);
            tile.key[j].z = fmaf(key.z, z, tile.key[j].z);
            tile.key[j].w = fmaf(key.w, w, tile.key[j].w);
            tile.query[j].x = fmaf(query.x, x, tile.query[j].x);
            tile.query[j].y = fmaf(query.y, y, tile.query[j].y);
            tile.query[j].z = fmaf(query.z, z, tile.query[j].z);
            tile.query[j].w = fmaf(query.w, w, tile.query[j].w);
        }
    }
}

__device__ __forceinline__ void storePairs(const Tile &tile, float *shared, float *scores)
{
    const float4 beta = load4(shared + kBeta + 4 * tile.quad);
    const int i = 4 * tile.quad;
#pragma unroll
    for (int side = 0; side < 2; ++side) {
        const int j = 2 * tile.pair + side;
        const float4 key = tile.key[side];
        const float4 query = tile.query[side];
        store4(shared + kSolve + (tile.quad * kChunkRows + j) * 4,
               make_float4(j < i ? __fmul_rn(beta.x, key.x) : 0.0F,
                           j < i + 1 ? __fmul_rn(beta.y, key.y) : 0.0F,
                           j < i + 2 ? __fmul_rn(beta.z, key.z) : 0.0F,
                           j < i + 3 ? __fmul_rn(beta.w, key.w) : 0.0F));
        store4(scores + (tile.quad * kChunkRows + j) * 4,
               make_float4(j <= i ? query.x : 0.0F, j <= i + 1 ? query.y : 0.0F,
                           j <= i + 2 ? query.z : 0.0F, j <= i + 3 ? query.w : 0.0F));
    }
}

// x <- (I + A)^-1 x.
__device__ __forceinline__ void substitute(float (&x)[kChunkRows], const float *shared)
{
#pragma unroll
    for (int j = 0; j < kChunkRows - 1; ++j) {
        const float solved = -x[j];
#pragma unroll
        for (int quad = (j + 1) / 4; quad < kRowQuads; ++quad) {
            const float4 a = load4(shared + kSolve + (quad * kChunkRows + j) * 4);
            if (4 * quad > j)
                x[4 * quad] = fmaf(a.x, solved, x[4 * quad]);
            if (4 * quad + 1 > j)
                x[4 * quad + 1] = fmaf(a.y, solved, x[4 * quad + 1]);
            if (4 * quad + 2 > j)
                x[4 * quad + 2] = fmaf(a.z, solved, x[4 * quad + 2]);
            x[4 * quad + 3] = fmaf(a.w, solved, x[4 * quad + 3]);
        }
    }
}

// Right-hand sides of a column: beta x, and exp(G) of it.
template <bool kDecayed>
__device__ __forceinline__ void loadSide(float (&x)[kChunkRows], const float *shared,
                                         const float *column, const Chunk &chunk, int channel)
{
#pragma unroll
    for (int quad = 0; quad < kRowQuads; ++quad) {
        float4 side = loadColumn(column + channel, 3 * chunk.channels, quad, chunk.rows);
        const float4 beta = load4(shared + kBeta + 4 * quad);
        side = make_float4(__fmul_rn(side.x, beta.x), __fmul_rn(side.y, beta.y),
                           __fmul_rn(side.z, beta.z), __fmul_rn(side.w, beta.w));
        if constexpr (kDecayed) {
            const float4 sum = load4(shared + kSums + place(channel, quad));
            side = make_float4(__fmul_rn(side.x, exp2Of(sum.x)), __fmul_rn(side.y, exp2Of(sum.y)),
                               __fmul_rn(side.z, exp2Of(sum.z)), __fmul_rn(side.w, exp2Of(sum.w)));
        }
        x[4 * quad] = side.x;
        x[4 * quad + 1] = side.y;
        x[4 * quad + 2] = side.z;
        x[4 * quad + 3] = side.w;
    }
}

__device__ __forceinline__ void finishValues(float *parts, const float *shared, const Chunk &chunk,
                                             int channel)
{
    float x[kChunkRows];
    loadSide<false>(x, shared, chunk.v, chunk, channel);
    substitute(x, shared);
#pragma unroll
    for (int i = 0; i < kChunkRows; ++i)
        parts[ChunkParts::kValues + i * kHeadDim + channel] = x[i];
#pragma unroll 4
    for (int quad = 0; quad < kRowQuads; ++quad) {
        const float4 sum = load4(shared + kSums + place(channel, quad));
        const float4 q = loadColumn(chunk.q + channel, 3 * chunk.channels, quad, chunk.rows);
        store4(parts + ChunkParts::kStateSide + ((kRowQuads + quad) * kHeadDim + channel) * 4,
               make_float4(__fmul_rn(q.x, exp2Of(sum.x)), __fmul_rn(q.y, exp2Of(sum.y)),
                           __fmul_rn(q.z, exp2Of(sum.z)), __fmul_rn(q.w, exp2Of(sum.w))));
    }
}

__device__ __forceinline__ void finishKeys(float *parts, const float *shared, const Chunk &chunk,
                                           int channel)
{
    float x[kChunkRows];
    loadSide<true>(x, shared, chunk.k, chunk, channel);
    substitute(x, shared);
#pragma unroll
    for (int quad = 0; quad < kRowQuads; ++quad)
        store4(parts + ChunkParts::kStateSide + (quad * kHeadDim + channel) * 4,
               make_float4(-x[4 * quad], -x[4 * quad + 1], -x[4 * quad + 2], -x[4 * quad + 3]));
    const float last = load4(shared + kSums + place(channel, kRowQuads - 1)).w;
    parts[ChunkParts::kDecay + channel] = exp2Of(last);
#pragma unroll 4
    for (int quad = 0; quad < kRowQuads; ++quad) {
        const float4 sum = load4(shared + kSums + place(channel, quad));
        const float4 k = loadColumn(chunk.k + channel, 3 * chunk.channels, quad, chunk.rows);
        float *raised = parts + ChunkParts::kRaised + 4 * quad * kHeadDim + channel;
        raised[0] = __fmul_rn(k.x, exp2Of(__fsub_rn(last, sum.x)));
        raised[kHeadDim] = __fmul_rn(k.y, exp2Of(__fsub_rn(last, sum.y)));
        raised[2 * kHeadDim] = __fmul_rn(k.z, exp2Of(__fsub_rn(last, sum.z)));
        raised[3 * kHeadDim] = __fmul_rn(k.w, exp2Of(__fsub_rn(last, sum.w)));
    }
}

__global__ void __launch_bounds__(kThreads, 2)
    kda_chunk_kernel(const __grid_constant__ PrefillSlice slice)
{
    extern __shared__ __align__(16) float shared[];
    cudaGridDependencySynchronize();
    cudaTriggerProgrammaticLaunchCompletion();
    const StepSequence sequence = *slice.sequence;
    const int head = static_cast<int>(blockIdx.x);
    const int index = static_cast<int>(blockIdx.y);
    const int rows = rowsOfChunk(slice, sequence, index);
    if (rows <= 0)
        return;
    const int thread = static_cast<int>(threadIdx.x);
    const std::int64_t channels = std::int64_t { slice.heads } * kHeadDim;
    const std::int64_t row = sequence.firstRow + slice.firstRow + index * kChunkRows;
    const float *q = slice.u + row * 3 * channels + head * kHeadDim;
    const Chunk chunk { .q = q,
                        .k = q + channels,
                        .v = q + 2 * channels,
                        .g = slice.g + row * channels + head * kHeadDim,
                        .channels = channels,
                        .rows = rows };
    float *parts = partsOf(slice, index, head);

    if (thread < kHeadDim) {
        sumDecays(shared, chunk, thread);
        if (thread < kChunkRows)
            shared[kBeta + thread]
                = thread < rows ? slice.beta[(row + thread) * slice.heads + head] : 0.0F;
    } else {
        loadChannels(shared, chunk, 0, thread - kHeadDim, kThreads - kHeadDim);
    }
    Tile tile = tileOf(min(thread, kTiles - 1));
    for (int first = 0; first < kHeadDim; first += kChannelsAtOnce) {
        __syncthreads();
        addPairs(tile, shared, first);
        __syncthreads();
        if (first + kChannelsAtOnce < kHeadDim)
            loadChannels(shared, chunk, first + kChannelsAtOnce, thread, kThreads);
    }
    if (thread < kTiles)
        storePairs(tile, shared, parts + ChunkParts::kScores);
    for (int item = thread; item < kRowQuads * kChunkRows; item += kThreads)
        if (item % kChunkRows > item / kChunkRows * 4 + 3) // above the diagonal
            store4(parts + ChunkParts::kScores + item * 4, make_float4(0, 0, 0, 0));
    __syncthreads();
    if (thread < kHeadDim)
        finishValues(parts, shared, chunk, thread);
    else if (thread < 2 * kHeadDim)
        finishKeys(parts, shared, chunk, thread - kHeadDim);
}

} // namespace

//------------------------------------------------------------------------------------------------

void launchChunkParts(const PrefillSlice &slice, int chunks, CudaQueue &queue)
{
    constexpr int kSharedBytes = kSharedFloats * static_cast<int>(sizeof(float));
    checkCuda(cudaFuncSetAttribute(kda_chunk_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   kSharedBytes),
              "cudaFuncSetAttribute");
    launchAhead(kda_chunk_kernel,
                dim3(static_cast<unsigned>(slice.heads), static_cast<unsigned>(chunks)), kThreads,
                kSharedBytes, queue, "kda_chunk_kernel", slice);
}

} // namespace firesteel::kernels::cuda
