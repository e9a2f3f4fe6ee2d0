// SPDX-License-Identifier: MIT
#include "engine/decode/philox.h"

namespace firesteel::engine {

namespace {

constexpr std::uint64_t kMultiplier0 = 0xD2511F53;
constexpr std::uint64_t kMultiplier1 = 0xCD9E8D57;
constexpr std::uint32_t kWeyl0 = 0x9E3779B9; // golden ratio
constexpr std::uint32_t kWeyl1 = 0xBB67AE85; // sqrt(3) - 1
constexpr int kRounds = 10;

constexpr std::uint32_t low(std::uint64_t value) { return static_cast<std::uint32_t>(value); }

constexpr std::uint32_t high(std::uint64_t value)
{
    return static_cast<std::uint32_t>(value >> 32);
}

} // namespace

std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter,
                                        std::array<std::uint32_t, 2> key)
{
    for (int round = 0; round < kRounds; ++round) {
        const std::uint64_t product0 = kMultiplier0 * counter[0];
        const std::uint64_t product1 = kMultiplier1 * counter[2];
        counter = { high(product1) ^ counter[1] ^ key[0], low(product1),
                    high(product0) ^ counter[3] ^ key[1], low(product0) };
        key[0] += kWeyl0;
        key[1] += kWeyl1;
    }
    return counter;
}

double uniformAt(std::uint64_t seed, std::uint64_t position)
{
    const auto words
        = philox4x32({ low(position), high(position), 0, 0 }, { low(seed), high(seed) });
    const std::uint64_t bits = (static_cast<std::uint64_t>(words[1]) << 32) | words[0];
    return static_cast<double>(bits >> 11) * 0x1.0p-53;
}

} // namespace firesteel::engine
