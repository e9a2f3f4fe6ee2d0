// SPDX-License-Identifier: MIT
#include "kernels/hyper/hyper.h"
#include "tests/support/golden.h"
#include "tests/support/placed.h"
#include "tests/support/random_values.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <doctest/doctest.h>
#include <vector>

using namespace firesteel::kernels;
using firesteel::test::Placed;
using firesteel::test::RandomValues;
using firesteel::test::testStreams;

namespace {

constexpr std::size_t kHidden = 128;
constexpr std::size_t kWidth = 4 * kHidden;
constexpr HyperShape kShape {
    .hidden = kHidden, .sinkhornIterations = 20, .rmsEps = 1e-5F, .eps = 1e-6F
};
constexpr std::size_t kRows = 11; // more than the device takes at once

// Random streams, an update owed to them and a site; and what entering the site gives.
struct Site
{
    explicit Site(float scaleOfCombination = 0.8F)
    {
        RandomValues random(1);
        streams = random.uniforms(kRows * kWidth, -2, 2);
        fn = random.uniforms(24 * kWidth, -0.3F, 0.3F);
        base = random.uniforms(24);
        norm = random.uniforms(kHidden, 0.5F, 2);
        scale = { 0.5F, 1.5F, scaleOfCombination };
        y = random.uniforms(kRows * kHidden);
        addend = random.uniforms(kRows * kHidden);
        owedPost = random.uniforms(kRows * 4, 0, 2);
        owedCombination = random.uniforms(kRows * 16, 0, 1);
    }

    struct Result
    {
        std::vector<float> input, post, combination, streams;
    };
    Result enter(Stream &stream, bool isOwed, std::size_t first = 0, std::size_t rows = kRows) const
    {
        const auto part = [&](const std::vector<float> &values, std::size_t width) {
            const auto begin = values.begin() + static_cast<std::ptrdiff_t>(first * width);
            return std::vector<float>(begin, begin + static_cast<std::ptrdiff_t>(rows * width));
        };
        const Placed<float> x(part(streams, kWidth), stream);
        const Placed<float> w(fn, stream), b(base, stream), s(scale, stream), n(norm, stream);
        const Placed<float> sublayer(part(y, kHidden), stream), more(part(addend, kHidden), stream);
        // In and out, as in a model.
        const Placed<float> post(part(owedPost, 4), stream);
        const Placed<float> combination(part(owedCombination, 16), stream);
        const Placed<float> input(rows * kHidden, stream);
        const auto count = static_cast<std::int64_t>(rows);
        const Placed<std::byte> scratch(hyperScratchBytes(kShape, count, stream), stream);
        HyperUpdate owed;
        if (isOwed)
            owed = { .y = sublayer.span(),
                     .addend = more.span(),
                     .mixing = { post.span(), combination.span() } };
        launchHyperEnter(input.span(), { post.span(), combination.span() }, x.span(), owed,
                         { { w.span().data(), DType::F32, 24, static_cast<std::int64_t>(kWidth) },
                           b.span(),
                           s.span(),
                           n.span() },
                         scratch.span(), kShape, count, stream);
        Result result { input.read(), post.read(), combination.read(), x.read() };
        CHECK(input.isGuardIntact());
        CHECK(scratch.isGuardIntact());
        return result;
    }

    std::vector<float> streams, fn, base, norm, scale, y, addend, owedPost, owedCombination;
};

} // namespace

TEST_CASE("mHC coefficients equal the formula in double precision")
{
    const Site m;
    for (Stream *stream : testStreams()) {
        const Site::Result r = m.enter(*stream, false);
        for (std::size_t t = 0; t < kRows; ++t) {
            const float *x = &m.streams[t * kWidth];
            double squares = 0;
            for (std::size_t i = 0; i < kWidth; ++i)
                squares += std::pow(static_cast<double>(x[i]), 2);
            const double rstd = 1 / std::sqrt(squares / kWidth + 1e-5);
            std::array<double, 24> mix {};
            for (std::size_t n = 0; n < 24; ++n)
                for (std::size_t i = 0; i < kWidth; ++i)
                    mix[n] += static_cast<double>(m.fn[n * kWidth + i]) * static_cast<double>(x[i])
                        * rstd;
            std::array<std::array<double, 4>, 4> c {};
            for (std::size_t i = 0; i < 4; ++i) {
                double sum = 0;
                for (std::size_t j = 0; j < 4; ++j)
                    sum += c[i][j] = std::exp(mix[8 + 4 * i + j] * static_cast<double>(m.scale[2])
                                              + static_cast<double>(m.base[8 + 4 * i + j]));
                for (std::size_t j = 0; j < 4; ++j)
                    c[i][j] = c[i][j] / sum + 1e-6;
            }
            for (int iteration = 0; iteration < 20; ++iteration) {
                if (iteration > 0)
                    for (auto &row : c) {
                        const double sum = row[0] + row[1] + row[2] + row[3];
                        for (double &value : row)
                            value /= sum + 1e-6;
                    }
                for (std::size_t j = 0; j < 4; ++j) {
                    const double sum = c[0][j] + c[1][j] + c[2][j] + c[3][j];
                    for (std::size_t i = 0; i < 4; ++i)
                        c[i][j] /= sum + 1e-6;
                }
            }
            for (std::size_t i = 0; i < 16; ++i)
                CHECK(static_cast<double>(r.combination[t * 16 + i])
                      == doctest::Approx(c[i / 4][i % 4]).epsilon(2e-5));
            for (std::size_t j = 0; j < 4; ++j)
                CHECK(static_cast<double>(r.post[t * 4 + j])
                      == doctest::Approx(2
                                         / (1
                                            + std::exp(-(mix[4 + j] * 1.5
                                                         + static_cast<double>(m.base[4 + j])))))
                             .epsilon(1e-5));
            std::vector<double> collapsed(kHidden);
            double mean = 0;
            for (std::size_t col = 0; col < kHidden; ++col) {
                for (std::size_t i = 0; i < 4; ++i)
                    collapsed[col]
                        += (1 / (1 + std::exp(-(mix[i] * 0.5 + static_cast<double>(m.base[i]))))
                            + 1e-6)
                        * static_cast<double>(x[i * kHidden + col]);
                mean += collapsed[col] * collapsed[col] / kHidden;
            }
            const double norm = 1 / std::sqrt(mean + 1e-5);
            int wrong = 0;
            for (std::size_t col = 0; col < kHidden; ++col)
                wrong += static_cast<double>(r.input[t * kHidden + col])
                        == doctest::Approx(collapsed[col] * norm * static_cast<double>(m.norm[col]))
                               .epsilon(2e-5)
                    ? 0
                    : 1;
            CHECK(wrong == 0);
        }
    }
}

