// SPDX-License-Identifier: MIT
//
// What      S <- the recorded rows applied to S; then o[t] = S_t^T q_t of the step's rows on a copy
// Layout    kda.h; float32
// Limits    heads of 128 channels; up to 9 recorded and 9 new rows a sequence
// Traffic   128 KiB a head and sequence (S read and, if there are recorded rows, written), and
//           rows * C * 20 bytes
// Work      7 flop an element of S and row: bound by memory
// Plan      a block has 32 value columns of one head of one sequence, so that one sequence of 64
//           heads fills 48 multiprocessors once (6 blocks each). A thread keeps 8 keys by 4 columns
//           of S in registers. S'k and S'q come out of one pass over the decayed S',
//           o = S'^T q + (q k) update, so that a row costs one barrier; partial sums are added in a
//           fixed order: a thread's keys, lanes, warps. Rows are applied and run by the same
//           instructions, so that it does not matter in which step a row was accepted.
//           Rows lie in shared memory, 8 at a time: 16 KB a block, 6 blocks.
// Measured  not measured
#include "kernels/common/cuda_queue.cuh"
#include "kernels/kda/kda_device.cuh"

namespace firesteel::kernels::cuda {

namespace {

constexpr int kThreads = 128;
constexpr int kWarps = kThreads / kLanes;
constexpr int kBlocksOfMultiprocessor = 6;
constexpr int kColumns = 32; // of a block
constexpr int kGroups = kHeadDim / kColumns;
constexpr int kQuads = kColumns / 4; // threads that share a key
constexpr int kKeys = kHeadDim / (kThreads / kQuads); // of a thread
constexpr int kRowsAtOnce = 8;

static_assert(kThreads == kHeadDim, "rows are loaded one channel a thread");

// Rows in memory, at the first one.
struct RowSource
{
    const float *u;
    const float *g;
    const float *beta;
};

struct Shared
{
    float k[kRowsAtOnce][kHeadDim];
    float q[kRowsAtOnce][kHeadDim];
    float decay[kRowsAtOnce][kHeadDim];
    float v[kRowsAtOnce][kColumns];
    float projected[2][kWarps][kColumns]; // S'^T k of a warp's keys; rows alternate
    float read[2][kWarps][kColumns]; // S'^T q
    float beta[kRowsAtOnce];
    float overlap[kRowsAtOnce]; // q k
};

struct DecodeArguments
{
    float *o;
    const float *u;
    const float *g;
    const float *beta;
    const KdaSlot *slots;
    const StepSequence *sequences;
    int heads;
    bool isRunning; // else only the records are applied
};

struct Place
{
    int thread = static_cast<int>(threadIdx.x);
    int lane = thread % kLanes;
    int warp = thread / kLanes;
    int column = thread % kQuads * 4; // of the block's
    int key = thread / kQuads * kKeys;
    int head = static_cast<int>(blockIdx.y);
    int firstColumn = static_cast<int>(blockIdx.x) * kColumns; // of the head
};

// Rows [first, first + count) to shared memory. Barriers before and behind.
__device__ __forceinline__ void loadRows(Shared &s, const RowSource &x, int first, int count,
                                         int heads, const Place &place)
{
    const std::int64_t channels = std::int64_t { heads } * kHeadDim;
    const int channel = place.head * kHeadDim + place.thread;
    __syncthreads(); // the rows before were used
#pragma unroll
    for (int i = 0; i < kRowsAtOnce; ++i) {
        if (i >= count)
            break;
        const std::int64_t row = first + i;
        const float *u = x.u + row * 3 * channels + channel;
        s.q[i][place.thread] = u[0];
        s.k[i][place.thread] = u[channels];
        s.decay[i][place.thread] = expf(x.g[row * channels + channel]);
        if (place.thread < kColumns)
            s.v[i][place.thread] = u[2 * channels + place.firstColumn];
    }
    if (place.thread < count)
        s.beta[place.thread] = x.beta[(first + place.thread) * heads + place.head];
    __syncthreads();
}

__device__ __forceinline__ void findOverlaps(Shared &s, int count, const Place &place)
{
    for (int row = place.warp; row < count; row += kWarps) {
        const float4 q = load4(&s.q[row][4 * place.lane]);
        const float4 k = load4(&s.k[row][4 * place.lane]);
        const float sum
            = warpSum(fmaf(q.w, k.w, fmaf(q.z, k.z, fmaf(q.y, k.y, __fmul_rn(q.x, k.x)))));
        if (place.lane == 0)
            s.overlap[row] = sum;
    }
    __syncthreads();
}

// Sum over the lanes of a warp that have the same columns.
__device__ __forceinline__ float4 sumOfKeys(float4 value)
{
#pragma unroll
    for (int distance = kQuads; distance < kLanes; distance *= 2) {
        value.x = __fadd_rn(value.x, __shfl_xor_sync(kAllLanes, value.x, distance));
        value.y = __fadd_rn(value.y, __shfl_xor_sync(kAllLanes, value.y, distance));
        value.z = __fadd_rn(value.z, __shfl_xor_sync(kAllLanes, value.z, distance));
        value.w = __fadd_rn(value.w, __shfl_xor_sync(kAllLanes, value.w, distance));
    }
    return value;
}

__device__ __forceinline__ float4 sumOfWarps(const float (&parts)[kWarps][kColumns], int column)
{
    float4 sum = load4(&parts[0][column]);
#pragma unroll
    for (int warp = 1; warp < kWarps; ++warp) {
        const float4 part = load4(&parts[warp][column]);
        sum = make_float4(__fadd_rn(sum.x, part.x), __fadd_rn(sum.y, part.y),
                          __fadd_rn(sum.z, part.z), __fadd_rn(sum.w, part.w));
    }
    return sum;
}

// One row of those in shared memory on S; kOutput: its four outputs in the threads of key 0. The
// two forms leave the same bits in S.
template <bool kOutput>
__device__ __forceinline__ float4 stepRow(float4 (&state)[kKeys], Shared &s, int row, int buffer,
                                          const Place &place)
{
    float4 projected = {};
    float4 read = {};
#pragma unroll
    for (int first = 0; first < kKeys; first += 4) {
        const float4 k = load4(&s.k[row][place.key + first]);
        const float4 decay = load4(&s.decay[row][place.key + first]);
        const float keys[4] = { k.x, k.y, k.z, k.w };
        const float decays[4] = { decay.x, decay.y, decay.z, decay.w };
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            state[first + i] = scaled(state[first + i], decays[i]);
            multiplyAdd(projected, keys[i], state[first + i]);
        }
        if constexpr (kOutput) {
            const float4 q = load4(&s.q[row][place.key + first]);
            const float queries[4] = { q.x, q.y, q.z, q.w };
#pragma unroll
            for (int i = 0; i < 4; ++i)
                multiplyAdd(read, queries[i], state[first + i]);
        }
    }
    projected = sumOfKeys(projected);
    if constexpr (kOutput)
        read = sumOfKeys(read);
    if (place.lane < kQuads) {
        store4(&s.projected[buffer][place.warp][place.column], projected);
        if constexpr (kOutput)
            store4(&s.read[buffer][place.warp][place.column], read);
    }
    __syncthreads();
    projected = sumOfWarps(s.projected[buffer], place.column);
    const float4 v = load4(&s.v[row][place.column]);
    const float beta = s.beta[row];
    const float4 update = make_float4(
        __fmul_rn(beta, __fsub_rn(v.x, projected.x)), __fmul_rn(beta, __fsub_rn(v.y, projected.y)),
        __fmul_rn(beta, __fsub_rn(v.z, projected.z)), __fmul_rn(beta, __fsub_rn(v.w, projected.w)));
#pragma unroll
    for (int first = 0; first < kKeys; first += 4) {
        const float4 k = load4(&s.k[row][place.key + first]);
        multiplyAdd(state[first], k.x, update);
        multiplyAdd(state[first + 1], k.y, update);
        multiplyAdd(state[first + 2], k.z, update);
        multiplyAdd(state[first + 3], k.w, update);
    }
    if constexpr (kOutput) {
        read = sumOfWarps(s.read[buffer], place.column);
        multiplyAdd(read, s.overlap[row], update);
    }
    return read;
}

__global__ void __launch_bounds__(kThreads, kBlocksOfMultiprocessor)
    kda_decode_kernel(const __grid_constant__ DecodeArguments x)
{
    __shared__ __align__(16) Shared s;
    cudaGridDependencySynchronize();
    cudaTriggerProgrammaticLaunchCompletion();
    const StepSequence sequence = x.sequences[blockIdx.z];
    const int recorded = sequence.recordedRows;
    const int rows = x.isRunning ? sequence.rows : 0;
    if (recorded == 0 && rows == 0)
        return;
    const Place place;
    const KdaSlot slot = x.slots[blockIdx.z];
    auto *source = reinterpret_cast<float4 *>(
        slot.state + (std::int64_t { place.head } * kHeadDim + place.key) * kHeadDim
        + place.firstColumn + place.column);
    float4 state[kKeys];
#pragma unroll
    for (int i = 0; i < kKeys; ++i)
        state[i] = __ldcs(source + i * (kHeadDim / 4));

    int buffer = 0;
    for (int first = 0; first < recorded; first += kRowsAtOnce) {
        const int count = min(kRowsAtOnce, recorded - first);
        loadRows(s, { slot.u, slot.g, slot.beta }, first, count, x.heads, place);
        for (int row = 0; row < count; ++row, buffer ^= 1)
            stepRow<false>(state, s, row, buffer, place);
    }
    if (recorded > 0) {
#pragma unroll
        for (int i = 0; i < kKeys; ++i)
            __stcs(source + i * (kHeadDim / 4), state[i]);
    }

    const std::int64_t channels = std::int64_t { x.heads } * kHeadDim;
    const std::int64_t firstRow = sequence.firstRow;
    const RowSource step { x.u + firstRow * 3 * channels, x.g + firstRow * channels,
                           x.beta + firstRow * x.heads };
    for (int first = 0; first < rows; first += kRowsAtOnce) {
        const int count = min(kRowsAtOnce, rows - first);
        loadRows(s, step, first, count, x.heads, place);
        findOverlaps(s, count, place);
        for (int row = 0; row < count; ++row, buffer ^= 1) {
            const float4 o = stepRow<true>(state, s, row, buffer, place);
            if (place.key == 0)
                store4(x.o + (firstRow + first + row) * channels + place.head * kHeadDim
                           + place.firstColumn + place.column,
                       o);
        }
    }
}

void launch(const DecodeArguments &arguments, const Step &step, const KdaShape &shape,
            CudaQueue &queue)
{
    const dim3 grid(kGroups, static_cast<unsigned>(shape.heads),
                    static_cast<unsigned>(step.sequences.size()));
    launchAhead(kda_decode_kernel, grid, kThreads, 0, queue, "kda_decode_kernel", arguments);
}

} // namespace

//------------------------------------------------------------------------------------------------

void kdaDecode(std::span<float> o, std::span<const float> u, std::span<const float> g,
               std::span<const float> beta, std::span<const KdaSlot> slots, const Step &step,
               const KdaShape &shape, CudaQueue &queue)
{
    launch({ .o = o.data(),
             .u = u.data(),
             .g = g.data(),
             .beta = beta.data(),
             .slots = slots.data(),
             .sequences = step.sequences.data(),
             .heads = static_cast<int>(shape.heads),
             .isRunning = true },
           step, shape, queue);
}

void kdaApplyRecords(std::span<const KdaSlot> slots, const Step &step, const KdaShape &shape,
                     CudaQueue &queue)
{
    launch({ .o = nullptr,
             .u = nullptr,
             .g = nullptr,
             .beta = nullptr,
             .slots = slots.data(),
             .sequences = step.sequences.data(),
             .heads = static_cast<int>(shape.heads),
             .isRunning = false },
           step, shape, queue);
}

} // namespace firesteel::kernels::cuda
