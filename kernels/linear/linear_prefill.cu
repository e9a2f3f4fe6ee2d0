// SPDX-License-Identifier: MIT
//
// Plain products of the prefill class, and copies of rows. A block computes a tile of 64 rows and
// 64 outputs, 4x4 in each of its 256 threads, over slices of 16 of the inner dimension in shared
// memory. Float32 throughout: these matrices are a hundredth of a prompt's arithmetic, but the
// router and the decays live on their precision. Every element is summed over k in order.
#include "kernels/common/cuda_queue.cuh"
#include "kernels/common/load_weights.cuh"
#include "kernels/linear/linear_backends.h"

namespace firesteel::kernels::cuda {

namespace {

constexpr int kThreads = 256;
constexpr int kTile = 64;
constexpr int kDepth = 16;
constexpr int kPad = 4; // keeps the transposed stores off each other's banks

template <DType kType>
__global__ __launch_bounds__(kThreads) void prefillLinearKernel(float *y, const float *x,
                                                                const void *w, long long yStride,
                                                                int outputs, int inputs, int rows)
{
    __shared__ float xTile[kDepth][kTile + kPad];
    __shared__ float wTile[kDepth][kTile + kPad];
    const int firstOutput = static_cast<int>(blockIdx.x) * kTile;
    const int firstRow = static_cast<int>(blockIdx.y) * kTile;
    // Each thread brings four consecutive values of one row of each tile.
    const int loadRow = static_cast<int>(threadIdx.x) / 4;
    const int loadColumn = static_cast<int>(threadIdx.x) % 4 * 4;
    const long long xRow = min(firstRow + loadRow, rows - 1);
    const long long wRow = min(firstOutput + loadRow, outputs - 1);
    const int tx = static_cast<int>(threadIdx.x) % 16;
    const int ty = static_cast<int>(threadIdx.x) / 16;
    float sums[4][4] = {};
    for (int k = 0; k < inputs; k += kDepth) {
        for (int i = 0; i < 4; ++i) {
            const int column = k + loadColumn + i;
            const bool inside = column < inputs; // inputs is a multiple of 8
            xTile[loadColumn + i][loadRow] = inside ? x[xRow * inputs + column] : 0.0F;
            wTile[loadColumn + i][loadRow]
                = inside ? loadWeight<kType>(w, wRow * inputs + column) : 0.0F;
        }
        __syncthreads();
#pragma unroll
        for (int depth = 0; depth < kDepth; ++depth) {
            const float4 a = *reinterpret_cast<const float4 *>(&xTile[depth][4 * ty]);
            const float4 b = *reinterpret_cast<const float4 *>(&wTile[depth][4 * tx]);
            const float left[4] = { a.x, a.y, a.z, a.w };
            const float right[4] = { b.x, b.y, b.z, b.w };
#pragma unroll
            for (int i = 0; i < 4; ++i)
#pragma unroll
                for (int j = 0; j < 4; ++j)
                    sums[i][j] = fmaf(left[i], right[j], sums[i][j]);
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; ++i) {
        const int row = firstRow + 4 * ty + i;
        for (int j = 0; j < 4; ++j) {
            const int output = firstOutput + 4 * tx + j;
            if (row < rows && output < outputs)
                y[row * yStride + output] = sums[i][j];
        }
    }
}

template <DType kType>
__global__ __launch_bounds__(kThreads) void embedKernel(float *y, const std::int32_t *ids,
                                                        const void *table, int columns, int copies)
{
    const long long row = blockIdx.x;
    const long long source = static_cast<long long>(ids[row]) * columns;
    for (int c = static_cast<int>(threadIdx.x); c < columns; c += kThreads) {
        const float value = loadWeight<kType>(table, source + c);
        for (int copy = 0; copy < copies; ++copy)
            y[(row * copies + copy) * columns + c] = value;
    }
}

} // namespace

void prefillLinear(const LinearPart &part, std::int64_t rows, CudaQueue &queue)
{
    const dim3 grid(static_cast<unsigned>((part.w.rows + kTile - 1) / kTile),
                    static_cast<unsigned>((rows + kTile - 1) / kTile));
    forDType(part.w.dtype, [&]<DType kType>() {
        prefillLinearKernel<kType><<<grid, kThreads, 0, queue.stream()>>>(
            part.y.data(), part.x.data(), part.w.data, part.yStride, static_cast<int>(part.w.rows),
            static_cast<int>(part.w.cols), static_cast<int>(rows));
    });
    checkLaunch("prefillLinearKernel");
}

void embed(std::span<float> y, std::span<const std::int32_t> ids, const Matrix &table,
           std::int64_t copies, CudaQueue &queue)
{
    if (ids.empty())
        return;
    forDType(table.dtype, [&]<DType kType>() {
        embedKernel<kType><<<static_cast<unsigned>(ids.size()), kThreads, 0, queue.stream()>>>(
            y.data(), ids.data(), table.data, static_cast<int>(table.cols),
            static_cast<int>(copies));
    });
    checkLaunch("embedKernel");
}

void copyRows(std::span<float> y, std::int64_t yStride, std::span<const float> x,
              std::int64_t columns, std::int64_t rows, CudaQueue &queue)
{
    constexpr std::size_t kFloat = sizeof(float);
    checkCuda(cudaMemcpy2DAsync(y.data(), static_cast<std::size_t>(yStride) * kFloat, x.data(),
                                static_cast<std::size_t>(columns) * kFloat,
                                static_cast<std::size_t>(columns) * kFloat,
                                static_cast<std::size_t>(rows), cudaMemcpyDeviceToDevice,
                                queue.stream()),
              "cudaMemcpy2D");
}

} // namespace firesteel::kernels::cuda
