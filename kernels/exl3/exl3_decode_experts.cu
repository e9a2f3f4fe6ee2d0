// SPDX-License-Identifier: MIT
//
// What      y[t] = sum over a row's experts, in its order, of
//           weight * down( silu(min(gate x, limit)) * clamp(up x, -limit, limit) ), t < rows <= 72
// Layout    x, y [rows, hidden] float32; the matrices as in exl3_decode_linear.cu, one by one
// Limits    hidden, width multiples of 128; fast when the three rates are all 2, 3 or 4 and MUL1
// Traffic   distinct experts * 3 * hidden * width * rate / 8 bytes, their scales, rows * 8 hidden;
//           in the L2 cache, per chosen expert of a row, 16 hidden + 12 width
// Work      6 * rows * expertsPerToken * hidden * width flop
// Plan      exl3_decode.cuh. Launch 1: each chosen expert of a row finds its place among the rows
//           sorted by expert and rotates x for gate and up. Launch 2 starts beside it: every block
//           lists the runs (an expert and its rows), most rows first, requests its first weights
//           and waits. Blocks draw units of work from a counter: first 128 columns of gate and up
//           of a run, then, as soon as that run's are all there, 128 columns of down. Whoever
//           finishes the last run's part of 128 columns adds the rows' experts up. A unit waits
//           only for units drawn before it, so blocks need not all be resident. Counters lie in the
//           scratch and launch 1 sets them.
//           Up to 8 rows: 64 registers, two blocks and 32 KB of weights in flight a multiprocessor
//           (rate 2); more rows: 128 registers, one block, 16 KB. Runs of more than 8 rows spill:
//           7 to 18 % of a step's instructions are local loads and stores.
// Measured  H200, rate 2, 4096 x 2048, 8 of 288 experts a row, chosen independently, packed GB/s at
//           1 / 2 / 4 / 6 / 8 / 24 / 64 rows
//           on 48 multiprocessors: 375 / 383 / 419 / 422 / 424 / 361 / 361
//           on all 132: 622 / 1047 / 1044 / 1059 / 1133 / 985 / 985; docs/bench/h200
//           runs of more than 8 rows by themselves, GB10 (231 GB/s read): not measured
#include "kernels/common/cuda_queue.cuh"
#include "kernels/exl3/exl3_backends.h"
#include "kernels/exl3/exl3_decode.cuh"

#include <algorithm>

