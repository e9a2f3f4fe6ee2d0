// SPDX-License-Identifier: MIT
//
// The rotation of a 128-block by one warp.
#pragma once

#include "kernels/exl3/exl3.h"

#include <cuda_fp16.h>

namespace firesteel::kernels {

// values of lane l are elements 4l .. 4l+3 of a block; on return, of the block times H (128x128
// Hadamard in natural order over sqrt(128)). The order of additions is part of the format's
// reference arithmetic (exl3_reference.cpp has the same).
__device__ __forceinline__ void exl3Hadamard(float (&values)[4])
{
    const float sum0 = values[0] + values[1];
    const float sum1 = values[2] + values[3];
    const float difference0 = values[0] - values[1];
    const float difference1 = values[2] - values[3];
    values[0] = sum0 + sum1;
    values[1] = difference0 + difference1;
    values[2] = sum0 - sum1;
    values[3] = difference0 - difference1;
    const unsigned lane = threadIdx.x % 32;
#pragma unroll
    for (unsigned stride = 1; stride < 32; stride *= 2) {
        const bool isUpper = (lane & stride) != 0;
#pragma unroll
        for (float &value : values) {
            const float partner = __shfl_xor_sync(0xFFFFFFFFU, value, static_cast<int>(stride));
            value = (isUpper ? -value : value) + partner;
        }
    }
#pragma unroll
    for (float &value : values)
        value *= 0.088388347648F;
}

// Elements 4l .. 4l+3 of F16( (values * suh) H ), packed; suh points to the block's first scale.
__device__ __forceinline__ uint2 exl3RotateInput(float4 x, const std::uint16_t *suh)
{
    const uint2 scales = reinterpret_cast<const uint2 *>(suh)[threadIdx.x % 32];
    const float2 low = __half22float2(reinterpret_cast<const __half2 &>(scales.x));
    const float2 high = __half22float2(reinterpret_cast<const __half2 &>(scales.y));
    float values[4] = { __fmul_rn(x.x, low.x), __fmul_rn(x.y, low.y), __fmul_rn(x.z, high.x),
                        __fmul_rn(x.w, high.y) };
    exl3Hadamard(values);
    const __half2 first = __floats2half2_rn(values[0], values[1]);
    const __half2 second = __floats2half2_rn(values[2], values[3]);
    return make_uint2(reinterpret_cast<const unsigned &>(first),
                      reinterpret_cast<const unsigned &>(second));
}

} // namespace firesteel::kernels
