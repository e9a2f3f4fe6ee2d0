// SPDX-License-Identifier: MIT
//
// Plain products of the decode class: bound by reading the weights, once for up to eight rows.
//
// A warp computes two outputs of eight rows. Lane l takes k = 8 l + 256 i: 16 bytes of each weight
// row (32 of a float32 one), used for all rows; then the lanes' sums are added by shuffles. The
// order of a row's sum is fixed by k alone, so it is the same at every row count. The row count is
// known when the kernel is compiled, so that the loads of all rows are in flight together (six rows
// of 4096 -> 320 on an H200: 33 us with the count in a loop). More than eight rows take the weights
// again, from the L2 cache. The matrices of a call share one grid.
#include "kernels/common/block_reduce.cuh"
#include "kernels/common/cuda_queue.cuh"
#include "kernels/common/load_weights.cuh"
#include "kernels/linear/linear_backends.h"

#include <algorithm>

namespace firesteel::kernels::cuda {

namespace {

constexpr int kWarps = 4;
constexpr int kThreads = 32 * kWarps;
constexpr int kRows = 8; // rows of one pass over the weights
constexpr int kOutputs = 2; // outputs of a warp
constexpr int kBlockOutputs = kWarps * kOutputs;

struct Part
{
    float *y;
    const float *x;
    const void *w;
    long long yStride;
    int outputs;
    int inputs;
    int firstBlock;
    DType dtype;
};

struct Parts
{
    Part part[kMaxLinearParts];
    int count;
};

template <DType kType, int kCount>
__device__ void products(const Part &p, int firstOutput, int firstRow)
{
    const int lane = static_cast<int>(threadIdx.x) % 32;
    float sums[kOutputs][kCount] = {};
#pragma unroll 2
    for (int k = 8 * lane; k < p.inputs; k += 256) {
        float w[kOutputs][8];
#pragma unroll
        for (int n = 0; n < kOutputs; ++n) {
            // An output beyond the last repeats it and is not written.
            const long long output = min(firstOutput + n, p.outputs - 1);
            loadWeights8<kType>(w[n], p.w, output * p.inputs + k);
        }
#pragma unroll
        for (int r = 0; r < kCount; ++r) {
            const auto *in = reinterpret_cast<const float4 *>(
                p.x + static_cast<long long>(firstRow + r) * p.inputs + k);
            const float4 a = in[0];
            const float4 b = in[1];
            const float x[8] = { a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w };
#pragma unroll
            for (int n = 0; n < kOutputs; ++n)
#pragma unroll
                for (int i = 0; i < 8; ++i)
                    sums[n][r] = fmaf(x[i], w[n][i], sums[n][r]);
        }
    }
#pragma unroll
    for (int n = 0; n < kOutputs; ++n)
#pragma unroll
        for (int r = 0; r < kCount; ++r) {
            const float sum = warpSum(sums[n][r]);
            if (lane == 0 && firstOutput + n < p.outputs)
                p.y[(firstRow + r) * p.yStride + firstOutput + n] = sum;
        }
}

template <int kCount> __device__ void productsOf(const Part &p, int firstOutput, int firstRow)
{
    if (p.dtype == DType::F32)
        products<DType::F32, kCount>(p, firstOutput, firstRow);
    else if (p.dtype == DType::F16)
        products<DType::F16, kCount>(p, firstOutput, firstRow);
    else
        products<DType::BF16, kCount>(p, firstOutput, firstRow);
}

// kCount: rows of the last block of rows; those before it have kRows.
template <int kCount>
__global__ __launch_bounds__(kThreads) void decodeLinearKernel(const Parts parts)
{
    int index = 0;
    while (index + 1 < parts.count
           && static_cast<int>(blockIdx.x) >= parts.part[index + 1].firstBlock)
        ++index;
    const Part &p = parts.part[index];
    const int warp = static_cast<int>(threadIdx.x) / 32;
    const int output
        = (static_cast<int>(blockIdx.x) - p.firstBlock) * kBlockOutputs + warp * kOutputs;
    if (output >= p.outputs)
        return;
    const int firstRow = static_cast<int>(blockIdx.y) * kRows;
    if (blockIdx.y + 1 == gridDim.y)
        productsOf<kCount>(p, output, firstRow);
    else
        productsOf<kRows>(p, output, firstRow);
}

using Kernel = void (*)(Parts);

// The kernel for so many rows in the last block.
Kernel kernelOf(int count)
{
    constexpr Kernel kKernels[kRows]
        = { decodeLinearKernel<1>, decodeLinearKernel<2>, decodeLinearKernel<3>,
            decodeLinearKernel<4>, decodeLinearKernel<5>, decodeLinearKernel<6>,
            decodeLinearKernel<7>, decodeLinearKernel<8> };
    return kKernels[count - 1];
}

} // namespace

void decodeLinears(std::span<const LinearPart> parts, std::int64_t rows, CudaQueue &queue)
{
    Parts table {};
    int blocks = 0;
    for (const LinearPart &part : parts) {
        table.part[table.count++] = { .y = part.y.data(),
                                      .x = part.x.data(),
                                      .w = part.w.data,
                                      .yStride = part.yStride,
                                      .outputs = static_cast<int>(part.w.rows),
                                      .inputs = static_cast<int>(part.w.cols),
                                      .firstBlock = blocks,
                                      .dtype = part.w.dtype };
        blocks += (static_cast<int>(part.w.rows) + kBlockOutputs - 1) / kBlockOutputs;
    }
    const dim3 grid(static_cast<unsigned>(blocks),
                    static_cast<unsigned>((rows + kRows - 1) / kRows));
    const int last = static_cast<int>((rows - 1) % kRows) + 1;
    kernelOf(last)<<<grid, kThreads, 0, queue.stream()>>>(table);
    checkLaunch("decodeLinearKernel");
}

} // namespace firesteel::kernels::cuda
