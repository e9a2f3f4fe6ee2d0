// SPDX-License-Identifier: MIT
#include "kernels/norm/norm.h"
#include "tests/support/placed.h"
#include "tests/support/random_values.h"

#include <cmath>
#include <doctest/doctest.h>
#include <vector>

using namespace firesteel::kernels;
using firesteel::test::Placed;
using firesteel::test::RandomValues;
using firesteel::test::testStreams;

namespace {

std::vector<float> rmsNorm(const std::vector<float> &x, const std::vector<float> &weight, float eps,
                           Stream &stream)
{
    const Placed<float> in(x, stream), w(weight, stream), y(x.size(), stream);
    launchRmsNorm(y.span(), in.span(), w.span(), eps,
                  static_cast<std::int64_t>(x.size() / weight.size()), stream);
    CHECK(y.isGuardIntact());
    return y.read();
}

std::vector<float> layerNorm(const std::vector<float> &x, const std::vector<float> &weight,
                             const std::vector<float> &bias, Stream &stream)
{
    const Placed<float> in(x, stream), w(weight, stream), b(bias, stream), y(x.size(), stream);
    launchLayerNorm(y.span(), in.span(), w.span(), b.span(), 1e-6F,
                    static_cast<std::int64_t>(x.size() / weight.size()), stream);
    CHECK(y.isGuardIntact());
    return y.read();
}

} // namespace

TEST_CASE("RMS norm of a hand-computed row")
{
    for (Stream *stream : testStreams()) {
        const std::vector<float> weight { 1, 2, 3, 4 };
        const std::vector<float> y = rmsNorm({ 3, -4, 0, 0 }, weight, 0.0F, *stream); // square 6.25
        CHECK(y[0] == doctest::Approx(3 / 2.5));
        CHECK(y[1] == doctest::Approx(2 * -4 / 2.5));
        CHECK(y[2] == 0.0F);
        CHECK(rmsNorm(std::vector<float>(4, 0.0F), weight, 1e-5F, *stream)
              == std::vector<float>(4, 0.0F));
    }
}

TEST_CASE("layer norm subtracts the mean and uses the biased variance")
{
    for (Stream *stream : testStreams()) {
        const std::vector<float> y
            = layerNorm({ 1, 2, 3, 4, 10, 10, 10, 10 }, std::vector<float>(4, 2.0F),
                        std::vector<float>(4, 0.5F), *stream);
        const double scale = 2 / std::sqrt(1.25 + 1e-6);
        CHECK(y[0] == doctest::Approx(-1.5 * scale + 0.5));
        CHECK(y[3] == doctest::Approx(1.5 * scale + 0.5));
        for (std::size_t c = 4; c < 8; ++c)
            CHECK(y[c] == 0.5F); // constant row: only the bias is left
    }
}

TEST_CASE("norms of wide rows equal double precision, whatever rows are beside them")
{
    constexpr std::size_t kCols = 1536;
    constexpr std::size_t kRows = 5;
    RandomValues random(3);
    const std::vector<float> x = random.uniforms(kRows * kCols, -3, 5);
    const std::vector<float> weight = random.uniforms(kCols);
    const std::vector<float> bias = random.uniforms(kCols);
    for (Stream *stream : testStreams()) {
        const std::vector<float> rms = rmsNorm(x, weight, 1e-5F, *stream);
        const std::vector<float> layer = layerNorm(x, weight, bias, *stream);
        for (std::size_t t = 0; t < kRows; ++t) {
            double sum = 0;
            double squares = 0;
            for (std::size_t c = 0; c < kCols; ++c) {
                sum += static_cast<double>(x[t * kCols + c]);
                squares += std::pow(static_cast<double>(x[t * kCols + c]), 2);
            }
            const double mean = sum / kCols;
            const double variance = squares / kCols - mean * mean;
            int wrong = 0;
            for (std::size_t c = 0; c < kCols; ++c) {
                const auto value = static_cast<double>(x[t * kCols + c]);
                const auto w = static_cast<double>(weight[c]);
                const double expectedRms = value / std::sqrt(squares / kCols + 1e-5) * w;
                const double expectedLayer = (value - mean) / std::sqrt(variance + 1e-6) * w
                    + static_cast<double>(bias[c]);
                // Sums of 1536 squares of one sign: below 1536 / 8 roundings in either order.
                const double tolerance = 192 * 0x1p-24;
                wrong += std::abs(static_cast<double>(rms[t * kCols + c]) - expectedRms)
                            <= tolerance * (std::abs(expectedRms) + 1)
                        && std::abs(static_cast<double>(layer[t * kCols + c]) - expectedLayer)
                            <= tolerance * (std::abs(expectedLayer) + 1)
                    ? 0
                    : 1;
            }
            CHECK(wrong == 0);
            const std::vector<float> row(x.begin() + static_cast<std::ptrdiff_t>(t * kCols),
                                         x.begin() + static_cast<std::ptrdiff_t>((t + 1) * kCols));
            const std::vector<float> alone = rmsNorm(row, weight, 1e-5F, *stream);
            CHECK(std::equal(alone.begin(), alone.end(),
                             rms.begin() + static_cast<std::ptrdiff_t>(t * kCols)));
        }
    }
}
