// SPDX-License-Identifier: MIT
#include "tests/kernels/exl3_expected.h"

#include "kernels/exl3/exl3_codec.h"
#include "tests/support/golden.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace firesteel::test {

namespace {

constexpr std::size_t kBlock = kernels::kExl3Block;

// The butterfly of one block without its factor, strides 1 to 64.
template <typename T> void butterflies(T *block)
{
    for (std::size_t stride = 1; stride < kBlock; stride *= 2)
        for (std::size_t i = 0; i < kBlock; ++i)
            if ((i & stride) == 0) {
                const T low = block[i];
                const T high = block[i + stride];
                block[i] = low + high;
                block[i + stride] = low - high;
            }
}

// C as doubles, [in, out].
std::vector<double> innerMatrix(const Exl3Host &m)
{
    const auto out = static_cast<std::size_t>(m.shape.out);
    const std::size_t tileWords = std::size_t { 16 } * m.shape.rate;
    const std::size_t tiles = m.trellis.size() / tileWords;
    std::vector<double> inner(static_cast<std::size_t>(m.shape.in) * out);
    std::array<std::uint16_t, kernels::kExl3TileSize> states {};
    for (std::size_t tile = 0; tile < tiles; ++tile) {
        kernels::exl3UnpackTile(states, m.trellis.data() + tile * tileWords, m.shape.rate);
        const std::size_t row = tile / (out / 16) * 16;
        const std::size_t column = tile % (out / 16) * 16;
        for (int t = 0; t < kernels::kExl3TileSize; ++t)
            inner[(row + static_cast<std::size_t>(kernels::exl3StepRow(t))) * out + column
                  + static_cast<std::size_t>(kernels::exl3StepColumn(t))]
                = static_cast<double>(widened(
                    kernels::exl3Value(m.shape.codebook, states[static_cast<std::size_t>(t)])));
    }
    return inner;
}

double rootMeanSquare(std::span<const double> values)
{
    double sum = 0;
    for (const double value : values)
        sum += value * value;
    return std::sqrt(sum / static_cast<double>(values.size()));
}

double silu(double value) { return value / (1 + std::exp(-value)); }

double siluSlope(double value)
{
    const double sigmoid = 1 / (1 + std::exp(-value));
    return sigmoid * (1 + value * (1 - sigmoid));
}

} // namespace

std::vector<std::uint16_t> exl3Rotated(const Exl3Host &m, std::span<const float> x)
{
    std::vector<std::uint16_t> rotated(x.size());
    std::array<float, kBlock> block {};
    for (std::size_t begin = 0; begin < x.size(); begin += kBlock) {
        for (std::size_t i = 0; i < kBlock; ++i)
            block.at(i) = x[begin + i] * widened(m.suh[(begin + i) % m.suh.size()]);
        butterflies(block.data());
        for (std::size_t i = 0; i < kBlock; ++i)
            rotated[begin + i] = halfBits(block.at(i) * 0.088388347648F);
    }
    return rotated;
}

std::vector<double> exl3Product(const Exl3Host &m, std::span<const std::uint16_t> rotated)
{
    const auto in = static_cast<std::size_t>(m.shape.in);
    const auto out = static_cast<std::size_t>(m.shape.out);
    const std::vector<double> inner = innerMatrix(m);
    std::vector<double> y(rotated.size() / in * out);
    for (std::size_t t = 0; t < rotated.size() / in; ++t) {
        double *row = y.data() + t * out;
        for (std::size_t k = 0; k < in; ++k) {
            const auto input = static_cast<double>(widened(rotated[t * in + k]));
            for (std::size_t n = 0; n < out; ++n)
                row[n] += input * inner[k * out + n];
        }
        for (std::size_t begin = 0; begin < out; begin += kBlock)
            butterflies(row + begin);
        for (std::size_t n = 0; n < out; ++n) {
            row[n] *= static_cast<double>(widened(m.svh[n])) / std::sqrt(128.0);
            if (!m.bias.empty())
                row[n] += static_cast<double>(widened(m.bias[n]));
        }
    }
    return y;
}

Exl3ExpertsResult exl3ExpertsExpected(std::span<const Exl3HostExpert> experts,
                                      std::span<const float> x, std::span<const std::int32_t> ids,
                                      std::span<const float> weights, std::size_t perToken,
                                      double limit)
{
    const std::size_t rows = ids.size() / perToken;
    const std::size_t hidden = x.size() / rows;
    Exl3ExpertsResult result;
    result.y.assign(rows * hidden, 0);
    double slopes = 0;
    double gates = 0;
    double activations = 0;
    double count = 0;
    for (std::size_t e = 0; e < experts.size(); ++e) {
        std::vector<std::size_t> slots;
        std::vector<float> inputs;
        for (std::size_t slot = 0; slot < ids.size(); ++slot)
            if (ids[slot] == static_cast<std::int32_t>(e)) {
                slots.push_back(slot);
                const auto row = x.subspan(slot / perToken * hidden, hidden);
                inputs.insert(inputs.end(), row.begin(), row.end());
            }
        if (slots.empty())
            continue;
        const Exl3HostExpert &expert = experts[e];
        const auto gate = exl3Product(expert.gate, exl3Rotated(expert.gate, inputs));
        const auto up = exl3Product(expert.up, exl3Rotated(expert.up, inputs));
        std::vector<float> activated(gate.size());
        for (std::size_t i = 0; i < gate.size(); ++i) {
            const double g = std::min(gate[i], limit);
            activated[i] = static_cast<float>(silu(g) * std::clamp(up[i], -limit, limit));
            slopes += siluSlope(g) * siluSlope(g);
            gates += g * g;
            activations += silu(g) * silu(g);
            count += 1;
            result.largestGate = std::max(result.largestGate, gate[i]);
        }
        const auto down = exl3Product(expert.down, exl3Rotated(expert.down, activated));
        for (std::size_t i = 0; i < slots.size(); ++i)
            for (std::size_t c = 0; c < hidden; ++c)
                result.y[slots[i] / perToken * hidden + c]
                    += static_cast<double>(weights[slots[i]]) * down[i * hidden + c];
    }
    result.gateAmplification = std::sqrt(slopes / count * gates / activations);
    return result;
}

double halfRoundings(double count) { return kHalfRoundoff * std::sqrt(count / 3); }

double truncationTolerance(double length) { return 8 * kUnitRoundoff * length / 32; }

double relativeDifference(std::span<const float> actual, std::span<const double> expected)
{
    double largest = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
        const double error = std::abs(static_cast<double>(actual[i]) - expected[i]);
        if (std::isnan(error))
            return error;
        largest = std::max(largest, error);
    }
    return largest / rootMeanSquare(expected);
}

double relativeNorm(std::span<const float> actual, std::span<const double> expected)
{
    std::vector<double> errors(expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i)
        errors[i] = static_cast<double>(actual[i]) - expected[i];
    return rootMeanSquare(errors) / rootMeanSquare(expected);
}

} // namespace firesteel::test
