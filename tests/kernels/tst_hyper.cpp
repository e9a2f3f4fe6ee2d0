// SPDX-License-Identifier: MIT
#include "kernels/hyper/hyper.h"
#include "tests/support/random_values.h"

#include <array>
#include <cmath>
#include <doctest/doctest.h>
#include <vector>

using namespace firesteel::kernels;
using firesteel::test::RandomValues;

namespace {

constexpr HyperShape kShape {
    .hidden = 16, .sinkhornIterations = 20, .rmsEps = 1e-5F, .eps = 1e-6F
};
constexpr std::size_t kRows = 5;

struct Mixed
{
    explicit Mixed(float scale)
    {
        RandomValues random(1);
        streams = random.uniforms(kRows * 64, -2, 2);
        fn = random.uniforms(24 * 64);
        base = random.uniforms(24);
        this->scale = { 0.5F, 1.5F, scale };
        Stream stream(2);
        launchHyperMix(post, combination, collapsed, streams,
                       { { fn.data(), DType::F32, 24, 64 }, base, this->scale }, kShape, kRows,
                       stream);
    }
    std::vector<float> streams, fn, base, scale;
    std::vector<float> post = std::vector<float>(kRows * 4, NAN);
    std::vector<float> combination = std::vector<float>(kRows * 16, NAN);
    std::vector<float> collapsed = std::vector<float>(kRows * 16, NAN);
};

} // namespace

TEST_CASE("mHC coefficients equal the formula in double precision")
{
    const Mixed m(0.8F);
    for (std::size_t t = 0; t < kRows; ++t) {
        const float *x = &m.streams[t * 64];
        double squares = 0;
        for (std::size_t i = 0; i < 64; ++i)
            squares += std::pow(static_cast<double>(x[i]), 2);
        const double rstd = 1 / std::sqrt(squares / 64 + 1e-5);
        std::array<double, 24> mix {};
        for (std::size_t n = 0; n < 24; ++n)
            for (std::size_t i = 0; i < 64; ++i)
                mix[n] += static_cast<double>(m.fn[n * 64 + i]) * static_cast<double>(x[i]) * rstd;
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
            CHECK(static_cast<double>(m.combination[t * 16 + i])
                  == doctest::Approx(c[i / 4][i % 4]).epsilon(2e-5));
        for (std::size_t j = 0; j < 4; ++j)
            CHECK(
                static_cast<double>(m.post[t * 4 + j])
                == doctest::Approx(
                       2 / (1 + std::exp(-(mix[4 + j] * 1.5 + static_cast<double>(m.base[4 + j])))))
                       .epsilon(1e-5));
        for (std::size_t col = 0; col < 16; ++col) {
            double sum = 0;
            for (std::size_t i = 0; i < 4; ++i)
                sum += (1 / (1 + std::exp(-(mix[i] * 0.5 + static_cast<double>(m.base[i])))) + 1e-6)
                    * static_cast<double>(x[i * 16 + col]);
            CHECK(static_cast<double>(m.collapsed[t * 16 + col])
                  == doctest::Approx(sum).epsilon(2e-5));
        }
    }
}

TEST_CASE("the last Sinkhorn step normalises columns")
{
    const Mixed m(
        6.0F); // sharp logits: rows do not converge in 20 iterations, columns still sum to one
    for (std::size_t t = 0; t < kRows; ++t)
        for (std::size_t j = 0; j < 4; ++j) {
            float sum = 0;
            for (std::size_t i = 0; i < 4; ++i)
                sum += m.combination[t * 16 + i * 4 + j];
            CHECK(sum == doctest::Approx(1.0).epsilon(1e-5));
        }
}

TEST_CASE("expansion adds the sublayer and mixes by source stream, the mean is unweighted")
{
    Stream stream(1);
    std::vector<float> streams(4 * 16);
    for (std::size_t s = 0; s < 4; ++s)
        std::fill_n(streams.begin() + static_cast<std::ptrdiff_t>(s * 16), 16,
                    static_cast<float>(s + 1));
    std::vector<float> combination(16, 0.0F);
    combination[0 * 4 + 1] = 1.0F; // stream 0 goes to stream 1
    combination[3 * 4 + 0] = 0.5F; // half of stream 3 goes to stream 0
    const std::vector<float> post { 1, 2, 0, -1 };
    const std::vector<float> y(16, 10.0F);
    launchHyperExpand(streams, y, post, combination, kShape, 1, stream);
    CHECK(streams[0] == 10 + 2.0F);
    CHECK(streams[16] == 20 + 1.0F);
    CHECK(streams[32] == 0.0F);
    CHECK(streams[48] == -10.0F);
    std::vector<float> mean(16);
    launchHyperMean(mean, streams, kShape, 1, stream);
    CHECK(mean[5] == (12.0F + 21 + 0 - 10) / 4);
}
