// SPDX-License-Identifier: MIT
//
// What      y[t] = x[t] W + bias, t < rows <= 72
// Layout    x [rows, in], y [rows, out] float32; trellis [in/16, out/16, 16 * rate] 16-bit words
// Limits    in, out multiples of 128; fast for MUL1 at rates 2..6, any other rate and codebook by a
//           loop that takes them at run time
// Traffic   in * out * rate / 8 + 2 (in + out) + 4 rows (in + out) bytes
// Work      2 * rows * in * out flop
// Plan      exl3_decode.cuh. Launch 1 rotates x to F16; launch 2 starts beside it, requests its
//           first weights and waits. A matrix of few columns is also split in depth, by its shape
//           alone; the block that arrives last adds the parts in order, rotates and scales.
//           Up to 8 rows: 64 registers, two blocks and 24 KB (rate 3) to 48 KB (rate 6) of weights
//           in flight a multiprocessor; more rows: 128 registers, one block, half as much.
// Measured  H200, rate 4, 4096 -> 24576, packed GB/s at 1 / 8 / 9 / 24 / 72 rows
//           on 48 multiprocessors: 806 / 802 / 645 / 588 / 264 (reading alone there: 4000)
//           on all 132: 1554 / 1541 / 1243 / 1145 / 507; docs/bench/h200
//           GB10 (231 GB/s read): not measured
#include "kernels/common/cuda_queue.cuh"
#include "kernels/exl3/exl3_backends.h"
#include "kernels/exl3/exl3_decode.cuh"

#include <algorithm>
#include <stdexcept>

namespace firesteel::kernels::cuda {

namespace {

constexpr int kRotateWarps = 8;

__global__ void __launch_bounds__(32 * kRotateWarps)
    exl3_decode_rotate_kernel(std::uint16_t *rotated, unsigned *counters, int counterCount,
                              const float *x, const std::uint16_t *suh, int blocks,
                              int blocksPerRow)
{
    cudaGridDependencySynchronize();
    cudaTriggerProgrammaticLaunchCompletion();
    const int index = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    for (int i = index; i < counterCount; i += static_cast<int>(gridDim.x * blockDim.x))
        counters[i] = 0;
    const int block = index / 32;
    if (block >= blocks)
        return;
    const int row = block / blocksPerRow;
    const int blockInRow = block % blocksPerRow;
    const float4 values = reinterpret_cast<const float4 *>(x)[index];
    exl3StoreFragments(rotated + static_cast<std::int64_t>(row) * blocksPerRow * kExl3Block,
                       blockInRow, exl3RotateInput(values, suh + blockInRow * kExl3Block));
}

struct LinearArguments
{
    float *y;
    const std::uint16_t *rotated; // [rows, in] in fragment order
    float *partials; // [splits, rows, out]
    unsigned *counters; // [out / 128], zero
    Exl3Matrix matrix;
    int rows;
    int splits; // blocks that share a depth
};

template <int kRate, int kGroups>
__global__ void __launch_bounds__(kDecodeThreads, kGroups > 1 ? 1 : 2)
    exl3_decode_linear_kernel(const LinearArguments arguments)
{
    constexpr int kAtOnce = kDecodeGroupsAtOnce<kGroups>;
    extern __shared__ __align__(16) unsigned char shared[];
    auto *partials = reinterpret_cast<float *>(shared);
    __shared__ int flag;
    const DecodeThread thread;
    const Exl3Matrix &m = arguments.matrix;
    const int chunks = m.out / kExl3Block;
    const int steps = m.in / kDecodeStep;
    const int units = chunks * arguments.splits;
    const int rows = arguments.rows;

    const auto finish = [&](float4 sum, int row, int chunk) {
        const int column = chunk * kExl3Block + 4 * thread.lane;
        float4 y = exl3RotateOutput(sum, m.svh + chunk * kExl3Block, thread.lane);
        if (m.bias != nullptr) {
            const auto *bias = reinterpret_cast<const __half *>(m.bias) + column;
            y = make_float4(y.x + __half2float(bias[0]), y.y + __half2float(bias[1]),
                            y.z + __half2float(bias[2]), y.w + __half2float(bias[3]));
        }
        *reinterpret_cast<float4 *>(arguments.y + static_cast<std::int64_t>(row) * m.out + column)
            = y;
    };

    for (int unit = static_cast<int>(blockIdx.x); unit < units;
         unit += static_cast<int>(gridDim.x)) {
        const int chunk = unit % chunks;
        const int split = unit / chunks;
        DecodeSums<kGroups> sums = {};
        exl3Multiply<kRate, kGroups>(sums, m, chunk, split * steps / arguments.splits,
                                     (split + 1) * steps / arguments.splits,
                                     { arguments.rotated, m.in, rows }, thread, shared,
                                     [] { cudaGridDependencySynchronize(); });
#pragma unroll
        for (int first = 0; first < kGroups; first += kAtOnce) {
            if (kDecodeGroup * first >= rows)
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
            if (group < kAtOnce && row < rows) {
                const float4 sum
                    = exl3RowSum(partials + group * kDecodeDepthWarps * kDecodePartialFloats,
                                 thread.warp % kDecodeGroup, thread.lane);
                if (arguments.splits == 1)
                    finish(sum, row, chunk);
                else
                    *reinterpret_cast<float4 *>(
                        arguments.partials + (static_cast<std::int64_t>(split) * rows + row) * m.out
                        + chunk * kExl3Block + 4 * thread.lane)
                        = sum;
            }
        }
        if (arguments.splits > 1
            && exl3ArriveLast(arguments.counters + chunk, static_cast<unsigned>(arguments.splits),
                              &flag)) {
            for (int row = thread.warp; row < rows; row += kDecodeThreads / 32) {
                const auto *source = reinterpret_cast<const float4 *>(
                    arguments.partials + static_cast<std::int64_t>(row) * m.out + chunk * kExl3Block
                    + 4 * thread.lane);
                const std::int64_t stride = static_cast<std::int64_t>(rows) * m.out / 4;
                float4 sum = __ldcg(source);
                for (int i = 1; i < arguments.splits; ++i) {
                    const float4 part = __ldcg(source + i * stride);
                    sum = make_float4(sum.x + part.x, sum.y + part.y, sum.z + part.z,
                                      sum.w + part.w);
                }
                finish(sum, row, chunk);
            }
        }
    }
}

// Blocks that share a matrix's depth: what gives the shortest schedule on 48 multiprocessors (a
// GB10) of two blocks each, if starting and ending a block costs two steps of a warp. By shape
// alone, so that results do not depend on the GPU's size.
int depthSplits(const Exl3Matrix &m)
{
    constexpr int kSlots = 96;
    constexpr int kOverhead = 2;
    const int chunks = m.out / kExl3Block;
    const int steps = m.in / kDecodeStep;
    int best = 1;
    int bestCost = 0;
    for (int splits = 1; splits <= std::min(16, std::max(1, steps / kDecodeDepthWarps)); ++splits) {
        const int perUnit = (steps + splits * kDecodeDepthWarps - 1) / (splits * kDecodeDepthWarps);
        const int cost = (chunks * splits + kSlots - 1) / kSlots * (perUnit + kOverhead);
        if (splits == 1 || cost < bestCost) {
            best = splits;
            bestCost = cost;
        }
    }
    return best;
}

std::size_t aligned(std::size_t bytes) { return (bytes + 255) / 256 * 256; }

std::size_t rotatedBytes(const Exl3Matrix &m, std::int64_t rows)
{
    return aligned(static_cast<std::size_t>(rows) * static_cast<std::size_t>(m.in) * 2);
}

std::size_t counterBytes(const Exl3Matrix &m)
{
    return aligned(static_cast<std::size_t>(m.out / kExl3Block) * sizeof(unsigned));
}

template <int kRate, int kGroups> void launch(const LinearArguments &arguments, CudaQueue &queue)
{
    const int units = arguments.matrix.out / kExl3Block * arguments.splits;
    const int slots = queue.multiprocessors() * (kGroups > 1 ? 1 : 2);
    const auto kernel = exl3_decode_linear_kernel<kRate, kGroups>;
    checkCuda(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   kDecodeSharedBytes<kGroups>),
              "cudaFuncSetAttribute");
    launchAhead(kernel, dim3(static_cast<unsigned>(std::min(units, slots))), kDecodeThreads,
                kDecodeSharedBytes<kGroups>, queue, "exl3_decode_linear_kernel", arguments);
}

template <int kRate> void launchRate(const LinearArguments &arguments, CudaQueue &queue)
{
    if (arguments.rows <= kDecodeGroup)
        launch<kRate, 1>(arguments, queue);
    else if (arguments.rows <= 3 * kDecodeGroup)
        launch<kRate, 3>(arguments, queue);
    else
        launch<kRate, kDecodeMaxGroups>(arguments, queue);
}

} // namespace

