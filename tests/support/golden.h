// SPDX-License-Identifier: MIT
//
// Reference tensors stored as safetensors files, widened for comparison, and the error bounds
// comparisons use.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace firesteel::test {

struct GoldenTensor
{
    std::vector<std::int64_t> shape;
    std::vector<float> values; // F32 tensors
    std::vector<std::int32_t> ints; // I32 tensors
};

// All tensors of a file. Throws std::runtime_error (with the file's name) when it cannot be read.
std::map<std::string, GoldenTensor> readGolden(const std::filesystem::path &file);

// Unit roundoff of float32.
inline constexpr double kUnitRoundoff = 0x1p-24;

// Relative error allowed between two float32 evaluations of a chain of contractions of the given
// lengths. Each evaluation of a sum of n products has relative error at most lambda sqrt(n) u with
// probability 1 - 2 exp(-lambda^2 / 2) (Higham and Mary 2019); lambda = 8 makes that 1 - 2.5e-14.
// The factor 2 covers both evaluations. Elementwise functions in between add a few u each and are
// covered by counting them as contractions of length 16.
double chainTolerance(std::span<const double> lengths);

struct Difference
{
    double largest = 0; // max |a - b|
    double reference = 0; // max |b|
    std::size_t index = 0;
    double relative() const { return reference > 0 ? largest / reference : largest; }
};
Difference compare(std::span<const float> actual, std::span<const float> expected);

} // namespace firesteel::test
