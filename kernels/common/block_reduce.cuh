// SPDX-License-Identifier: MIT
//
// Sums over the threads of a block in a fixed order.
#pragma once

#include <cuda_runtime.h>

namespace firesteel::kernels::cuda {

inline constexpr unsigned kAllLanes = 0xFFFFFFFFU;

__device__ inline float warpSum(float value)
{
    for (int offset = 16; offset > 0; offset /= 2)
        value += __shfl_xor_sync(kAllLanes, value, offset);
    return value;
}

// The sum of `value` over the block, in every thread. `shared` holds kThreads / 32 floats; the
// caller may reuse it after its next barrier.
template <int kThreads> __device__ inline float blockSum(float value, float *shared)
{
    constexpr int kWarps = kThreads / 32;
    value = warpSum(value);
    if (threadIdx.x % 32 == 0)
        shared[threadIdx.x / 32] = value;
    __syncthreads();
    float sum = 0;
    for (int warp = 0; warp < kWarps; ++warp)
        sum += shared[warp];
    return sum;
}

} // namespace firesteel::kernels::cuda
