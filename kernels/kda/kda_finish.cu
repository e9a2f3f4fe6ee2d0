// SPDX-License-Identifier: MIT
//
// What      y = o / sqrt(mean(o^2) + eps) * weight * sigmoid(gate) per head; in a decode step the
//           rows become the records of their sequences
// Layout    kda.h; float32
// Limits    heads of 128 channels
// Traffic   rows * C * 12 bytes; decode also rows * C * 32 (u and g read and written)
// Plan      a warp has one head of one row
// Measured  not measured
#include "kernels/common/cuda_queue.cuh"
#include "kernels/kda/kda_device.cuh"

namespace firesteel::kernels::cuda {

namespace {

constexpr int kWarps = 4;

struct FinishArguments
{
    float *y;
    const float *o;
    const float *gate;
    const float *weight;
    const float *u;
    const float *g;
    const float *beta;
    const KdaSlot *slots;
    const StepSequence *sequences;
    const std::int32_t *sequenceOf;
    std::int64_t units; // rows * heads
    int heads;
    float eps;
};

__device__ __forceinline__ void record(const FinishArguments &x, std::int64_t row, int head,
                                       int lane)
{
    const int index = x.sequenceOf[row];
    if (index < 0)
        return; // fills up a recorded step
    const StepSequence sequence = x.sequences[index];
    const std::int64_t place = row - sequence.firstRow;
    const KdaSlot slot = x.slots[index];
    const std::int64_t channels = std::int64_t { x.heads } * kHeadDim;
    const int channel = head * kHeadDim + 4 * lane;
#pragma unroll
    for (int part = 0; part < 3; ++part)
        store4(slot.u + (place * 3 + part) * channels + channel,
               load4(x.u + (row * 3 + part) * channels + channel));
    store4(slot.g + place * channels + channel, load4(x.g + row * channels + channel));
    if (lane == 0)
        slot.beta[place * x.heads + head] = x.beta[row * x.heads + head];
}

template <RowClass kRowClass>
__global__ void __launch_bounds__(kLanes *kWarps)
    kda_finish_kernel(const __grid_constant__ FinishArguments x)
{
    cudaGridDependencySynchronize();
    cudaTriggerProgrammaticLaunchCompletion();
    const std::int64_t unit = static_cast<std::int64_t>(blockIdx.x) * kWarps + threadIdx.x / kLanes;
    if (unit >= x.units)
        return;
    const int lane = static_cast<int>(threadIdx.x) % kLanes;
    const std::int64_t row = unit / x.heads;
    const int head = static_cast<int>(unit % x.heads);
    const std::int64_t at = unit * kHeadDim + 4 * lane;
    const float4 o = load4(x.o + at);
    const float4 gate = load4(x.gate + at);
    const float4 weight = load4(x.weight + 4 * lane);
    const float mean = __fmul_rn(warpSum(squares(o)), 1.0F / kHeadDim);
    const float4 normed = scaled(o, __fdiv_rn(1.0F, __fsqrt_rn(__fadd_rn(mean, x.eps))));
    store4(x.y + at,
           make_float4(normed.x * weight.x * sigmoid(gate.x), normed.y * weight.y * sigmoid(gate.y),
                       normed.z * weight.z * sigmoid(gate.z),
                       normed.w * weight.w * sigmoid(gate.w)));
    if constexpr (kRowClass == RowClass::Decode)
        record(x, row, head, lane);
}

} // namespace

//------------------------------------------------------------------------------------------------

void kdaFinish(std::span<float> y, std::span<const float> o, std::span<const float> gate,
               std::span<const float> weight, float eps, std::span<const float> u,
               std::span<const float> g, std::span<const float> beta,
               std::span<const KdaSlot> slots, const Step &step, RowClass rowClass,
               const KdaShape &shape, CudaQueue &queue)
{
    const FinishArguments arguments {
        .y = y.data(),
        .o = o.data(),
        .gate = gate.data(),
        .weight = weight.data(),
        .u = u.data(),
        .g = g.data(),
        .beta = beta.data(),
        .slots = slots.data(),
        .sequences = step.sequences.data(),
        .sequenceOf = step.sequenceOf.data(),
        .units = step.rows * shape.heads,
        .heads = static_cast<int>(shape.heads),
        .eps = eps,
    };
    const dim3 grid(static_cast<unsigned>((arguments.units + kWarps - 1) / kWarps));
    launchAhead(rowClass == RowClass::Decode ? kda_finish_kernel<RowClass::Decode>
                                             : kda_finish_kernel<RowClass::Prefill>,
                grid, kLanes * kWarps, 0, queue, "kda_finish_kernel", arguments);
}

} // namespace firesteel::kernels::cuda
