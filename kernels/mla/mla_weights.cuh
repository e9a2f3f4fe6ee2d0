// SPDX-License-Identifier: MIT
//
// Eight neighbouring weights of kv_b at a time, as stored and widened to float32.
#pragma once

#include "kernels/common/tensor.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdint>

namespace firesteel::kernels::cuda {

template <DType kType> struct EightWeights
{
    uint4 bits; // 16-bit types

    __device__ void load(const void *weights, std::int64_t index)
    {
        bits = __ldg(
            reinterpret_cast<const uint4 *>(static_cast<const std::uint16_t *>(weights) + index));
    }
    __device__ void widen(float (&to)[8]) const
    {
        const std::uint32_t pairs[4] { bits.x, bits.y, bits.z, bits.w };
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            float2 wide;
            if constexpr (kType == DType::F16)
                wide = __half22float2(*reinterpret_cast<const __half2 *>(&pairs[i]));
            else
                wide = make_float2(__uint_as_float(pairs[i] << 16),
                                   __uint_as_float(pairs[i] & 0xFFFF0000U));
            to[2 * i] = wide.x;
            to[2 * i + 1] = wide.y;
        }
    }
};

template <> struct EightWeights<DType::F32>
{
    float4 lower, upper;

    __device__ void load(const void *weights, std::int64_t index)
    {
        const auto *from
            = reinterpret_cast<const float4 *>(static_cast<const float *>(weights) + index);
        lower = __ldg(from);
        upper = __ldg(from + 1);
    }
    __device__ void widen(float (&to)[8]) const
    {
        const float values[8] { lower.x, lower.y, lower.z, lower.w,
                                upper.x, upper.y, upper.z, upper.w };
#pragma unroll
        for (int i = 0; i < 8; ++i)
            to[i] = values[i];
    }
};

// Calls call.template operator()<type>().
template <typename Call> void forDType(DType type, const Call &call)
{
    switch (type) {
    case DType::F32:
        return call.template operator()<DType::F32>();
    case DType::F16:
        return call.template operator()<DType::F16>();
    case DType::BF16:
        return call.template operator()<DType::BF16>();
    }
}

} // namespace firesteel::kernels::cuda
