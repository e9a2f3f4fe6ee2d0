// SPDX-License-Identifier: MIT
#include "kernels/moe/moe.h"
#include "tests/support/golden.h"
#include "tests/support/random_values.h"

#include <array>
#include <cmath>
#include <doctest/doctest.h>
#include <vector>

using namespace firesteel::kernels;
using firesteel::test::RandomValues;

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
        for (std::size_t e = 0; e < 6; ++e)
            table.push_back({ { storage[e * 3].data(), DType::F32, 72, 32 },
                              { storage[e * 3 + 1].data(), DType::F32, 72, 32 },
                              { storage[e * 3 + 2].data(), DType::F32, 32, 72 } });
    }
    std::vector<float> run(std::span<const float> x, std::span<const std::int32_t> experts,
                           std::span<const float> weights, std::int64_t rows, int threads) const
    {
        Stream stream(threads);
        const auto slots = static_cast<std::size_t>(rows) * 2;
        std::vector<float> gate(slots * 72), up(slots * 72), output(slots * 32),
            y(static_cast<std::size_t>(rows) * 32, NAN);
        launchMoeExperts(y, x, experts, weights, table, { gate, up, output }, kShape, rows, stream);
        return y;
    }
    std::vector<std::vector<float>> storage;
    std::vector<ExpertWeights> table;
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
    Stream stream(1);
    const std::vector<float> gate { -20, -1, 0, 5, 12, 20, -3, 1 };
    const std::vector<float> up { 1, -30, 3, 30, -10, 11, 2, -2 };
    std::vector<float> y(8);
    launchSwiglu(y, gate, up, 10.0F, stream);
    for (std::size_t i = 0; i < 8; ++i) {
        const double g = std::min(static_cast<double>(gate[i]), 10.0);
        const double u = std::clamp(static_cast<double>(up[i]), -10.0, 10.0);
        CHECK(static_cast<double>(y[i])
              == doctest::Approx(g / (1 + std::exp(-g)) * u).epsilon(1e-6));
    }
}

TEST_CASE("the router ranks by biased score, weighs by unbiased score, and breaks ties by id")
{
    Stream stream(1);
    const std::vector<float> logits { 0, 2, -1, 0, 0, 0 };
    const std::vector<float> bias { 0, -0.9F, 0.4F, 0, 0, 0 };
    std::vector<std::int32_t> experts(2);
    std::vector<float> weights(2);
    launchMoeRouter(experts, weights, logits, bias, kShape, 1, stream);
    // sigmoid(-1) + 0.4 = 0.669 first; 0, 3, 4, 5 tie at 0.5 for the second place.
    CHECK(experts == std::vector<std::int32_t> { 2, 0 });
    const double first = 1 / (1 + std::exp(1.0));
    CHECK(static_cast<double>(weights[0]) == doctest::Approx(first / (first + 0.5) * 2.5));
    CHECK(static_cast<double>(weights[1]) == doctest::Approx(0.5 / (first + 0.5) * 2.5));
}

TEST_CASE("routed experts equal a double-precision sum, also when one expert receives every row")
{
    const Experts experts;
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
        const std::vector<float> y = experts.run(x, ids, weights, kRows, 2);
        // Inputs up to 1: gate and up sums of 32 products, clamped to 1; the down sum of 72; two
        // experts weighed up to 2.
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
                wrong
                    += std::abs(static_cast<double>(y[t * 32 + c]) - expected) <= tolerance ? 0 : 1;
            }
        CHECK(wrong == 0);

        // A row alone gives the same bits as in company (E1), with any number of threads.
        for (std::size_t t = 0; t < kRows; t += 13) {
            const std::vector<float> alone
                = experts.run(std::span(x).subspan(t * 32, 32), std::span(ids).subspan(t * 2, 2),
                              std::span(weights).subspan(t * 2, 2), 1, 1);
            CHECK(std::equal(alone.begin(), alone.end(),
                             y.begin() + static_cast<std::ptrdiff_t>(t * 32)));
        }
    }
}
