// SPDX-License-Identifier: MIT
//
// Routed experts with plain weights: those of small models. A warp computes one output of one
// assignment, reading the weights once a row; rows that share an expert find them in the cache.
#include "kernels/common/block_reduce.cuh"
#include "kernels/common/cuda_queue.cuh"
#include "kernels/common/load_weights.cuh"
#include "kernels/moe/moe_backends.h"

namespace firesteel::kernels::cuda {

namespace {

constexpr int kWarps = 8;
constexpr int kThreads = 32 * kWarps;

// sum_k x[k] w[row, k], in every lane.
__device__ float product(const Matrix &w, int row, const float *x)
{
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int inputs = static_cast<int>(w.cols);
    float sum = 0;
    for (int k = 8 * lane; k < inputs; k += 256) {
        float values[8];
        const long long at = static_cast<long long>(row) * inputs + k;
        if (w.dtype == DType::F32)
            loadWeights8<DType::F32>(values, w.data, at);
        else if (w.dtype == DType::F16)
            loadWeights8<DType::F16>(values, w.data, at);
        else
            loadWeights8<DType::BF16>(values, w.data, at);
#pragma unroll
        for (int i = 0; i < 8; ++i)
            sum = fmaf(x[k + i], values[i], sum);
    }
    return warpSum(sum);
}

// hidden[slot, n] = swiglu(gate x, up x)
__global__ __launch_bounds__(kThreads) void gateUpKernel(float *activated, const float *x,
                                                         const std::int32_t *experts,
                                                         const ExpertWeights *table, int perToken,
                                                         int hidden, int width, float limit)
{
    const int slot = static_cast<int>(blockIdx.y);
    const int column = static_cast<int>(blockIdx.x) * kWarps + static_cast<int>(threadIdx.x) / 32;
    if (column >= width)
        return;
    const ExpertWeights &expert = table[experts[slot]];
    const float *row = x + static_cast<long long>(slot / perToken) * hidden;
    const float gate = fminf(product(expert.gate, column, row), limit);
    const float up = fminf(fmaxf(product(expert.up, column, row), -limit), limit);
    if (threadIdx.x % 32 == 0)
        activated[static_cast<long long>(slot) * width + column] = gate / (1.0F + expf(-gate)) * up;
}

__global__ __launch_bounds__(kThreads) void downKernel(float *y, const float *activated,
                                                       const std::int32_t *experts,
                                                       const float *weights,
                                                       const ExpertWeights *table, int perToken,
                                                       int hidden, int width)
{
    const int row = static_cast<int>(blockIdx.y);
    const int column = static_cast<int>(blockIdx.x) * kWarps + static_cast<int>(threadIdx.x) / 32;
    if (column >= hidden)
        return;
    float sum = 0;
    for (int i = 0; i < perToken; ++i) {
        const long long slot = static_cast<long long>(row) * perToken + i;
        sum = fmaf(weights[slot],
                   product(table[experts[slot]].down, column, activated + slot * width), sum);
    }
    if (threadIdx.x % 32 == 0)
        y[static_cast<long long>(row) * hidden + column] = sum;
}

unsigned blocksOf(std::int64_t columns)
{
    return static_cast<unsigned>((columns + kWarps - 1) / kWarps);
}

} // namespace

void moeExperts(std::span<float> y, std::span<const float> x, std::span<const std::int32_t> experts,
                std::span<const float> weights, std::span<const ExpertWeights> table,
                const MoeScratch &scratch, const MoeShape &shape, std::int64_t rows,
                CudaQueue &queue)
{
    if (rows == 0)
        return;
    const int perToken = static_cast<int>(shape.expertsPerToken);
    const int hidden = static_cast<int>(shape.hidden);
    const int width = static_cast<int>(shape.expertWidth);
    gateUpKernel<<<dim3(blocksOf(width), static_cast<unsigned>(rows * perToken)), kThreads, 0,
                   queue.stream()>>>(scratch.gate.data(), x.data(), experts.data(), table.data(),
                                     perToken, hidden, width, shape.swigluLimit);
    checkLaunch("gateUpKernel");
    downKernel<<<dim3(blocksOf(hidden), static_cast<unsigned>(rows)), kThreads, 0,
                 queue.stream()>>>(y.data(), scratch.gate.data(), experts.data(), weights.data(),
                                   table.data(), perToken, hidden, width);
    checkLaunch("downKernel");
}

} // namespace firesteel::kernels::cuda
