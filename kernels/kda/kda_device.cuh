// SPDX-License-Identifier: MIT
//
// What the CUDA kernels of KDA share: one head's 128 channels are four to a lane of a warp.
#pragma once

#include "kernels/kda/kda_backends.h"

#include <cuda_runtime.h>

namespace firesteel::kernels::cuda {

inline constexpr int kHeadDim = static_cast<int>(kKdaCudaHeadDim);
inline constexpr int kLanes = 32;
inline constexpr unsigned kAllLanes = 0xFFFFFFFFU;

// In a fixed order, the same bits in every lane.
__device__ __forceinline__ float warpSum(float value)
{
#pragma unroll
    for (int distance = kLanes / 2; distance > 0; distance /= 2)
        value = __fadd_rn(value, __shfl_xor_sync(kAllLanes, value, distance));
    return value;
}

__device__ __forceinline__ float squares(float4 x)
{
    return fmaf(x.w, x.w, fmaf(x.z, x.z, fmaf(x.y, x.y, __fmul_rn(x.x, x.x))));
}

__device__ __forceinline__ float4 scaled(float4 x, float factor)
{
    return make_float4(__fmul_rn(x.x, factor), __fmul_rn(x.y, factor), __fmul_rn(x.z, factor),
                       __fmul_rn(x.w, factor));
}

__device__ __forceinline__ float sigmoid(float x)
{
    return __fdiv_rn(1.0F, __fadd_rn(1.0F, expf(-x)));
}

// sum + a * b, for four columns.
__device__ __forceinline__ void multiplyAdd(float4 &sum, float a, float4 b)
{
    sum.x = fmaf(a, b.x, sum.x);
    sum.y = fmaf(a, b.y, sum.y);
    sum.z = fmaf(a, b.z, sum.z);
    sum.w = fmaf(a, b.w, sum.w);
}

__device__ __forceinline__ float4 load4(const float *p)
{
    return *reinterpret_cast<const float4 *>(p);
}

__device__ __forceinline__ void store4(float *p, float4 value)
{
    *reinterpret_cast<float4 *>(p) = value;
}

} // namespace firesteel::kernels::cuda
