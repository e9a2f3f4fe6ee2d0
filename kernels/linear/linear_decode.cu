// SPDX-License-Identifier: MIT
//
// Plain products of the decode class: bound by reading the weights, once for up to eight rows.
//
// A warp computes two outputs of eight rows. Lane l takes k = 8 l + 256 i: 16 bytes of each weight
// row (32 of a float32 one), used for all rows; then the lanes' sums are added by shuffles. The
// order of a row's sum is fixed by k alone, so it is the same at every row count. More rows take
// the weights again, from the L2 cache. The matrices of a call share one grid.
#include "kernels/common/block_reduce.cuh"
#include "kernels/common/cuda_queue.cuh"
#include "kernels/common/load_weights.cuh"
#include "kernels/linear/linear_backends.h"

#include <algorithm>

namespace firesteel::kernels::cuda {

namespace {

constexpr int kWarps = 8;
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

template <DType kType>
__device__ void products(const Part &p, int firstOutput, int firstRow, int rows)
{
    const int lane = static_cast<int>(threadIdx.x) % 32;
    float sums[kOutputs][kRows] = {};
    for (int k = 8 * lane; k < p.inputs; k += 256) {
        float w[kOutputs][8];
        for (int n = 0; n < kOutputs; ++n) {
            // An output beyond the last repeats it and is not written.
            const long long output = min(firstOutput + n, p.outputs - 1);
            loadWeights8<kType>(w[n], p.w, output * p.inputs + k);
        }
#pragma unroll
        for (int r = 0; r < kRows; ++r) {
            if (r >= rows)
                break;
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
        for (int r = 0; r < kRows; ++r) {
            if (r >= rows)
                break;
            const float sum = warpSum(sums[n][r]);
            if (lane == 0 && firstOutput + n < p.outputs)
                p.y[(firstRow + r) * p.yStride + firstOutput + n] = sum;
        }
}

__global__ __launch_bounds__(kThreads) void decodeLinearKernel(const Parts parts, int rows)
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
    const int count = min(kRows, rows - firstRow);
    if (p.dtype == DType::F32)
        products<DType::F32>(p, output, firstRow, count);
    else if (p.dtype == DType::F16)
        products<DType::F16>(p, output, firstRow, count);
    else
        products<DType::BF16>(p, output, firstRow, count);
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
    decodeLinearKernel<<<grid, kThreads, 0, queue.stream()>>>(table, static_cast<int>(rows));
    checkLaunch("decodeLinearKernel");
}

} // namespace firesteel::kernels::cuda
