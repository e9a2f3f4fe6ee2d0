// SPDX-License-Identifier: MIT
#include "kernels/exl3/exl3_codec.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

namespace firesteel::kernels {

namespace {

constexpr int kWordBits = 32;

// Two F16 numbers of magnitude 0.125 to 2 out of 32 random bits, added with one rounding.
std::uint16_t sumOfHalves(std::uint32_t x)
{
    x = (x & 0x8FFF8FFFU) ^ 0x3B603B60U;
    const auto low = static_cast<float>(std::bit_cast<_Float16>(static_cast<std::uint16_t>(x)));
    const auto high
        = static_cast<float>(std::bit_cast<_Float16>(static_cast<std::uint16_t>(x >> 16U)));
    // Exact in float32: the exponents differ by at most 4.
    return std::bit_cast<std::uint16_t>(static_cast<_Float16>(low + high));
}

// Affine in the sum of the four bytes, with one rounding: a fused multiply-add of F16 numbers.
std::uint16_t valueOfByteSum(std::uint32_t x)
{
    const std::uint32_t sum
        = (x & 0xFFU) + (x >> 8U & 0xFFU) + (x >> 16U & 0xFFU) + (x >> 24U & 0xFFU);
    constexpr double kFactor = 0.00676727294921875; // F16 bits 0x1EEE
    constexpr double kOffset = -10.3828125; // F16 bits 0xC931
    // Exact in double: 11 and 11 bits multiplied, then added within 30 binary digits.
    return std::bit_cast<std::uint16_t>(static_cast<_Float16>((1024.0 + sum) * kFactor + kOffset));
}

struct ValueTables
{
    explicit ValueTables(Exl3Codebook codebook)
        : bits(0x10000)
        , values(0x10000)
    {
        for (std::size_t state = 0; state < bits.size(); ++state) {
            bits[state] = exl3Value(codebook, static_cast<std::uint16_t>(state));
            values[state] = static_cast<float>(std::bit_cast<_Float16>(bits[state]));
        }
    }
    std::vector<std::uint16_t> bits;
    std::vector<float> values;
};

const ValueTables &tables(Exl3Codebook codebook)
{
    static const ValueTables threeInst(Exl3Codebook::ThreeInst);
    static const ValueTables mcg(Exl3Codebook::Mcg);
    static const ValueTables mul1(Exl3Codebook::Mul1);
    switch (codebook) {
    case Exl3Codebook::ThreeInst:
        return threeInst;
    case Exl3Codebook::Mcg:
        return mcg;
    case Exl3Codebook::Mul1:
        break;
    }
    return mul1;
}

} // namespace

std::uint16_t exl3Value(Exl3Codebook codebook, std::uint16_t state)
{
    const std::uint32_t s = state;
    switch (codebook) {
    case Exl3Codebook::ThreeInst:
        return sumOfHalves(s * 89226354U + 64248484U);
    case Exl3Codebook::Mcg:
        return sumOfHalves(s * kExl3McgMultiplier);
    case Exl3Codebook::Mul1:
        break;
    }
    return valueOfByteSum(s * kExl3Mul1Multiplier);
}

std::span<const std::uint16_t> exl3Values(Exl3Codebook codebook) { return tables(codebook).bits; }

std::span<const float> exl3FloatValues(Exl3Codebook codebook) { return tables(codebook).values; }

void exl3UnpackTile(std::span<std::uint16_t, kExl3TileSize> states, const std::uint16_t *tile,
                    int rate)
{
    // The stream with its last word once more in front, for the states that reach around the ring,
    // and one word behind, so that two words can always be read.
    const int count = kExl3TileSize / kWordBits * rate;
    std::array<std::uint32_t, kExl3TileSize / kWordBits * kExl3MaxRate + 2> words;
    std::memcpy(words.data() + 1, tile, static_cast<std::size_t>(count) * sizeof words[0]);
    words[0] = words[static_cast<std::size_t>(count)];
    words[static_cast<std::size_t>(count) + 1] = 0;
    for (int t = 0; t < kExl3TileSize; ++t) {
        const auto begin = static_cast<unsigned>((t + 1) * rate + kWordBits - 16);
        const std::uint32_t *word = words.data() + begin / kWordBits;
        const std::uint64_t window = std::uint64_t { word[0] } << 32U | word[1];
        states[static_cast<std::size_t>(t)]
            = static_cast<std::uint16_t>(window >> (48U - begin % kWordBits));
    }
}

void exl3PackTile(std::uint16_t *tile, std::span<const std::uint16_t, kExl3TileSize> states,
                  int rate)
{
    std::uint64_t window = 0; // its low `filled` bits are not written yet
    int filled = 0;
    const std::uint32_t mask = (1U << static_cast<unsigned>(rate)) - 1;
    for (const std::uint16_t state : states) {
        window = window << static_cast<unsigned>(rate) | (state & mask);
        filled += rate;
        if (filled < kWordBits)
            continue;
        filled -= kWordBits;
        const auto word = static_cast<std::uint32_t>(window >> static_cast<unsigned>(filled));
        std::memcpy(tile, &word, sizeof word);
        tile += 2;
    }
}

} // namespace firesteel::kernels