namespace firesteel::kernels::cuda {

namespace {

constexpr int kRouteThreads = 256;

// An expert and its rows: places first .. first + count - 1 among the rows sorted by expert.
struct ExpertRun
{
    std::int32_t expert;
    std::int32_t first;
    std::int32_t count;
};

struct ExpertsArguments
{
    const float *x = nullptr; // [rows, hidden]
    float *y = nullptr; // [rows, hidden]
    const std::int32_t *experts = nullptr; // [rows, expertsPerToken]
    const float *weights = nullptr; // [rows, expertsPerToken]
    const Exl3Expert *table = nullptr;
    std::uint16_t *gateInputs = nullptr; // [places, hidden] rotated, in fragment order
    std::uint16_t *upInputs = nullptr;
    std::uint16_t *activations = nullptr; // [places, width] rotated, in fragment order
    float *gates = nullptr; // [places, width]
    float *outputs = nullptr; // [places, hidden] of down
    std::int32_t *places = nullptr; // [rows, expertsPerToken]
    unsigned *ticket = nullptr; // next unit of work
    unsigned *gateUpDone = nullptr; // [choices] units of a run
    unsigned *downDone = nullptr; // [hidden / 128] runs
    std::int32_t hidden = 0;
    std::int32_t width = 0;
    std::int32_t expertCount = 0;
    std::int32_t expertsPerToken = 0;
    std::int32_t rows = 0;
    float limit = 0;
};

__device__ int groupsOf(int rows) { return (rows + kDecodeGroup - 1) / kDecodeGroup; }

// Sum of `value` over the block's threads before this one, and over all of them. totals: shared.
__device__ int blockPrefix(int value, int (&totals)[kDecodeThreads / 32], int &total)
{
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int warp = static_cast<int>(threadIdx.x) / 32;
    int sum = value;
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) {
        const int other = __shfl_up_sync(0xFFFFFFFFU, sum, static_cast<unsigned>(distance));
        sum += lane >= distance ? other : 0;
    }
    __syncthreads(); // totals of the call before were read
    if (lane == 31)
        totals[warp] = sum;
    __syncthreads();
    int before = 0;
    total = 0;
#pragma unroll
    for (int i = 0; i < kDecodeThreads / 32; ++i) {
        before += i < warp ? totals[i] : 0;
        total += totals[i];
    }
    return before + sum - value;
}

// The runs, most groups of rows first (then by id), by one block; returns how many. counts and
// firsts [expertCount], runs: shared.
__device__ int listRuns(const ExpertsArguments &a, int *counts, int *firsts, ExpertRun *runs)
{
    __shared__ int totals[kDecodeThreads / 32];
    const int thread = static_cast<int>(threadIdx.x);
    const int choices = a.rows * a.expertsPerToken;
    for (int e = thread; e < a.expertCount; e += kDecodeThreads)
        counts[e] = 0;
    __syncthreads();
    for (int i = thread; i < choices; i += kDecodeThreads) {
        const int expert = __ldcg(a.experts + i);
        if (expert < 0 || expert >= a.expertCount)
            __trap(); // the router's contract is broken
        atomicAdd(counts + expert, 1);
    }
    __syncthreads();
    int total = 0;
    int first = 0;
    for (int start = 0; start < a.expertCount; start += kDecodeThreads) {
        const int e = start + thread;
        const int before = blockPrefix(e < a.expertCount ? counts[e] : 0, totals, total);
        if (e < a.expertCount)
            firsts[e] = first + before;
        first += total;
    }
    int listed = 0;
    for (int groups = groupsOf(a.rows); groups > 0; --groups)
        for (int start = 0; start < a.expertCount; start += kDecodeThreads) {
            const int e = start + thread;
            const bool isNext = e < a.expertCount && groupsOf(counts[e]) == groups;
            const int before = blockPrefix(isNext ? 1 : 0, totals, total);
            if (isNext)
                runs[listed + before] = { e, firsts[e], counts[e] };
            listed += total;
        }
    __syncthreads();
    return listed;
}

// Grid [choices, parts of a row]. Also sets the counters: the first `blocks` tickets are given out
// by block number.
__global__ void __launch_bounds__(kRouteThreads)
    exl3_decode_route_kernel(const ExpertsArguments a, unsigned blocks)
{
    cudaGridDependencySynchronize();
    cudaTriggerProgrammaticLaunchCompletion();
    const int choices = a.rows * a.expertsPerToken;
    const int choice = static_cast<int>(blockIdx.x);
    const int expert = a.experts[choice];
    const std::uint16_t *gateScales = a.table[expert].gate.suh;
    const std::uint16_t *upScales = a.table[expert].up.suh;
    int place = 0;
    for (int start = 0; start < choices; start += kRouteThreads) {
        const int other = start + static_cast<int>(threadIdx.x);
        const int otherExpert = other < choices ? a.experts[other] : a.expertCount;
        place += __syncthreads_count(otherExpert < expert
                                     || (otherExpert == expert && other < choice));
    }
    if (threadIdx.x == 0 && blockIdx.y == 0) {
        a.places[choice] = place;
        a.gateUpDone[choice] = 0;
        if (choice == 0)
            *a.ticket = blocks;
    }
    if (choice == 0 && blockIdx.y == 0)
        for (int i = static_cast<int>(threadIdx.x); i < a.hidden / kExl3Block; i += kRouteThreads)
            a.downDone[i] = 0;
    const auto *x = reinterpret_cast<const float4 *>(
        a.x + static_cast<std::int64_t>(choice / a.expertsPerToken) * a.hidden);
    const std::int64_t row = static_cast<std::int64_t>(place) * a.hidden;
    const int stride = static_cast<int>(gridDim.y) * kRouteThreads / 32;
    for (int block = static_cast<int>(blockIdx.y * kRouteThreads + threadIdx.x) / 32;
         block < a.hidden / kExl3Block; block += stride) {
        const float4 values = x[block * 32 + static_cast<int>(threadIdx.x) % 32];
        exl3StoreFragments(a.gateInputs + row, block,
                           exl3RotateInput(values, gateScales + block * kExl3Block));
        exl3StoreFragments(a.upInputs + row, block,
                           exl3RotateInput(values, upScales + block * kExl3Block));
    }
}

__device__ float clampedSwiglu(float gate, float up, float limit)
{
    const float g = fminf(gate, limit);
    const float u = fminf(fmaxf(up, -limit), limit);
    return __fdiv_rn(g, 1.0F + expf(-g)) * u;
}

// Until `count` units were counted; what they wrote is then visible to the block.
__device__ void waitFor(const unsigned *counter, unsigned count)
{
    if (threadIdx.x == 0) {
        unsigned done = 0;
        for (;;) {
            asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(done) : "l"(counter));
            if (done >= count)
                break;
            __nanosleep(100);
        }
    }
    __syncthreads();
}

