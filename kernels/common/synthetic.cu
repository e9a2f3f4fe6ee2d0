// SPDX-License-Identifier: MIT
#include "kernels/common/cuda_queue.cuh"
#include "kernels/common/synthetic.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>

namespace firesteel::kernels {

namespace {

constexpr int kThreads = 256;
constexpr int kBlocks = 2048;

// SplitMix64, one step from any state.
__device__ unsigned long long mixed(unsigned long long state)
{
    state = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9ULL;
    state = (state ^ (state >> 27)) * 0x94D049BB133111EBULL;
    return state ^ (state >> 31);
}

__device__ unsigned long long bitsAt(unsigned long long seed, unsigned long long index)
{
    return mixed(seed + (index + 1) * 0x9E3779B97F4A7C15ULL);
}

__global__ void bitsKernel(unsigned char *out, unsigned long long bytes, unsigned long long seed)
{
    const unsigned long long step = static_cast<unsigned long long>(gridDim.x) * kThreads;
    for (unsigned long long word = blockIdx.x * kThreads + threadIdx.x; word * 8 < bytes;
         word += step) {
        const unsigned long long bits = bitsAt(seed, word);
        for (unsigned long long i = 0; i < 8 && word * 8 + i < bytes; ++i)
            out[word * 8 + i] = static_cast<unsigned char>(bits >> (8 * i));
    }
}

template <typename T>
__global__ void valuesKernel(T *out, unsigned long long count, float scale, unsigned long long seed)
{
    const unsigned long long step = static_cast<unsigned long long>(gridDim.x) * kThreads;
    for (unsigned long long i = blockIdx.x * kThreads + threadIdx.x; i < count; i += step) {
        const float unit = static_cast<float>(bitsAt(seed, i) >> 40) * 0x1p-23F - 1.0F;
        out[i] = static_cast<T>(unit * scale);
    }
}

} // namespace

void fillRandomBits(void *device, std::size_t bytes, std::uint64_t seed, CudaQueue &queue)
{
    bitsKernel<<<kBlocks, kThreads, 0, queue.stream()>>>(static_cast<unsigned char *>(device),
                                                         bytes, seed);
    checkLaunch("bitsKernel");
}

void fillRandomValues(void *device, std::size_t count, DType dtype, float scale, std::uint64_t seed,
                      CudaQueue &queue)
{
    const auto launch = [&]<typename T>(T *out) {
        valuesKernel<<<kBlocks, kThreads, 0, queue.stream()>>>(out, count, scale, seed);
    };
    if (dtype == DType::F32)
        launch(static_cast<float *>(device));
    else if (dtype == DType::F16)
        launch(static_cast<__half *>(device));
    else
        launch(static_cast<__nv_bfloat16 *>(device));
    checkLaunch("valuesKernel");
}

} // namespace firesteel::kernels
