// SPDX-License-Identifier: MIT
//
// What      the chunks of a sequence in order, per head (parts of kda_prefill.cuh):
//             N = T beta V - T (beta K exp(G)) S;  O = Q exp(G) S + P N
//             S <- exp(G_last) S + (K exp(G_last - G))^T N
// Layout    kda.h; float32
// Limits    heads of 128 channels
// Traffic   per chunk and head 145 KiB of parts from L2 (113 of them twice), 32 KiB of O; S once a
//           slice
// Work      per chunk and head 7.3 Mflop: bound by float32 arithmetic
// Plan      a block has 64 value columns of one head: 256 threads of 4 rows by 4 columns of N and
//           of O, and 8 keys by 4 columns of S, which stays in registers with a copy in shared
//           memory for the products. Parts pass through two buffers of 16 KB, one copied ahead of
//           the products: four with the left sides of S, one with P, two with that of N.
//           Recorded rows are applied first, by kda_decode.cu.
//           81 KB of shared memory, one block a multiprocessor.
// Measured  not measured
#include "kernels/common/cuda_queue.cuh"
#include "kernels/kda/kda_prefill.cuh"

#include <cuda_pipeline_primitives.h>

#include <algorithm>

namespace firesteel::kernels::cuda {

namespace {

constexpr int kThreads = 256;
constexpr int kColumns = 64; // of a block
constexpr int kGroups = kHeadDim / kColumns;
constexpr int kDepth = 32; // keys or rows of a staged part
constexpr int kStateParts = kHeadDim / kDepth; // left sides of S
constexpr int kRaisedParts = kChunkRows / kDepth; // left sides of N
constexpr int kParts = kStateParts + 1 + kRaisedParts;
constexpr int kCopies = 4; // of 16 bytes, of each thread and part

// Staged layouts; one column of padding puts the quads of a warp in different banks.
constexpr int kStateQuad = 4 * (kDepth + 1); // floats from one quad of rows to the next
constexpr int kScoreQuad = 4 * (kChunkRows + 1);
constexpr int kStage = 2 * kRowQuads * kStateQuad; // floats, the largest

static_assert(kStage >= kRowQuads * kScoreQuad && kStage >= kDepth * kHeadDim);
static_assert(kThreads * kCopies == 2 * kRowQuads * kDepth
              && kThreads * kCopies == kRowQuads * kChunkRows
              && kThreads * kCopies * 4 == kDepth * kHeadDim);

// Shared memory, in floats.
constexpr int kStateAt = 0; // [128 keys][64]
constexpr int kNewValues = kStateAt + kHeadDim * kColumns; // N [64 rows][64]
constexpr int kStages = kNewValues + kChunkRows * kColumns;
constexpr int kSharedFloats = kStages + 2 * kStage;

struct PrefillArguments
{
    PrefillSlice slice;
    float *o;
    const KdaSlot *slot;
};

// Four lanes down, eight across: a warp's loads from shared memory touch the fewest words.
struct Place
{
    int thread = static_cast<int>(threadIdx.x);
    int lane = thread % kLanes;
    int warp = thread / kLanes;
    int quad = warp / 2 * 4 + lane / 8; // rows 4 quad ..; keys 4 quad .. and 64 + 4 quad ..
    int column = (warp % 2 * 8 + lane % 8) * 4; // of the block's
    int head = static_cast<int>(blockIdx.y);
    int firstColumn = static_cast<int>(blockIdx.x) * kColumns; // of the head
};

// Copies part `part` of a chunk into a stage, asynchronously.
__device__ __forceinline__ void copyPart(float *stage, const float *parts, int part, int thread)
{
#pragma unroll
    for (int i = 0; i < kCopies; ++i) {
        const int item = thread + i * kThreads;
        const float *from;
        float *to;
        if (part < kStateParts) {
            const int quad = item / kDepth;
            const int key = item % kDepth;
            from = parts + ChunkParts::kStateSide + (quad * kHeadDim + part * kDepth + key) * 4;
            to = stage + quad * kStateQuad + key * 4;
        } else if (part == kStateParts) {
            from = parts + ChunkParts::kScores + item * 4;
            to = stage + item / kChunkRows * kScoreQuad + item % kChunkRows * 4;
        } else {
            from = parts + ChunkParts::kRaised + (part - kStateParts - 1) * kDepth * kHeadDim
                + item * 4;
            to = stage + item * 4;
        }
        __pipeline_memcpy_async(to, from, 16);
    }
    __pipeline_commit();
}

// sums[i] += a[i] * b, for four rows.
__device__ __forceinline__ void addOuter(float4 *sums, float4 a, float4 b)
{
    multiplyAdd(sums[0], a.x, b);
    multiplyAdd(sums[1], a.y, b);
    multiplyAdd(sums[2], a.z, b);
    multiplyAdd(sums[3], a.w, b);
}

__global__ void __launch_bounds__(kThreads, 1)
    kda_prefill_kernel(const __grid_constant__ PrefillArguments x)
{
    extern __shared__ __align__(16) float shared[];
    cudaGridDependencySynchronize();
    cudaTriggerProgrammaticLaunchCompletion();
    const StepSequence sequence = *x.slice.sequence;
    const int rows = min(kSliceChunks * kChunkRows, sequence.rows - x.slice.firstRow);
    if (rows <= 0)
        return;
    const int chunks = (rows + kChunkRows - 1) / kChunkRows;
    const Place place;
    const std::int64_t channels = std::int64_t { x.slice.heads } * kHeadDim;

    // Rows of S: 4 quad + i of the lower and of the upper 64 keys.
    float *state = x.slot->state
        + (std::int64_t { place.head } * kHeadDim + 4 * place.quad) * kHeadDim + place.firstColumn
        + place.column;
    float *stateCopy = shared + kStateAt + 4 * place.quad * kColumns + place.column;
    constexpr int kUpper = kHeadDim / 2;
    float4 s[8];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        s[i] = load4(state + i * kHeadDim);
        s[4 + i] = load4(state + (kUpper + i) * kHeadDim);
        store4(stateCopy + i * kColumns, s[i]);
        store4(stateCopy + (kUpper + i) * kColumns, s[4 + i]);
    }