// A unit of work: 128 columns of gate and up of a run (the products' first `chunk` of width), or of
// down (of hidden).
struct Unit
{
    ExpertRun run;
    int runIndex;
    int chunk;
    bool isDown;
};

// Returns, in thread 0, the ticket after this one. kRate 0: taken from the matrices.
template <int kRate, int kGroups>
__device__ __forceinline__ int computeUnit(const ExpertsArguments &a, const Unit &unit,
                                           const DecodeThread &thread, unsigned char *shared)
{
    constexpr int kAtOnce = kDecodeGroupsAtOnce<kGroups>;
    auto *partials = reinterpret_cast<float *>(shared);
    const Exl3Expert &expert = a.table[unit.run.expert];
    const ExpertRun &run = unit.run;
    int next = 0;
    const auto ready = [&] {
        cudaGridDependencySynchronize();
        if (unit.isDown)
            waitFor(a.gateUpDone + unit.runIndex, static_cast<unsigned>(a.width / kExl3Block));
    };
#pragma unroll 1
    for (int product = unit.isDown ? 2 : 0; product < (unit.isDown ? 3 : 2); ++product) {
        const Exl3Matrix m = product == 0 ? expert.gate : product == 1 ? expert.up : expert.down;
        const DecodeRows rows {
            .x = product == 0  ? a.gateInputs + static_cast<std::int64_t>(run.first) * a.hidden
                : product == 1 ? a.upInputs + static_cast<std::int64_t>(run.first) * a.hidden
                               : a.activations + static_cast<std::int64_t>(run.first) * a.width,
            .stride = unit.isDown ? a.width : a.hidden,
            .count = run.count,
        };
        const int steps = rows.stride / kDecodeStep;
        DecodeSums<kGroups> sums = {};
        if constexpr (kRate == 0)
            exl3MultiplyAnyRate<kGroups>(sums, m, unit.chunk, 0, steps, rows, thread, shared,
                                         ready);
        else
            exl3Multiply<kRate, kGroups>(sums, m, unit.chunk, 0, steps, rows, thread, shared,
                                         ready);
        if (threadIdx.x == 0 && product > 0)
            next = static_cast<int>(atomicAdd(a.ticket, 1U)); // on its way during the rest
#pragma unroll
        for (int first = 0; first < kGroups; first += kAtOnce) {
            if (kDecodeGroup * first >= run.count)
                break;
            __syncthreads(); // the rows before were read
#pragma unroll
            for (int i = 0; i < kAtOnce; ++i)
                if (first + i < kGroups)
                    exl3StoreSums(partials + i * kDecodeDepthWarps * kDecodePartialFloats,
                                  sums[first + i], thread);
            __syncthreads();
            const int group = thread.warp / kDecodeGroup;
            const int row = kDecodeGroup * first + thread.warp;
            if (group >= kAtOnce || row >= run.count)
                continue;
            const float4 value = exl3RotateOutput(
                exl3RowSum(partials + group * kDecodeDepthWarps * kDecodePartialFloats,
                           thread.warp % kDecodeGroup, thread.lane),
                m.svh + unit.chunk * kExl3Block, thread.lane);
            auto *gates = reinterpret_cast<float4 *>(
                a.gates + static_cast<std::int64_t>(run.first + row) * a.width
                + unit.chunk * kExl3Block);
            if (product == 0) {
                gates[thread.lane] = value; // read by this thread
            } else if (product == 1) {
                const float4 gate = gates[thread.lane];
                const float4 activation = make_float4(clampedSwiglu(gate.x, value.x, a.limit),
                                                      clampedSwiglu(gate.y, value.y, a.limit),
                                                      clampedSwiglu(gate.z, value.z, a.limit),
                                                      clampedSwiglu(gate.w, value.w, a.limit));
                exl3StoreFragments(
                    a.activations + static_cast<std::int64_t>(run.first + row) * a.width,
                    unit.chunk,
                    exl3RotateInput(activation, expert.down.suh + unit.chunk * kExl3Block));
            } else {
                reinterpret_cast<float4 *>(a.outputs
                                           + static_cast<std::int64_t>(run.first + row) * a.hidden
                                           + unit.chunk * kExl3Block)[thread.lane]
                    = value;
            }
        }
    }
    return next;
}

