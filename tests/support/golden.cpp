// SPDX-License-Identifier: MIT
#include "tests/support/golden.h"

#include "engine/checkpoint/safe_tensors.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>

namespace firesteel::test {

std::map<std::string, GoldenTensor> readGolden(const std::filesystem::path &file)
{
    auto opened = engine::SafeTensors::open(file);
    if (!opened)
        throw std::runtime_error(opened.error().message);
    std::map<std::string, GoldenTensor> result;
    for (const auto &[name, entry] : opened->entries()) {
        GoldenTensor tensor { .shape = entry.shape, .values = {}, .ints = {} };
        if (entry.type == engine::TensorType::F32) {
            tensor.values.resize(entry.bytes.size() / sizeof(float));
            std::memcpy(tensor.values.data(), entry.bytes.data(), entry.bytes.size());
        } else if (entry.type == engine::TensorType::I32) {
            tensor.ints.resize(entry.bytes.size() / sizeof(std::int32_t));
            std::memcpy(tensor.ints.data(), entry.bytes.data(), entry.bytes.size());
        } else {
            throw std::runtime_error(file.string() + ": tensor " + name
                                     + " is neither F32 nor I32");
        }
        result.emplace(name, std::move(tensor));
    }
    return result;
}

double chainTolerance(std::span<const double> lengths)
{
    constexpr double kDeviations = 8;
    double sum = 0;
    for (const double length : lengths)
        sum += length;
    return kDeviations * kUnitRoundoff * std::sqrt(sum * (1 + 1.0 / 8) / 6);
}

Difference compare(std::span<const float> actual, std::span<const float> expected)
{
    if (actual.size() != expected.size())
        throw std::runtime_error("compare: sizes differ: " + std::to_string(actual.size()) + " and "
                                 + std::to_string(expected.size()));
    Difference difference;
    for (std::size_t i = 0; i < actual.size(); ++i) {
        const double error
            = std::abs(static_cast<double>(actual[i]) - static_cast<double>(expected[i]));
        if (std::isnan(error))
            return { .largest = error, .reference = difference.reference, .index = i };
        if (error > difference.largest) {
            difference.largest = error;
            difference.index = i;
        }
        difference.reference
            = std::max(difference.reference, std::abs(static_cast<double>(expected[i])));
    }
    return difference;
}

double rowError(std::span<const float> actual, std::span<const float> expected, std::size_t width)
{
    if (actual.size() != expected.size())
        return INFINITY;
    double worst = 0;
    for (std::size_t begin = 0; begin < actual.size(); begin += width) {
        double squares = 0;
        double largest = 0;
        for (std::size_t i = begin; i < begin + width; ++i) {
            const double reference = static_cast<double>(expected[i]);
            squares += reference * reference;
            const double error = std::abs(static_cast<double>(actual[i]) - reference);
            largest = error <= largest ? largest : error;
        }
        worst = std::max(worst, largest / std::sqrt(squares / static_cast<double>(width)));
    }
    return worst;
}

} // namespace firesteel::test