    int next = 0; // part to copy, counted over chunks
    const auto copyNext = [&] {
        if (next < chunks * kParts)
            copyPart(shared + kStages + next % 2 * kStage,
                     partsOf(x.slice, next / kParts, place.head), next % kParts, place.thread);
        ++next;
    };
    // The next part in its stage, and everything that was written to shared memory visible.
    const auto advance = [&] {
        const float *stage = shared + kStages + (next - 1) % 2 * kStage;
        __pipeline_wait_prior(0);
        __syncthreads();
        copyNext();
        return stage;
    };
    copyNext();

    for (int chunk = 0; chunk < chunks; ++chunk) {
        const float *parts = partsOf(x.slice, chunk, place.head);
        const int chunkRows = min(kChunkRows, rows - chunk * kChunkRows);
        float4 n[4];
        float4 o[4] = {};
#pragma unroll
        for (int i = 0; i < 4; ++i)
            n[i] = load4(parts + ChunkParts::kValues + (4 * place.quad + i) * kHeadDim
                         + place.firstColumn + place.column);

        for (int part = 0; part < kStateParts; ++part) {
            const float *stage = advance() + place.quad * kStateQuad;
            const float *right = shared + kStateAt + part * kDepth * kColumns + place.column;
#pragma unroll 8
            for (int key = 0; key < kDepth; ++key) {
                const float4 values = load4(right + key * kColumns);
                addOuter(n, load4(stage + key * 4), values);
                addOuter(o, load4(stage + kRowQuads * kStateQuad + key * 4), values);
            }
        }
        float *newValues = shared + kNewValues + 4 * place.quad * kColumns + place.column;
#pragma unroll
        for (int i = 0; i < 4; ++i)
            store4(newValues + i * kColumns, n[i]);

        const float *right = shared + kNewValues + place.column;
        {
            const float *stage = advance() + place.quad * kScoreQuad;
            const int end = 16 * (place.warp / 2 + 1); // behind the last row of the warp
#pragma unroll 8
            for (int row = 0; row < end; ++row)
                addOuter(o, load4(stage + row * 4), load4(right + row * kColumns));
        }
        const std::int64_t firstRow
            = sequence.firstRow + x.slice.firstRow + chunk * kChunkRows + 4 * place.quad;
#pragma unroll
        for (int i = 0; i < 4; ++i)
            if (4 * place.quad + i < chunkRows)
                store4(x.o + (firstRow + i) * channels + place.head * kHeadDim + place.firstColumn
                           + place.column,
                       o[i]);

        const float *decays = parts + ChunkParts::kDecay + 4 * place.quad;
        const float4 lower = load4(decays);
        const float4 upper = load4(decays + kUpper);
        const float factors[8]
            = { lower.x, lower.y, lower.z, lower.w, upper.x, upper.y, upper.z, upper.w };
#pragma unroll
        for (int i = 0; i < 8; ++i)
            s[i] = scaled(s[i], factors[i]);
        for (int part = 0; part < kRaisedParts; ++part) {
            const float *stage = advance() + 4 * place.quad;
            const float *values = right + part * kDepth * kColumns;
#pragma unroll 8
            for (int row = 0; row < kDepth; ++row) {
                const float4 value = load4(values + row * kColumns);
                addOuter(s, load4(stage + row * kHeadDim), value);
                addOuter(s + 4, load4(stage + row * kHeadDim + kUpper), value);
            }
        }
        // Nobody reads the copy before the next barrier, and all have read it before the last one.
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            store4(stateCopy + i * kColumns, s[i]);
            store4(stateCopy + (kUpper + i) * kColumns, s[4 + i]);
        }
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        store4(state + i * kHeadDim, s[i]);
        store4(state + (kUpper + i) * kHeadDim, s[4 + i]);
    }
}

} // namespace