// Long runs are rare; in a function of its own their registers do not weigh on the others.
template <int kRate, int kGroups>
__device__ __noinline__ int computeLongUnit(const ExpertsArguments &a, const Unit &unit,
                                            unsigned char *shared)
{
    return computeUnit<kRate, kGroups>(a, unit, DecodeThread {}, shared);
}

// y of 128 columns: every row's experts in its order.
__device__ __forceinline__ void addExperts(const ExpertsArguments &a, int chunk,
                                           const DecodeThread &thread)
{
    const int column = chunk * kExl3Block + 4 * thread.lane;
    for (int row = thread.warp; row < a.rows; row += kDecodeThreads / 32) {
        float4 sum = make_float4(0, 0, 0, 0);
#pragma unroll 4
        for (int i = 0; i < a.expertsPerToken; ++i) {
            const int choice = row * a.expertsPerToken + i;
            const float weight = a.weights[choice];
            const float4 value = __ldcg(reinterpret_cast<const float4 *>(
                a.outputs + static_cast<std::int64_t>(a.places[choice]) * a.hidden + column));
            sum = make_float4(fmaf(weight, value.x, sum.x), fmaf(weight, value.y, sum.y),
                              fmaf(weight, value.z, sum.z), fmaf(weight, value.w, sum.w));
        }
        *reinterpret_cast<float4 *>(a.y + static_cast<std::int64_t>(row) * a.hidden + column) = sum;
    }
}

// kMaxGroups 1 (no run has more than 8 rows) or 9.
template <int kRate, int kMaxGroups>
__global__ void __launch_bounds__(kDecodeThreads, kMaxGroups == 1 && kRate > 0 ? 2 : 1)
    exl3_decode_experts_kernel(const __grid_constant__ ExpertsArguments a)
{
    extern __shared__ __align__(16) unsigned char shared[];
    __shared__ int ticketOfBlock;
    __shared__ int flag;
    auto *runs = reinterpret_cast<ExpertRun *>(shared + kDecodeSharedBytes<kMaxGroups>);
    const DecodeThread thread;
    auto *counts = reinterpret_cast<int *>(runs + min(a.rows * a.expertsPerToken, a.expertCount));
    const int runCount = listRuns(a, counts, counts + a.expertCount, runs);
    const int gateUpChunks = a.width / kExl3Block;
    const int downChunks = a.hidden / kExl3Block;
    const int gateUpUnits = runCount * gateUpChunks;
    const int units = gateUpUnits + runCount * downChunks;
    int ticket = static_cast<int>(blockIdx.x);
    while (ticket < units) {
        Unit unit {};
        unit.isDown = ticket >= gateUpUnits;
        const int index = unit.isDown ? ticket - gateUpUnits : ticket;
        const int chunks = unit.isDown ? downChunks : gateUpChunks;
        unit.runIndex = index / chunks;
        unit.chunk = index % chunks;
        unit.run = runs[unit.runIndex];
        int next = 0;
        if (kMaxGroups == 1 || unit.run.count <= kDecodeGroup)
            next = computeUnit<kRate, 1>(a, unit, thread, shared);
        else if (kRate > 0 && unit.run.count <= 3 * kDecodeGroup)
            next = computeLongUnit<kRate, (kRate > 0 ? 3 : 1)>(a, unit, shared);
        else
            next = computeLongUnit<kRate, kDecodeMaxGroups>(a, unit, shared);
        if (threadIdx.x == 0)
            ticketOfBlock = next;
        if (!unit.isDown) {
            __syncthreads();
            if (threadIdx.x == 0)
                exl3Arrive(a.gateUpDone + unit.runIndex);
        } else if (exl3ArriveLast(a.downDone + unit.chunk, static_cast<unsigned>(runCount),
                                  &flag)) {
            addExperts(a, unit.chunk, thread);
        }
        ticket = ticketOfBlock;
    }
}

