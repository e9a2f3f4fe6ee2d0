// SPDX-License-Identifier: MIT
//
// Device code of this family: rows of a step, BF16 pairs, asynchronous copies, tensor-core
// products.
#pragma once

#include "kernels/common/step.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdint>

namespace firesteel::kernels::cuda {

inline constexpr int kLatentDim = 512;
inline constexpr int kHeadDim = 256; // of keys and of values
inline constexpr int kIndexDim = 128;
inline constexpr int kIndexPool = 4;

__device__ inline std::int64_t positionOf(const StepSequence &sequence, std::int64_t row)
{
    return sequence.firstPosition + (row - sequence.firstRow);
}

__device__ inline std::uint32_t pairBits(__nv_bfloat162 pair)
{
    return *reinterpret_cast<const std::uint32_t *>(&pair);
}

// a in the lower half.
__device__ inline std::uint32_t roundToBf16(float a, float b)
{
    return pairBits(__floats2bfloat162_rn(a, b));
}

// What rounding to BF16 drops, rounded to BF16: hi + lo have 16 bits of the mantissa.
struct SplitPair
{
    std::uint32_t hi, lo;
};
__device__ inline SplitPair splitBf16(float a, float b)
{
    const __nv_bfloat162 hi = __floats2bfloat162_rn(a, b);
    const float2 wide = __bfloat1622float2(hi);
    return { pairBits(hi), roundToBf16(a - wide.x, b - wide.y) };
}

__device__ inline std::uint32_t sharedAddress(const void *pointer)
{
    return static_cast<std::uint32_t>(__cvta_generic_to_shared(pointer));
}

// 16 bytes; zeros without reading when isRead is false.
__device__ inline void copyAsync(std::uint32_t to, const void *from, bool isRead = true)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from),
                 "r"(isRead ? 16 : 0)
                 : "memory");
}
__device__ inline void commitCopies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
// Until all groups of this thread have arrived but the newest kPending.
template <int kPending> __device__ void waitForCopies()
{
    asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
}

__device__ inline void loadMatrices(std::uint32_t (&out)[4], std::uint32_t address)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(out[0]), "=r"(out[1]), "=r"(out[2]), "=r"(out[3])
                 : "r"(address)
                 : "memory");
}
__device__ inline void loadMatricesTransposed(std::uint32_t (&out)[4], std::uint32_t address)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(out[0]), "=r"(out[1]), "=r"(out[2]), "=r"(out[3])
                 : "r"(address)
                 : "memory");
}

// d[16, 8] += a[16, 16] b[16, 8]. Lane 4 g + t holds d at rows g (0, 1) and g + 8 (2, 3), columns
// 2t and 2t + 1; a at rows g (0, 2) and g + 8 (1, 3), columns 2t, 2t + 1 (0, 1) and 2t + 8, 2t + 9
// (2, 3); b at column g, rows 2t, 2t + 1 (b0) and 2t + 8, 2t + 9 (b1).
__device__ inline void multiplyAdd(float (&d)[4], const std::uint32_t (&a)[4], std::uint32_t b0,
                                   std::uint32_t b1)
{
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, "
        "{%8,%9}, {%0,%1,%2,%3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

} // namespace firesteel::kernels::cuda
