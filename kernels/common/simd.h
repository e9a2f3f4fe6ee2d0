// SPDX-License-Identifier: MIT
//
// Eight-lane float arithmetic for the CPU kernels, written with the compiler's vector extensions so
// that one source serves x86-64 (SSE2 and AVX2 clones, chosen at run time) and aarch64 (NEON).
// Products and sums are never contracted: every clone and every architecture computes the same
// bits.
#pragma once

#include <cstdint>
#include <cstring>
#include <numbers>

// Marks a function that contains hot loops. Everything it calls in them must be FIRESTEEL_INLINE.
// Clang (fuzzers, analysis) compares calling conventions before it inlines and rejects the clones.
// ThreadSanitizer is not up yet when the loader runs the functions that choose a clone.
#if defined(__x86_64__) && !defined(__clang__) && !defined(__SANITIZE_THREAD__)
#define FIRESTEEL_SIMD_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define FIRESTEEL_SIMD_CLONES
#endif
#define FIRESTEEL_INLINE inline __attribute__((always_inline))

namespace firesteel::kernels {

using Vec8 = float __attribute__((vector_size(32)));
using Ints8 = std::int32_t __attribute__((vector_size(32)));
using Bits8 = std::uint32_t __attribute__((vector_size(32)));
using Half8 = std::uint16_t __attribute__((vector_size(16))); // eight 16-bit patterns

// std::bit_cast for vectors: a library function would be compiled once without AVX, and called from
// an AVX clone it would return its vector where the caller does not look for it.
template <typename To, typename From> FIRESTEEL_INLINE To bitsAs(From value)
{
    return __builtin_bit_cast(To, value);
}

// Through integers, which compilers broadcast in one instruction; a list of eight floats they
// insert one by one in clones.
FIRESTEEL_INLINE Vec8 splat(float value)
{
    return bitsAs<Vec8>(Bits8 {} | __builtin_bit_cast(std::uint32_t, value));
}

FIRESTEEL_INLINE Bits8 splatBits(std::uint32_t bits) { return Bits8 {} | bits; }

FIRESTEEL_INLINE Vec8 load8(const float *p)
{
    Vec8 v;
    std::memcpy(&v, p, sizeof v);
    return v;
}

FIRESTEEL_INLINE void store8(float *p, Vec8 v) { std::memcpy(p, &v, sizeof v); }

FIRESTEEL_INLINE Vec8 load8Bf16(const std::uint16_t *p)
{
    Half8 bits;
    std::memcpy(&bits, p, sizeof bits);
    return bitsAs<Vec8>(__builtin_convertvector(bits, Bits8) << 16);
}

FIRESTEEL_INLINE Vec8 load8F16(const std::uint16_t *p)
{
    Half8 bits;
    std::memcpy(&bits, p, sizeof bits);
    const Bits8 wide = __builtin_convertvector(bits, Bits8);
    const Bits8 sign = (wide & 0x8000U) << 16;
    const Bits8 magnitude = (wide & 0x7FFFU) << 13;
    // Rebias the exponent by a multiplication, which also normalises subnormal halves; infinities
    // and NaNs keep all ones.
    const Vec8 scaled = bitsAs<Vec8>(magnitude) * splat(0x1p112F);
    const Bits8 special = bitsAs<Bits8>((wide & 0x7C00U) == 0x7C00U) & 0x7F800000U;
    return bitsAs<Vec8>(bitsAs<Bits8>(scaled) | special | sign);
}

// To the nearest F16, ties to even; NaN becomes a quiet one.
FIRESTEEL_INLINE Half8 roundToF16(Vec8 value)
{
    const auto bits = bitsAs<Bits8>(value);
    const Bits8 sign = bits >> 16 & 0x8000U;
    const Bits8 magnitude = bits & 0x7FFFFFFFU;
    // Below 2^-14 an F16 is a multiple of 2^-24, which is what adding 1/2 rounds to.
    const auto small
        = bitsAs<Bits8>(bitsAs<Vec8>(magnitude) + splat(0.5F)) - 0x3F000000U; // the bits of 1/2
    // Otherwise drop 13 bits with carry into the exponent, which is lowered by 112.
    const Bits8 normal = (magnitude + 0xFFFU + (magnitude >> 13 & 1U) - 0x38000000U) >> 13;
    Bits8 half = magnitude < 0x38800000U ? small : normal; // 2^-14
    half = magnitude >= 0x477FF000U ? splatBits(0x7C00U) : half; // 65520 and more: infinity
    half = magnitude > 0x7F800000U ? splatBits(0x7E00U) : half;
    return __builtin_convertvector(half | sign, Half8);
}

// Sum of the lanes in a fixed order.
FIRESTEEL_INLINE float sum8(Vec8 v)
{
    return ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7]));
}

// exp(x) within 2 ulp for x <= 88; 0 below -87 (no subnormal results, which would be slow to
// compute with).
FIRESTEEL_INLINE Vec8 exp8(Vec8 x)
{
    const Ints8 underflow = x < splat(-87.0F);
    x = underflow ? splat(-87.0F) : x;
    x = x > splat(88.0F) ? splat(88.0F) : x;
    // x = n ln2 + r with |r| <= ln2 / 2; adding 1.5 * 2^23 rounds to the nearest integer. ln2 is
    // split in two so that n times its upper part (355 / 512) is exact.
    constexpr float kUpperLn2 = 355.0F / 512;
    constexpr auto kLowerLn2 = static_cast<float>(std::numbers::ln2 - 355.0 / 512);
    const Vec8 shifted = x * splat(std::numbers::log2e_v<float>) + splat(12582912.0F);
    const Vec8 n = shifted - splat(12582912.0F);
    const Vec8 r = (x - n * splat(kUpperLn2)) - n * splat(kLowerLn2);
    // Taylor polynomial of degree 7: the remainder r^8 / 8! is below 6e-9.
    Vec8 p = splat(1.0F / 5040.0F);
    p = p * r + splat(1.0F / 720.0F);
    p = p * r + splat(1.0F / 120.0F);
    p = p * r + splat(1.0F / 24.0F);
    p = p * r + splat(1.0F / 6.0F);
    p = p * r + splat(0.5F);
    p = p * r + splat(1.0F);
    p = p * r + splat(1.0F);
    const Ints8 exponent = __builtin_convertvector(n, Ints8) << 23;
    const Vec8 result = bitsAs<Vec8>(bitsAs<Ints8>(p) + exponent);
    return underflow ? splat(0.0F) : result;
}

} // namespace firesteel::kernels
