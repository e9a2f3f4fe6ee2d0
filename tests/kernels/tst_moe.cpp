// SPDX-License-Identifier: MIT
#include "kernels/moe/moe.h"
#include "tests/support/golden.h"
#include "tests/support/placed.h"
#include "tests/support/random_values.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <doctest/doctest.h>
#include <numeric>
#include <vector>

using namespace firesteel::kernels;
using firesteel::test::Placed;
using firesteel::test::RandomValues;
using firesteel::test::testStreams;

namespace {

constexpr MoeShape kShape { .hidden = 32,
                            .experts = 6,
                            .expertsPerToken = 2,
                            .expertWidth = 72,
                            .routedScaling = 2.5F,
                            .swigluLimit = 1.0F };

struct Experts
{
    Experts()
    {
        RandomValues random(7);
        for (std::size_t e = 0; e < 6; ++e) {
            storage.push_back(random.uniforms(72 * 32));
            storage.push_back(random.uniforms(72 * 32));
            storage.push_back(random.uniforms(32 * 72));
        }
    }
    std::vector<float> run(std::span<const float> x, std::span<const std::int32_t> experts,
                           std::span<const float> weights, std::int64_t rows, Stream &stream) const
    {
        std::vector<Placed<float>> matrices;
        for (const std::vector<float> &values : storage)
            matrices.emplace_back(values, stream);
        std::vector<ExpertWeights> table;
        for (std::size_t e = 0; e < 6; ++e)
            table.push_back({ { matrices[e * 3].span().data(), DType::F32, 72, 32 },
                              { matrices[e * 3 + 1].span().data(), DType::F32, 72, 32 },
                              { matrices[e * 3 + 2].span().data(), DType::F32, 32, 72 } });
        const Placed<ExpertWeights> placed(table, stream);
        const Placed<float> input({ x.begin(), x.end() }, stream);
        const Placed<std::int32_t> ids({ experts.begin(), experts.end() }, stream);
        const Placed<float> weight({ weights.begin(), weights.end() }, stream);
        const auto slots = static_cast<std::size_t>(rows) * 2;
        const Placed<float> gate(slots * 72, stream), up(slots * 72, stream),
            output(slots * 32, stream), y(static_cast<std::size_t>(rows) * 32, stream);
        launchMoeExperts(y.span(), input.span(), ids.span(), weight.span(), placed.span(),
                         { gate.span(), up.span(), output.span() }, kShape, rows, stream);
        return y.read();
    }
    std::vector<std::vector<float>> storage;
};

double clampedSwiglu(double gate, double up)
{
    gate = std::min(gate, 1.0);
    up = std::clamp(up, -1.0, 1.0);
    return gate / (1 + std::exp(-gate)) * up;
}

} // namespace

TEST_CASE("clamped SwiGLU clamps the gate from above only and the other factor on both sides")
{
    const std::vector<float> gate { -20, -1, 0, 5, 12, 20, -3, 1 };
    const std::vector<float> up { 1, -30, 3, 30, -10, 11, 2, -2 };
    for (Stream *stream : testStreams()) {
        const Placed<float> g(gate, *stream), u(up, *stream), output(8, *stream);
        launchSwiglu(output.span(), g.span(), u.span(), 10.0F, *stream);
        const std::vector<float> y = output.read();
        for (std::size_t i = 0; i < 8; ++i) {
            const double clampedGate = std::min(static_cast<double>(gate[i]), 10.0);
            const double clampedUp = std::clamp(static_cast<double>(up[i]), -10.0, 10.0);
            CHECK(static_cast<double>(y[i])
                  == doctest::Approx(clampedGate / (1 + std::exp(-clampedGate)) * clampedUp)
                         .epsilon(1e-6));
        }
    }
}

TEST_CASE("the router ranks by biased score, weighs by unbiased score, and breaks ties by id")
{
    for (Stream *stream : testStreams()) {
        const Placed<float> logits(std::vector<float> { 0, 2, -1, 0, 0, 0 }, *stream);
        const Placed<float> bias(std::vector<float> { 0, -0.9F, 0.4F, 0, 0, 0 }, *stream);
        const Placed<std::int32_t> experts(2, *stream);
        const Placed<float> weights(2, *stream);
        launchMoeRouter(experts.span(), weights.span(), logits.span(), bias.span(), kShape, 1,
                        *stream);
        // sigmoid(-1) + 0.4 = 0.669 first; 0, 3, 4, 5 tie at 0.5 for the second place.
        CHECK(experts.read() == std::vector<std::int32_t> { 2, 0 });
        const double first = 1 / (1 + std::exp(1.0));
        const std::vector<float> w = weights.read();
        CHECK(static_cast<double>(w[0]) == doctest::Approx(first / (first + 0.5) * 2.5));
        CHECK(static_cast<double>(w[1]) == doctest::Approx(0.5 / (first + 0.5) * 2.5));
    }
}