TEST_CASE("the last Sinkhorn step normalises columns")
{
    // Sharp logits: rows do not converge in 20 iterations, columns still sum to one.
    const Site m(6.0F);
    for (Stream *stream : testStreams()) {
        const Site::Result r = m.enter(*stream, false);
        for (std::size_t t = 0; t < kRows; ++t)
            for (std::size_t j = 0; j < 4; ++j) {
                float sum = 0;
                for (std::size_t i = 0; i < 4; ++i)
                    sum += r.combination[t * 16 + i * 4 + j];
                CHECK(sum == doctest::Approx(1.0).epsilon(1e-5));
            }
    }
}

TEST_CASE("a site applies what is owed before it mixes")
{
    const Site m;
    for (Stream *stream : testStreams()) {
        const Site::Result r = m.enter(*stream, true);
        int wrong = 0;
        for (std::size_t t = 0; t < kRows; ++t)
            for (std::size_t j = 0; j < 4; ++j)
                for (std::size_t c = 0; c < kHidden; ++c) {
                    double sum = static_cast<double>(m.owedPost[t * 4 + j])
                        * (static_cast<double>(m.y[t * kHidden + c])
                           + static_cast<double>(m.addend[t * kHidden + c]));
                    double magnitude = std::abs(sum);
                    for (std::size_t i = 0; i < 4; ++i) {
                        const double term
                            = static_cast<double>(m.owedCombination[t * 16 + i * 4 + j])
                            * static_cast<double>(m.streams[t * kWidth + i * kHidden + c]);
                        sum += term;
                        magnitude += std::abs(term);
                    }
                    const double error = std::abs(
                        static_cast<double>(r.streams[t * kWidth + j * kHidden + c]) - sum);
                    // Six roundings, and that of y + addend, which may cancel.
                    wrong += error <= 7 * firesteel::test::kUnitRoundoff * (magnitude + 4) ? 0 : 1;
                }
        CHECK(wrong == 0);
        // The coefficients are those of the updated streams.
        Site after = m;
        after.streams = r.streams;
        const Site::Result settled = after.enter(*stream, false);
        CHECK(settled.input == r.input);
        CHECK(settled.post == r.post);
        CHECK(settled.combination == r.combination);
    }
}

TEST_CASE("a row's site does not depend on the rows beside it")
{
    const Site m;
    for (Stream *stream : testStreams()) {
        const Site::Result together = m.enter(*stream, true);
        for (std::size_t t = 0; t < kRows; ++t) {
            const Site::Result alone = m.enter(*stream, true, t, 1);
            CHECK(std::equal(alone.input.begin(), alone.input.end(),
                             together.input.begin() + static_cast<std::ptrdiff_t>(t * kHidden)));
            CHECK(std::equal(alone.combination.begin(), alone.combination.end(),
                             together.combination.begin() + static_cast<std::ptrdiff_t>(t * 16)));
        }
    }
}

TEST_CASE("the update adds the sublayer and mixes by source stream, the mean is unweighted")
{
    for (Stream *stream : testStreams()) {
        std::vector<float> start(kWidth);
        for (std::size_t s = 0; s < 4; ++s)
            std::fill_n(start.begin() + static_cast<std::ptrdiff_t>(s * kHidden), kHidden,
                        static_cast<float>(s + 1));
        std::vector<float> combination(16, 0.0F);
        combination[0 * 4 + 1] = 1.0F; // stream 0 goes to stream 1
        combination[3 * 4 + 0] = 0.5F; // half of stream 3 goes to stream 0
        const Placed<float> streams(start, *stream);
        const Placed<float> post(std::vector<float> { 1, 2, 0, -1 }, *stream);
        const Placed<float> mix(combination, *stream);
        const Placed<float> y(std::vector<float>(kHidden, 10.0F), *stream);
        launchHyperUpdate(streams.span(),
                          { .y = y.span(), .addend = {}, .mixing = { post.span(), mix.span() } },
                          kShape, 1, *stream);
        const std::vector<float> after = streams.read();
        CHECK(after[0] == 10 + 2.0F);
        CHECK(after[kHidden] == 20 + 1.0F);
        CHECK(after[2 * kHidden] == 0.0F);
        CHECK(after[3 * kHidden] == -10.0F);
        const Placed<float> mean(kHidden, *stream);
        launchHyperMean(mean.span(), streams.span(), kShape, 1, *stream);
        CHECK(mean.read()[5] == (12.0F + 21 + 0 - 10) / 4);
    }
}
