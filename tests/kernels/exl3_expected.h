// SPDX-License-Identifier: MIT
//
// The EXL3 products in double precision, from the definitions in kernels/exl3/exl3.h, and the
// error that a launcher may have against them.
#pragma once

#include "tests/support/exl3_vectors.h"

#include <cstdint>
#include <span>
#include <vector>

namespace firesteel::test {

// F16( (x * suh) H ) with float32 butterflies, as the contract words it: bit-exact.
std::vector<std::uint16_t> exl3Rotated(const Exl3Host &m, std::span<const float> x);

// (rotated C) H * svh + bias in double, [rows, out].
std::vector<double> exl3Product(const Exl3Host &m, std::span<const std::uint16_t> rotated);

struct Exl3HostExpert
{
    Exl3Host gate, up, down;
};

struct Exl3ExpertsResult
{
    std::vector<double> y; // [rows, hidden]
    // Relative error of silu(gate) * up per relative error of gate, root mean squares.
    double gateAmplification = 0;
    double largestGate = 0; // before the clamp
};

Exl3ExpertsResult exl3ExpertsExpected(std::span<const Exl3HostExpert> experts,
                                      std::span<const float> x, std::span<const std::int32_t> ids,
                                      std::span<const float> weights, std::size_t perToken,
                                      double limit);

// Unit roundoff of F16.
inline constexpr double kHalfRoundoff = 0x1p-11;

// Standard deviation of `count` independent roundings to F16 relative to the root mean square of
// what is rounded: each is uniform over +-u at worst.
double halfRoundings(double count);

// What truncation may add to chainTolerance() when tensor cores sum `length` products. A product of
// m16n8k16 adds 16 of them to the sum and cuts it to float32 towards zero (Fasi, Higham, Mikaitis
// and Pranesh 2021): by u of its size on average, always the same way. Over length / 16 steps,
// while the sum grows to its final size, that is length / 32 times u of the result, here of one
// that is eight standard deviations large.
double truncationTolerance(double length);

// The largest difference, and the root mean square of all, relative to the expected root mean
// square. NaN where a value is NaN.
double relativeDifference(std::span<const float> actual, std::span<const double> expected);
double relativeNorm(std::span<const float> actual, std::span<const double> expected);

} // namespace firesteel::test