TEST_CASE("the router chooses what a sort by score chooses, at the release's sizes and beside ties")
{
    constexpr MoeShape kRelease { .hidden = 0,
                                  .experts = 288,
                                  .expertsPerToken = 8,
                                  .expertWidth = 0,
                                  .routedScaling = 2.5F,
                                  .swigluLimit = 0 };
    constexpr std::size_t kRows = 37;
    RandomValues random(12);
    std::vector<float> logits(kRows * 288);
    for (float &logit : logits) // multiples of 1/8: every row has ties
        logit = static_cast<float>(random.integer(-24, 24)) / 8;
    const std::vector<float> none(288, 0.0F);
    for (Stream *stream : testStreams()) {
        const Placed<float> in(logits, *stream), bias(none, *stream);
        const Placed<std::int32_t> experts(kRows * 8, *stream);
        const Placed<float> weights(kRows * 8, *stream);
        launchMoeRouter(experts.span(), weights.span(), in.span(), bias.span(), kRelease, kRows,
                        *stream);
        const std::vector<std::int32_t> chosen = experts.read();
        const std::vector<float> w = weights.read();
        for (std::size_t t = 0; t < kRows; ++t) {
            std::vector<std::int32_t> order(288);
            std::iota(order.begin(), order.end(), 0);
            std::ranges::stable_sort(order, [&](std::int32_t a, std::int32_t b) {
                return logits[t * 288 + static_cast<std::size_t>(a)]
                    > logits[t * 288 + static_cast<std::size_t>(b)];
            });
            CHECK(std::equal(order.begin(), order.begin() + 8,
                             chosen.begin() + static_cast<std::ptrdiff_t>(t * 8)));
            double sum = 0;
            for (std::size_t i = 0; i < 8; ++i)
                sum += static_cast<double>(w[t * 8 + i]);
            CHECK(sum == doctest::Approx(2.5).epsilon(1e-6));
        }
    }
}

TEST_CASE("routed experts equal a double-precision sum, also when one expert receives every row")
{
    const Experts experts;
    Stream one(1);
    RandomValues random(8);
    for (const bool oneExpert : { false, true }) {
        constexpr std::size_t kRows = 70;
        const std::vector<float> x = random.uniforms(kRows * 32);
        std::vector<std::int32_t> ids;
        std::vector<float> weights;
        for (std::size_t t = 0; t < kRows; ++t) {
            ids.push_back(oneExpert ? 3 : random.integer(0, 2));
            ids.push_back(oneExpert ? 5 : random.integer(3, 5));
            weights.push_back(random.uniform(0.1F, 2.0F));
            weights.push_back(random.uniform(0.1F, 2.0F));
        }
        for (Stream *stream : testStreams()) {
            const std::vector<float> y = experts.run(x, ids, weights, kRows, *stream);
            // Inputs up to 1: gate and up sums of 32 products, clamped to 1; the down sum of 72;
            // two experts weighed up to 2.
            const std::array<double, 4> chain { 32, 16, 72, 2 };
            const double tolerance = firesteel::test::chainTolerance(chain) * 72 * 4;
            int wrong = 0;
            for (std::size_t t = 0; t < kRows; ++t)
                for (std::size_t c = 0; c < 32; ++c) {
                    double expected = 0;
                    for (std::size_t i = 0; i < 2; ++i) {
                        const auto e = static_cast<std::size_t>(ids[t * 2 + i]);
                        double down = 0;
                        for (std::size_t n = 0; n < 72; ++n) {
                            double gate = 0;
                            double up = 0;
                            for (std::size_t k = 0; k < 32; ++k) {
                                gate += static_cast<double>(experts.storage[e * 3][n * 32 + k])
                                    * static_cast<double>(x[t * 32 + k]);
                                up += static_cast<double>(experts.storage[e * 3 + 1][n * 32 + k])
                                    * static_cast<double>(x[t * 32 + k]);
                            }
                            down += static_cast<double>(experts.storage[e * 3 + 2][c * 72 + n])
                                * clampedSwiglu(gate, up);
                        }
                        expected += static_cast<double>(weights[t * 2 + i]) * down;
                    }
                    wrong += std::abs(static_cast<double>(y[t * 32 + c]) - expected) <= tolerance
                        ? 0
                        : 1;
                }
            CHECK(wrong == 0);

            // A row alone gives the same bits as in company (E1), with any number of threads.
            for (std::size_t t = 0; t < kRows; t += 13) {
                const std::vector<float> alone = experts.run(
                    std::span(x).subspan(t * 32, 32), std::span(ids).subspan(t * 2, 2),
                    std::span(weights).subspan(t * 2, 2), 1,
                    stream->backend() == Backend::Cpu ? one : *stream);
                CHECK(std::equal(alone.begin(), alone.end(),
                                 y.begin() + static_cast<std::ptrdiff_t>(t * 32)));
            }
        }
    }
}
