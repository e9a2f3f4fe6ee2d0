// SPDX-License-Identifier: MIT
//
// What      u = normalised(silu(conv(z))), log decays, betas; the convolution's window moved on
// Layout    kda.h; float32
// Limits    heads of 128 channels
// Traffic   rows * (3 C * 8 + C * 8) bytes and 3 C * (16 + 12) of taps and window; decode also
//           rows * 3 C * 4 of records
// Plan      a warp has 128 channels, four a lane, of up to 16 rows of a sequence, which it takes in
//           order with the three rows before in registers; C / 128 further warps take the gates.
//           The warp of a sequence's first rows is the only one that reads and writes its window.
// Measured  not measured
#include "kernels/common/cuda_queue.cuh"
#include "kernels/kda/kda_device.cuh"

#include <cmath>

namespace firesteel::kernels::cuda {

namespace {

constexpr int kWarps = 4;
constexpr int kRowsOfWarp = 16; // at least kMaxSequenceRows
constexpr int kRowsAtOnce = 4;
constexpr float kNormEps = 1e-6F;

static_assert(kRowsOfWarp >= kMaxSequenceRows, "a decode step's window has one owner");

struct PrepareArguments
{
    float *u;
    float *g;
    float *beta;
    const float *z;
    const float *conv;
    const float *dtBias;
    const float *aLog;
    const KdaSlot *slots;
    const StepSequence *sequences;
    int heads;
    float gateLowerBound;
    float queryFactor; // d^-0.5
};

// The convolution's taps of four channels, by distance in time: [0] is the oldest.
struct Taps
{
    float4 tap[kKdaConvTaps];
};

__device__ __forceinline__ Taps loadTaps(const float *conv)
{
    const float4 a = load4(conv);
    const float4 b = load4(conv + 4);
    const float4 c = load4(conv + 8);
    const float4 d = load4(conv + 12);
    return { { make_float4(a.x, b.x, c.x, d.x), make_float4(a.y, b.y, c.y, d.y),
               make_float4(a.z, b.z, c.z, d.z), make_float4(a.w, b.w, c.w, d.w) } };
}

__device__ __forceinline__ float silu(float x) { return __fmul_rn(x, sigmoid(x)); }

__device__ __forceinline__ float4 convolve(const Taps &w, float4 a, float4 b, float4 c, float4 d)
{
    float4 sum = make_float4(__fmul_rn(w.tap[0].x, a.x), __fmul_rn(w.tap[0].y, a.y),
                             __fmul_rn(w.tap[0].z, a.z), __fmul_rn(w.tap[0].w, a.w));
    const float4 later[kKdaWindow] = { b, c, d };
#pragma unroll
    for (int j = 0; j < kKdaWindow; ++j) {
        sum.x = fmaf(w.tap[j + 1].x, later[j].x, sum.x);
        sum.y = fmaf(w.tap[j + 1].y, later[j].y, sum.y);
        sum.z = fmaf(w.tap[j + 1].z, later[j].z, sum.z);
        sum.w = fmaf(w.tap[j + 1].w, later[j].w, sum.w);
    }
    return make_float4(silu(sum.x), silu(sum.y), silu(sum.z), silu(sum.w));
}

// Head `part` of q|k|v: rows [begin, end) of the sequence.
template <RowClass kRowClass>
__device__ __forceinline__ void prepareChannels(const PrepareArguments &x, const KdaSlot &slot,
                                                const StepSequence &sequence, int part, int begin,
                                                int end, int lane)
{
    const std::int64_t width = std::int64_t { 3 } * x.heads * kHeadDim;
    const int channel = part * kHeadDim + 4 * lane;
    const float *z = x.z + sequence.firstRow * width + channel;
    float *u = x.u + sequence.firstRow * width + channel;
    const Taps taps = loadTaps(x.conv + std::int64_t { kKdaConvTaps } * channel);

    float4 before[kKdaWindow]; // the rows before the next one, oldest first
    if (begin == 0) {
        float *window = slot.window + channel;
        const int recorded = sequence.recordedRows;
#pragma unroll
        for (int j = 0; j < kKdaWindow; ++j) {
            const int row = recorded + j; // of the window and the recorded rows behind it
            before[j] = row < kKdaWindow ? load4(window + row * width)
                                         : load4(slot.input + (row - kKdaWindow) * width + channel);
        }
#pragma unroll
        for (int j = 0; j < kKdaWindow; ++j) {
            float4 kept = before[j];
            if constexpr (kRowClass == RowClass::Prefill) {
                const int row = sequence.rows + j; // of the folded window and the rows behind it
                if (row >= kKdaWindow)
                    kept = load4(z + (row - kKdaWindow) * width);
                else
                    kept = row == 1 ? before[1] : before[2]; // rows > 0, so row is 1 or 2
            }
            store4(window + j * width, kept);
        }
    } else {
#pragma unroll
        for (int j = 0; j < kKdaWindow; ++j)
            before[j] = load4(z + (begin - kKdaWindow + j) * width);
    }

    for (int first = begin; first < end; first += kRowsAtOnce) {
        float4 rows[kRowsAtOnce] = {};
#pragma unroll
        for (int i = 0; i < kRowsAtOnce; ++i)
            if (first + i < end)
                rows[i] = load4(z + (first + i) * width);
#pragma unroll
        for (int i = 0; i < kRowsAtOnce; ++i) {
            if (first + i >= end)
                break;
            float4 y = convolve(taps, before[0], before[1], before[2], rows[i]);
            if (part < 2 * x.heads) {
                const float norm = __fsqrt_rn(__fadd_rn(warpSum(squares(y)), kNormEps));
                y = scaled(y, __fdiv_rn(part < x.heads ? x.queryFactor : 1.0F, norm));
            }
            store4(u + (first + i) * width, y);
            if constexpr (kRowClass == RowClass::Decode)
                store4(slot.input + (first + i) * width + channel, rows[i]);
            before[0] = before[1];
            before[1] = before[2];
            before[2] = rows[i];
        }
    }
}

__device__ __forceinline__ float logDecay(float f, float bias, float rate, float lowerBound)
{
    return __fmul_rn(lowerBound, sigmoid(__fmul_rn(rate, __fadd_rn(f, bias))));
}

__device__ __forceinline__ void prepareGates(const PrepareArguments &x,
                                             const StepSequence &sequence, int head, int begin,
                                             int end, int lane)
{
    const std::int64_t width = std::int64_t { x.heads } * kHeadDim;
    const int channel = head * kHeadDim + 4 * lane;
    const float4 bias = load4(x.dtBias + channel);
    const float rate = expf(x.aLog[head]);
    for (int row = begin; row < end; ++row) {
        float *g = x.g + (sequence.firstRow + row) * width + channel;
        const float4 f = load4(g);
        store4(g,
               make_float4(logDecay(f.x, bias.x, rate, x.gateLowerBound),
                           logDecay(f.y, bias.y, rate, x.gateLowerBound),
                           logDecay(f.z, bias.z, rate, x.gateLowerBound),
                           logDecay(f.w, bias.w, rate, x.gateLowerBound)));
    }
    if (begin + lane < end) {
        float &beta = x.beta[std::int64_t { sequence.firstRow + begin + lane } * x.heads + head];
        beta = sigmoid(beta);
    }
}

template <RowClass kRowClass>
__global__ void __launch_bounds__(kLanes *kWarps)
    kda_prepare_kernel(const __grid_constant__ PrepareArguments x)
{
    cudaGridDependencySynchronize();
    cudaTriggerProgrammaticLaunchCompletion();
    const StepSequence sequence = x.sequences[blockIdx.z];
    const int begin = static_cast<int>(blockIdx.y) * kRowsOfWarp;
    const int end = min(sequence.rows, begin + kRowsOfWarp);
    if (begin >= end)
        return;
    const int lane = static_cast<int>(threadIdx.x) % kLanes;
    const int part = static_cast<int>(blockIdx.x) * kWarps + static_cast<int>(threadIdx.x) / kLanes;
    if (part < 3 * x.heads)
        prepareChannels<kRowClass>(x, x.slots[blockIdx.z], sequence, part, begin, end, lane);
    else
        prepareGates(x, sequence, part - 3 * x.heads, begin, end, lane);
}

} // namespace

//------------------------------------------------------------------------------------------------

void kdaPrepare(std::span<float> u, std::span<float> g, std::span<float> beta,
                std::span<const float> z, std::span<const float> conv,
                std::span<const float> dtBias, std::span<const float> aLog,
                std::span<const KdaSlot> slots, const Step &step, RowClass rowClass,
                const KdaShape &shape, CudaQueue &queue)
{
    const PrepareArguments arguments {
        .u = u.data(),
        .g = g.data(),
        .beta = beta.data(),
        .z = z.data(),
        .conv = conv.data(),
        .dtBias = dtBias.data(),
        .aLog = aLog.data(),
        .slots = slots.data(),
        .sequences = step.sequences.data(),
        .heads = static_cast<int>(shape.heads),
        .gateLowerBound = shape.gateLowerBound,
        .queryFactor = 1.0F / std::sqrt(static_cast<float>(kHeadDim)),
    };
    // 3 * heads parts of q|k|v and `heads` of the gates: kWarps for each head.
    const dim3 grid(static_cast<unsigned>(shape.heads),
                    static_cast<unsigned>((step.mostRows + kRowsOfWarp - 1) / kRowsOfWarp),
                    static_cast<unsigned>(step.sequences.size()));
    launchAhead(rowClass == RowClass::Decode ? kda_prepare_kernel<RowClass::Decode>
                                             : kda_prepare_kernel<RowClass::Prefill>,
                grid, kLanes * kWarps, 0, queue, "kda_prepare_kernel", arguments);
}

} // namespace firesteel::kernels::cuda