template <int kRate, int kMaxGroups>
void launch(const ExpertsArguments &arguments, CudaQueue &queue)
{
    const auto kernel = exl3_decode_experts_kernel<kRate, kMaxGroups>;
    const std::int64_t choices
        = static_cast<std::int64_t>(arguments.rows) * arguments.expertsPerToken;
    const auto sharedBytes
        = static_cast<int>(kDecodeSharedBytes<kMaxGroups>
                           + std::min<std::int64_t>(choices, arguments.expertCount)
                               * static_cast<std::int64_t>(sizeof(ExpertRun))
                           + 2 * arguments.expertCount * static_cast<std::int64_t>(sizeof(int)));
    checkCuda(
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, sharedBytes),
        "cudaFuncSetAttribute");
    const int perMultiprocessor = kMaxGroups == 1 && kRate > 0 ? 2 : 1;
    const auto blocks = static_cast<unsigned>(queue.multiprocessors() * perMultiprocessor);
    constexpr int kBlocksPerPart = kRouteThreads / 32;
    const auto parts
        = static_cast<unsigned>(std::clamp(arguments.hidden / kExl3Block / kBlocksPerPart, 1, 4));
    launchAhead(exl3_decode_route_kernel, dim3(static_cast<unsigned>(choices), parts),
                kRouteThreads, 0, queue, "exl3_decode_route_kernel", arguments, blocks);
    launchAhead(kernel, dim3(blocks), kDecodeThreads, sharedBytes, queue,
                "exl3_decode_experts_kernel", arguments);
}

template <int kRate> void launchRate(const ExpertsArguments &arguments, CudaQueue &queue)
{
    if (arguments.rows <= kDecodeGroup)
        launch<kRate, 1>(arguments, queue);
    else
        launch<kRate, kDecodeMaxGroups>(arguments, queue);
}

// Hands out the scratch; with no bytes it counts them.
class Layout
{
public:
    explicit Layout(std::byte *bytes)
        : m_bytes(bytes)
    {
    }
    template <typename T> T *take(std::int64_t count)
    {
        auto *values = reinterpret_cast<T *>(m_bytes + m_size);
        m_size += (static_cast<std::size_t>(count) * sizeof(T) + 255) / 256 * 256;
        return values;
    }
    std::size_t size() const { return m_size; }

private:
    std::byte *m_bytes;
    std::size_t m_size = 0;
};

std::size_t placeScratch(ExpertsArguments &a, const Exl3MoeShape &shape, std::int64_t rows,
                         std::byte *bytes)
{
    const std::int64_t choices = rows * shape.expertsPerToken;
    Layout layout(bytes);
    a.gateInputs = layout.take<std::uint16_t>(choices * shape.hidden);
    a.upInputs = layout.take<std::uint16_t>(choices * shape.hidden);
    a.activations = layout.take<std::uint16_t>(choices * shape.width);
    a.gates = layout.take<float>(choices * shape.width);
    a.outputs = layout.take<float>(choices * shape.hidden);
    a.places = layout.take<std::int32_t>(choices);
    a.ticket = layout.take<unsigned>(1);
    a.gateUpDone = layout.take<unsigned>(choices);
    a.downDone = layout.take<unsigned>(shape.hidden / kExl3Block);
    return layout.size();
}

} // namespace

//------------------------------------------------------------------------------------------------

std::size_t exl3DecodeExpertsScratchBytes(const Exl3MoeShape &shape, std::int64_t rows)
{
    ExpertsArguments arguments {};
    return placeScratch(arguments, shape, rows, nullptr);
}

void exl3DecodeExperts(std::span<float> y, std::span<const float> x,
                       std::span<const std::int32_t> experts, std::span<const float> weights,
                       std::span<const Exl3Expert> table, const Exl3MoeShape &shape,
                       std::int64_t rows, const Exl3Scratch &scratch, CudaQueue &queue)
{
    ExpertsArguments arguments {
        .x = x.data(),
        .y = y.data(),
        .experts = experts.data(),
        .weights = weights.data(),
        .table = table.data(),
        .hidden = static_cast<std::int32_t>(shape.hidden),
        .width = static_cast<std::int32_t>(shape.width),
        .expertCount = static_cast<std::int32_t>(shape.experts),
        .expertsPerToken = static_cast<std::int32_t>(shape.expertsPerToken),
        .rows = static_cast<std::int32_t>(rows),
        .limit = shape.swigluLimit,
    };
    placeScratch(arguments, shape, rows, scratch.bytes.data());
    const bool isUniform = shape.codebook == Exl3Codebook::Mul1 && shape.gateRate == shape.upRate
        && shape.upRate == shape.downRate;
    switch (isUniform ? shape.downRate : 0) {
    case 2:
        return launchRate<2>(arguments, queue);
    case 3:
        return launchRate<3>(arguments, queue);
    case 4:
        return launchRate<4>(arguments, queue);
    default:
        return launchRate<0>(arguments, queue);
    }
}

} // namespace firesteel::kernels::cuda
