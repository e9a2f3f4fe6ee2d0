// SPDX-License-Identifier: MIT
//
// Trellis states and codebooks in registers, for every kernel that decodes.
//
// Bit b of a tile is bit 31 - b % 32 of word b / 32; state t is the 16 bits that end with bit
// (t + 1) * rate - 1, around the tile's end. Steps 8l .. 8l+7 are lane l's: for column l / 4, rows
// 2g, 2g+1, 2g+8, 2g+9 (g = l % 4), then the same rows of column l / 4 + 8. As four F16 pairs they
// are the B fragments of two mma.m16n8k16 (k = row, n = column: {0, 1} and {2, 3}), and in the
// order 0, 2, 1, 3 the A fragment of one with the tile transposed (m = column).
#pragma once

#include "kernels/exl3/exl3.h"

#include <cuda_fp16.h>

namespace firesteel::kernels {

// x = state * multiplier + addend. A state is extracted with a copy of itself in the upper half
// word, which one byte permutation yields without a mask; the inverse of 0x10001 undoes that.
template <Exl3Codebook kCodebook> struct Exl3Constants;
template <> struct Exl3Constants<Exl3Codebook::ThreeInst>
{
    static constexpr std::uint32_t kMultiplier = 89226354U;
    static constexpr std::uint32_t kAddend = 64248484U;
};
template <> struct Exl3Constants<Exl3Codebook::Mcg>
{
    static constexpr std::uint32_t kMultiplier = 0xCBAC1FEDU;
    static constexpr std::uint32_t kAddend = 0;
};
template <> struct Exl3Constants<Exl3Codebook::Mul1>
{
    static constexpr std::uint32_t kMultiplier = 0x83DCD12DU;
    static constexpr std::uint32_t kAddend = 0;
};

// Bits kShift .. kShift+15 of hi:lo, twice. A shift that several states share (kShift % 8) is
// computed once: the compiler sees equal expressions.
template <int kShift>
__device__ __forceinline__ std::uint32_t exl3StateTwice(std::uint32_t lo, std::uint32_t hi)
{
    static_assert(kShift >= 0 && kShift < 32);
    constexpr int kByte = kShift / 8;
    if constexpr (kShift % 8 == 0) {
        return __byte_perm(lo, hi, 0x1010U + 0x1111U * kByte);
    } else if constexpr (kByte < 3) {
        return __byte_perm(__funnelshift_r(lo, hi, kShift % 8), 0, 0x1010U + 0x1111U * kByte);
    } else {
        return __byte_perm(__funnelshift_r(lo, hi, kShift), 0, 0x1010U);
    }
}

// Two states, each given twice, to two F16 values (the first in the lower half).
template <Exl3Codebook kCodebook>
__device__ __forceinline__ std::uint32_t exl3DecodePair(std::uint32_t twice0, std::uint32_t twice1)
{
    using Constants = Exl3Constants<kCodebook>;
    constexpr std::uint32_t kMultiplier
        = Constants::kMultiplier - (Constants::kMultiplier << 16); // * 0x10001^-1
    const std::uint32_t x0 = twice0 * kMultiplier + Constants::kAddend;
    const std::uint32_t x1 = twice1 * kMultiplier + Constants::kAddend;
    __half2 values;
    if constexpr (kCodebook == Exl3Codebook::Mul1) {
        // F16 0x6400 + b is 1024 + b.
        const std::uint32_t b0 = __dp4a(x0, 0x01010101U, 0x6400U);
        const std::uint32_t b1 = __dp4a(x1, 0x01010101U, 0x6400U);
        const std::uint32_t sums = __byte_perm(b0, b1, 0x5410U);
        values = __hfma2(reinterpret_cast<const __half2 &>(sums),
                         __half2half2(__ushort_as_half(0x1EEE)),
                         __half2half2(__ushort_as_half(0xC931)));
    } else {
        const std::uint32_t y0 = (x0 & 0x8FFF8FFFU) ^ 0x3B603B60U;
        const std::uint32_t y1 = (x1 & 0x8FFF8FFFU) ^ 0x3B603B60U;
        const std::uint32_t low = __byte_perm(y0, y1, 0x5410U);
        const std::uint32_t high = __byte_perm(y0, y1, 0x7632U);
        values = __hadd2_rn(reinterpret_cast<const __half2 &>(low),
                            reinterpret_cast<const __half2 &>(high));
    }
    return reinterpret_cast<const std::uint32_t &>(values);
}

// Steps kStep and kStep + 1 of a bit run that starts at a word: words[1] is its first word,
// words[0] the one before (around the tile's end).
template <int kRate, Exl3Codebook kCodebook, int kStep>
__device__ __forceinline__ std::uint32_t exl3DecodeSteps(const std::uint32_t *words)
{
    constexpr int kEnd0 = (kStep + 1) * kRate;
    constexpr int kEnd1 = (kStep + 2) * kRate;
    constexpr int kWord0 = (kEnd0 - 1) / 32;
    constexpr int kWord1 = (kEnd1 - 1) / 32;
    return exl3DecodePair<kCodebook>(
        exl3StateTwice<32 * (kWord0 + 1) - kEnd0>(words[kWord0 + 1], words[kWord0]),
        exl3StateTwice<32 * (kWord1 + 1) - kEnd1>(words[kWord1 + 1], words[kWord1]));
}

// Where lane l's bits of a tile end: in word `last`, `shift` bits above its lowest.
template <int kRate> struct Exl3LaneBits
{
    int last = 0;
    int shift = 0;

    __device__ __forceinline__ explicit Exl3LaneBits(int lane)
        : last((8 * kRate * (lane + 1) - 1) / 32)
        , shift(32 * (last + 1) - 8 * kRate * (lane + 1))
    {
    }
    // The word `back` before the last, around the tile's end.
    __device__ __forceinline__ int word(int back) const
    {
        return last >= back ? last - back : last - back + 8 * kRate;
    }
};

// The 7 * rate + 16 bits that end with a lane's last bit, lowest word first.
template <int kRate> struct Exl3Window
{
    // Words that hold the window wherever it starts, and words of the window itself.
    static constexpr int kSource = kRate <= 4 ? 2 : 3;
    static constexpr int kWords = (7 * kRate + 16 + 31) / 32;
    std::uint32_t words[kWords];

    // source[i] is word(i) of the lane.
    __device__ __forceinline__ Exl3Window(const std::uint32_t (&source)[kSource], int shift)
    {
#pragma unroll
        for (int i = 0; i < kWords; ++i)
            words[i] = __funnelshift_r(source[i],
                                       i + 1 < kSource ? source[i + 1 < kSource ? i + 1 : i] : 0,
                                       static_cast<std::uint32_t>(shift));
    }
};

template <int kRate, Exl3Codebook kCodebook, int kStep>
__device__ __forceinline__ std::uint32_t exl3DecodeSteps(const Exl3Window<kRate> &window)
{
    constexpr int kShift0 = (7 - kStep) * kRate;
    constexpr int kShift1 = (6 - kStep) * kRate;
    constexpr int kWords = Exl3Window<kRate>::kWords;
    constexpr int kNext0 = kShift0 / 32 + 1 < kWords ? kShift0 / 32 + 1 : kShift0 / 32;
    constexpr int kNext1 = kShift1 / 32 + 1 < kWords ? kShift1 / 32 + 1 : kShift1 / 32;
    return exl3DecodePair<kCodebook>(
        exl3StateTwice<kShift0 % 32>(window.words[kShift0 / 32], window.words[kNext0]),
        exl3StateTwice<kShift1 % 32>(window.words[kShift1 / 32], window.words[kNext1]));
}

// A lane's 8 values of one tile as four F16 pairs (see the top of the file).
template <int kRate, Exl3Codebook kCodebook>
__device__ __forceinline__ void exl3Decode8(std::uint32_t (&pairs)[4],
                                            const Exl3Window<kRate> &window)
{
    pairs[0] = exl3DecodeSteps<kRate, kCodebook, 0>(window);
    pairs[1] = exl3DecodeSteps<kRate, kCodebook, 2>(window);
    pairs[2] = exl3DecodeSteps<kRate, kCodebook, 4>(window);
    pairs[3] = exl3DecodeSteps<kRate, kCodebook, 6>(window);
}

// The window of a lane whose tile lies in memory (shared or global).
template <int kRate>
__device__ __forceinline__ Exl3Window<kRate> exl3LoadWindow(const std::uint32_t *tile,
                                                            const Exl3LaneBits<kRate> &bits)
{
    std::uint32_t source[Exl3Window<kRate>::kSource];
#pragma unroll
    for (int i = 0; i < Exl3Window<kRate>::kSource; ++i)
        source[i] = tile[bits.word(i)];
    return Exl3Window<kRate>(source, bits.shift);
}

// Any rate: one state, for paths where speed is no matter.
__device__ __forceinline__ std::uint32_t exl3StateTwice(const std::uint32_t *tile, int rate,
                                                        int step)
{
    const int end = (step + 1) * rate;
    const int word = (end - 1) / 32;
    const std::uint32_t lo = tile[word];
    const std::uint32_t hi = tile[word > 0 ? word - 1 : 8 * rate - 1];
    const std::uint32_t bits
        = __funnelshift_r(lo, hi, static_cast<std::uint32_t>(32 * (word + 1) - end));
    return __byte_perm(bits, 0, 0x1010U);
}

__device__ __forceinline__ std::uint32_t exl3DecodePair(Exl3Codebook codebook, std::uint32_t twice0,
                                                        std::uint32_t twice1)
{
    switch (codebook) {
    case Exl3Codebook::ThreeInst:
        return exl3DecodePair<Exl3Codebook::ThreeInst>(twice0, twice1);
    case Exl3Codebook::Mcg:
        return exl3DecodePair<Exl3Codebook::Mcg>(twice0, twice1);
    default:
        return exl3DecodePair<Exl3Codebook::Mul1>(twice0, twice1);
    }
}

} // namespace firesteel::kernels
