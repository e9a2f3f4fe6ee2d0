// SPDX-License-Identifier: MIT
//
// Weights as stored, widened to float32 in registers.
#pragma once

#include "kernels/common/tensor.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <stdexcept>

namespace firesteel::kernels::cuda {

// Eight consecutive values from a multiple of eight on: 16 or 32 bytes, read past the first level
// cache, since each is used once.
template <DType kType>
__device__ inline void loadWeights8(float (&out)[8], const void *base, long long index)
{
    if constexpr (kType == DType::F32) {
        const auto *p = reinterpret_cast<const float4 *>(static_cast<const float *>(base) + index);
        const float4 a = __ldcg(p);
        const float4 b = __ldcg(p + 1);
        out[0] = a.x, out[1] = a.y, out[2] = a.z, out[3] = a.w;
        out[4] = b.x, out[5] = b.y, out[6] = b.z, out[7] = b.w;
    } else {
        const uint4 packed = __ldcg(
            reinterpret_cast<const uint4 *>(static_cast<const unsigned short *>(base) + index));
        const unsigned words[4] = { packed.x, packed.y, packed.z, packed.w };
        for (int i = 0; i < 4; ++i) {
            if constexpr (kType == DType::BF16) {
                out[2 * i] = __uint_as_float(words[i] << 16);
                out[2 * i + 1] = __uint_as_float(words[i] & 0xFFFF0000U);
            } else {
                const float2 pair = __half22float2(*reinterpret_cast<const __half2 *>(&words[i]));
                out[2 * i] = pair.x;
                out[2 * i + 1] = pair.y;
            }
        }
    }
}

template <DType kType> __device__ inline float loadWeight(const void *base, long long index)
{
    if constexpr (kType == DType::F32)
        return static_cast<const float *>(base)[index];
    else if constexpr (kType == DType::BF16)
        return __bfloat162float(static_cast<const __nv_bfloat16 *>(base)[index]);
    else
        return __half2float(static_cast<const __half *>(base)[index]);
}

// Calls body.operator()<type>() for the type of a matrix.
template <typename Body> void forDType(DType dtype, const Body &body)
{
    switch (dtype) {
    case DType::F32:
        return body.template operator()<DType::F32>();
    case DType::F16:
        return body.template operator()<DType::F16>();
    case DType::BF16:
        return body.template operator()<DType::BF16>();
    }
    throw std::logic_error("a matrix of unknown type");
}

} // namespace firesteel::kernels::cuda
