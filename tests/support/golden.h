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

// Bound on the difference between two float32 evaluations of a chain of contractions of the given
// lengths, relative to the root mean square of the result. Model: rounding errors are independent,
// zero-mean, uniform over +-u relative (variance u^2 / 3; Higham and Mary 2019 give the
// conditions). A sum of n products added in sequence then has relative variance n u^2 / 6, one
// added in eight lanes an eighth of it; errors of the stages are independent, so variances add.
// Both evaluations count, one of each kind. The bound is eight standard deviations: exceeded by
// chance once in 10^15 values. Elementwise functions in between count as contractions of length 16.
double chainTolerance(std::span<const double> lengths);

struct Difference
{
    double largest = 0; // max |a - b|
    double reference = 0; // max |b|
    std::size_t index = 0;
    double relative() const { return reference > 0 ? largest / reference : largest; }
};
Difference compare(std::span<const float> actual, std::span<const float> expected);

// Largest error of an element relative to the root mean square of its row of `width`; infinity for
// spans of different lengths.
double rowError(std::span<const float> actual, std::span<const float> expected, std::size_t width);

} // namespace firesteel::test
