// SPDX-License-Identifier: MIT
//
// The numbers of `eval` against hand-computed ones.
#include "engine/quantize/agreement.h"

#include <cmath>
#include <doctest/doctest.h>
#include <stdexcept>
#include <vector>

using namespace firesteel;
using engine::Agreement;
using engine::AgreementMeter;

namespace {

// Logits of these probabilities, shifted: only differences count.
std::vector<float> logits(const std::vector<double> &probabilities, double shift)
{
    std::vector<float> values;
    for (const double p : probabilities)
        values.push_back(static_cast<float>(std::log(p) + shift));
    return values;
}

// The logits are rounded to float32 at magnitudes up to 512: each by 2^-16 at most. Four of them
// meet in a divergence.
constexpr double kRounding = 4 * 0x1p-16;

} // namespace

TEST_CASE("a position of known probabilities")
{
    AgreementMeter meter;
    meter.add(logits({ 0.5, 0.25, 0.25 }, 300), logits({ 0.25, 0.5, 0.25 }, -400), 2);
    const Agreement result = meter.result();
    CHECK(result.positions == 1);
    CHECK(result.topOne == 0);
    // 1/2 ln 2 + 1/4 ln 1/2 + 0
    CHECK(std::abs(result.meanDivergence - 0.25 * std::log(2)) <= kRounding);
    CHECK(std::abs(result.divergence99 - result.meanDivergence) == 0);
    CHECK(std::abs(result.teacherPerplexity - 4) <= 4 * kRounding);
    CHECK(std::abs(result.modelPerplexity - 4) <= 4 * kRounding);
}

TEST_CASE("means and the percentile over positions")
{
    // 199 equal predictions and one that differs: a share of 1/200 is above the 99th percentile.
    AgreementMeter meter;
    const std::vector<float> even = logits({ 0.5, 0.5 }, 0);
    const std::vector<float> leaning = logits({ 0.75, 0.25 }, 0);
    for (int i = 0; i < 199; ++i)
        meter.add(leaning, leaning, 0);
    meter.add(leaning, logits({ 0.25, 0.75 }, 0), 1);
    Agreement result = meter.result();
    CHECK(result.positions == 200);
    CHECK(result.topOne == 199.0 / 200);
    CHECK(std::abs(result.meanDivergence - 0.5 * std::log(3) / 200) <= kRounding);
    CHECK(result.divergence99 == 0);
    CHECK(
        std::abs(std::log(result.teacherPerplexity) - (199 * std::log(4.0 / 3) + std::log(4)) / 200)
        <= kRounding);
    CHECK(std::abs(std::log(result.modelPerplexity) - std::log(4.0 / 3)) <= kRounding);

    // Two more: 3 of 202 are above it.
    for (int i = 0; i < 2; ++i)
        meter.add(leaning, even, 0);
    result = meter.result();
    CHECK(std::abs(result.divergence99 - (0.75 * std::log(1.5) + 0.25 * std::log(0.5)))
          <= kRounding);
    // Equal logits: the lower token is the top.
    CHECK(result.topOne == 201.0 / 202);
}

TEST_CASE("far apart, nothing overflows, without positions everything is zero")
{
    CHECK(AgreementMeter().result().positions == 0);
    CHECK(AgreementMeter().result().modelPerplexity == 0);
    AgreementMeter meter;
    const std::vector<float> one { 3000, -3000 };
    const std::vector<float> other { -3000, 3000 };
    meter.add(one, other, 0);
    CHECK(meter.result().meanDivergence == 6000);
    CHECK_THROWS_AS(meter.add(one, other, 2), std::logic_error);
    CHECK_THROWS_AS(meter.add(one, std::vector<float> { 1 }, 0), std::logic_error);
}
