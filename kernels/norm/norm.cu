// SPDX-License-Identifier: MIT
//
// One block per row, which is read twice: the second time it comes from the first level cache.
#include "kernels/common/block_reduce.cuh"
#include "kernels/common/cuda_queue.cuh"
#include "kernels/norm/norm_backends.h"

namespace firesteel::kernels::cuda {

namespace {

constexpr int kThreads = 256;

__global__ __launch_bounds__(kThreads) void rmsNormKernel(float *y, const float *x,
                                                          const float *weight, float eps, int cols)
{
    __shared__ float shared[kThreads / 32];
    const long long row = static_cast<long long>(blockIdx.x) * cols;
    float squares = 0;
    for (int c = threadIdx.x; c < cols; c += kThreads)
        squares = fmaf(x[row + c], x[row + c], squares);
    const float mean = blockSum<kThreads>(squares, shared) / static_cast<float>(cols);
    const float scale = 1.0F / sqrtf(mean + eps);
    for (int c = threadIdx.x; c < cols; c += kThreads)
        y[row + c] = x[row + c] * scale * weight[c];
}

__global__ __launch_bounds__(kThreads) void layerNormKernel(float *y, const float *x,
                                                            const float *weight, const float *bias,
                                                            float eps, int cols)
{
    __shared__ float sums[kThreads / 32];
    __shared__ float squareSums[kThreads / 32];
    const long long row = static_cast<long long>(blockIdx.x) * cols;
    float sum = 0;
    for (int c = threadIdx.x; c < cols; c += kThreads)
        sum += x[row + c];
    const float mean = blockSum<kThreads>(sum, sums) / static_cast<float>(cols);
    float squares = 0;
    for (int c = threadIdx.x; c < cols; c += kThreads) {
        const float centred = x[row + c] - mean;
        squares = fmaf(centred, centred, squares);
    }
    const float variance = blockSum<kThreads>(squares, squareSums) / static_cast<float>(cols);
    const float scale = 1.0F / sqrtf(variance + eps);
    for (int c = threadIdx.x; c < cols; c += kThreads)
        y[row + c] = (x[row + c] - mean) * scale * weight[c] + bias[c];
}

} // namespace

void rmsNorm(std::span<float> y, std::span<const float> x, std::span<const float> weight, float eps,
             std::int64_t rows, CudaQueue &queue)
{
    if (rows == 0)
        return;
    rmsNormKernel<<<static_cast<unsigned>(rows), kThreads, 0, queue.stream()>>>(
        y.data(), x.data(), weight.data(), eps, static_cast<int>(weight.size()));
    checkLaunch("rmsNormKernel");
}

void layerNorm(std::span<float> y, std::span<const float> x, std::span<const float> weight,
               std::span<const float> bias, float eps, std::int64_t rows, CudaQueue &queue)
{
    if (rows == 0)
        return;
    layerNormKernel<<<static_cast<unsigned>(rows), kThreads, 0, queue.stream()>>>(
        y.data(), x.data(), weight.data(), bias.data(), eps, static_cast<int>(weight.size()));
    checkLaunch("layerNormKernel");
}

} // namespace firesteel::kernels::cuda