//------------------------------------------------------------------------------------------------

std::size_t exl3DecodeLinearScratchBytes(const Exl3Matrix &m, std::int64_t rows)
{
    const auto partialFloats = static_cast<std::size_t>(depthSplits(m))
        * static_cast<std::size_t>(rows) * static_cast<std::size_t>(m.out);
    return rotatedBytes(m, rows) + counterBytes(m)
        + (depthSplits(m) > 1 ? partialFloats * sizeof(float) : 0);
}

void exl3DecodeLinear(std::span<float> y, std::span<const float> x, const Exl3Matrix &m,
                      std::int64_t rows, const Exl3Scratch &scratch, CudaQueue &queue)
{
    if (exl3TrellisBytes(m) >= kDecodeMaxTrellis)
        throw std::logic_error("EXL3: a trellis of 4 GiB or more in a decode step");
    std::byte *bytes = scratch.bytes.data();
    auto *rotated = reinterpret_cast<std::uint16_t *>(bytes);
    auto *counters = reinterpret_cast<unsigned *>(bytes + rotatedBytes(m, rows));
    const int blocksPerRow = m.in / kExl3Block;
    const int blocks = static_cast<int>(rows) * blocksPerRow;
    launchAhead(exl3_decode_rotate_kernel,
                dim3(static_cast<unsigned>((blocks + kRotateWarps - 1) / kRotateWarps)),
                32 * kRotateWarps, 0, queue, "exl3_decode_rotate_kernel", rotated, counters,
                m.out / kExl3Block, x.data(), m.suh, blocks, blocksPerRow);
    const LinearArguments arguments {
        .y = y.data(),
        .rotated = rotated,
        .partials = reinterpret_cast<float *>(bytes + rotatedBytes(m, rows) + counterBytes(m)),
        .counters = counters,
        .matrix = m,
        .rows = static_cast<int>(rows),
        .splits = depthSplits(m),
    };
    switch (m.codebook == Exl3Codebook::Mul1 ? m.rate : 0) {
    case 2:
        return launchRate<2>(arguments, queue);
    case 3:
        return launchRate<3>(arguments, queue);
    case 4:
        return launchRate<4>(arguments, queue);
    case 5:
        return launchRate<5>(arguments, queue);
    case 6:
        return launchRate<6>(arguments, queue);
    default:
        return launchRate<0>(arguments, queue);
    }
}

} // namespace firesteel::kernels::cuda
