// SPDX-License-Identifier: MIT
//
// The code itself, on the host: trellis bits to states and back, states to values. Used by the CPU
// kernels and the quantizer; the device code has its own decoder.
#pragma once

#include "kernels/exl3/exl3.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace firesteel::kernels {

inline constexpr int kExl3TileSize = kExl3Tile * kExl3Tile; // weights of a tile, steps of a trellis
inline constexpr std::uint32_t kExl3McgMultiplier = 0xCBAC1FED;
inline constexpr std::uint32_t kExl3Mul1Multiplier = 0x83DCD12D;

// The weight of a tile that step t holds: the order of an mma.m16n8k16 operand's fragments.
constexpr int exl3StepRow(int t)
{
    const int lane = t / 8;
    const int j = t % 8;
    return 2 * (lane % 4) + j % 2 + 8 * (j / 2 % 2);
}
constexpr int exl3StepColumn(int t) { return t / 8 / 4 + 8 * (t % 8 / 4); }

// The value of a state, as F16 bits.
std::uint16_t exl3Value(Exl3Codebook codebook, std::uint16_t state);

// The same for all 65,536 states, as F16 bits and widened to float32; built on first use.
std::span<const std::uint16_t> exl3Values(Exl3Codebook codebook);
std::span<const float> exl3FloatValues(Exl3Codebook codebook);

// The states of a tile's 256 steps. tile: 16 * rate words. State t is the 16 bits of the stream
// that end with step t's own `rate` bits; the stream is a ring, and starts with the most
// significant bit of its first 32-bit word.
void exl3UnpackTile(std::span<std::uint16_t, kExl3TileSize> states, const std::uint16_t *tile,
                    int rate);

// The inverse: keeps the low `rate` bits of each state.
void exl3PackTile(std::uint16_t *tile, std::span<const std::uint16_t, kExl3TileSize> states,
                  int rate);

} // namespace firesteel::kernels