//------------------------------------------------------------------------------------------------

std::size_t kdaPrefillScratchBytes(const KdaShape &shape, std::int64_t rows)
{
    const std::int64_t chunks
        = std::min<std::int64_t>(kSliceChunks, (rows + kKdaChunk - 1) / kKdaChunk);
    return static_cast<std::size_t>(chunks * shape.heads) * ChunkParts::kFloats * sizeof(float);
}

void kdaPrefill(std::span<float> o, std::span<const float> u, std::span<const float> g,
                std::span<const float> beta, std::span<const KdaSlot> slots, const Step &step,
                const KdaShape &shape, std::span<std::byte> scratch, CudaQueue &queue)
{
    kdaApplyRecords(slots, step, shape, queue);
    constexpr int kSharedBytes = kSharedFloats * static_cast<int>(sizeof(float));
    checkCuda(cudaFuncSetAttribute(kda_prefill_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   kSharedBytes),
              "cudaFuncSetAttribute");
    PrefillArguments arguments {
        .slice = { .u = u.data(),
                   .g = g.data(),
                   .beta = beta.data(),
                   .sequence = nullptr,
                   .parts = reinterpret_cast<float *>(scratch.data()),
                   .heads = static_cast<int>(shape.heads),
                   .firstRow = 0 },
        .o = o.data(),
        .slot = nullptr,
    };
    for (std::size_t i = 0; i < slots.size(); ++i) {
        arguments.slice.sequence = step.sequences.data() + i;
        arguments.slot = slots.data() + i;
        for (std::int64_t first = 0; first < step.mostRows; first += kSliceChunks * kKdaChunk) {
            const std::int64_t left = (step.mostRows - first + kKdaChunk - 1) / kKdaChunk;
            arguments.slice.firstRow = static_cast<int>(first);
            launchChunkParts(arguments.slice,
                             static_cast<int>(std::min<std::int64_t>(kSliceChunks, left)), queue);
            launchAhead(kda_prefill_kernel, dim3(kGroups, static_cast<unsigned>(shape.heads)),
                        kThreads, kSharedBytes, queue, "kda_prefill_kernel", arguments);
        }
    }
}

} // namespace firesteel::kernels::cuda
