// SPDX-License-Identifier: MIT
#include "engine/decode/sampler.h"
#include "tests/engine/decode/reference_sampler.h"

#include <cmath>
#include <doctest/doctest.h>

using namespace firesteel;

namespace {

// Upper quantile of the chi-square distribution by Wilson and Hilferty's cube-root approximation
// (1931); z: the normal quantile of the same probability.
double chiSquareQuantile(double degreesOfFreedom, double z)
{
    const double a = 2.0 / (9.0 * degreesOfFreedom);
    return degreesOfFreedom * std::pow(1 - a + z * std::sqrt(a), 3);
}

// Pearson's statistic of `draws` tokens at consecutive positions against the exact distribution.
void checkDraws(const engine::SamplingParams &params, std::uint64_t seed)
{
    constexpr int kVocabulary = 40;
    constexpr int kDraws = 40000;
    std::vector<float> logits(kVocabulary);
    for (std::size_t i = 0; i < logits.size(); ++i)
        logits[i] = 2.0F * std::sin(static_cast<float>(i) * 1.7F);
    const std::vector<double> expected = test::referenceDistribution(logits, params, {}, {});

    const std::vector<std::uint64_t> mapped(1, ~std::uint64_t { 0 });
    engine::Sampler sampler(params, mapped, seed);
    std::vector<int> counts(kVocabulary, 0);
    for (std::uint64_t position = 0; position < kDraws; ++position) {
        std::vector<float> row = logits;
        ++counts[static_cast<std::size_t>(*sampler.sample(row, position))];
    }

    double statistic = 0;
    int cells = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) {
        if (expected[i] == 0) {
            CHECK(counts[i] == 0);
            continue;
        }
        const double mean = expected[i] * kDraws;
        REQUIRE(mean > 5); // else the statistic is not chi-square
        statistic += (counts[i] - mean) * (counts[i] - mean) / mean;
        ++cells;
    }
    CAPTURE(seed);
    // z = 4.26: one false alarm in 100,000 seeds, and the seeds are fixed.
    CHECK(statistic < chiSquareQuantile(cells - 1, 4.26));
    CHECK(statistic > chiSquareQuantile(cells - 1, -4.26)); // a suspiciously even draw is wrong too
}

} // namespace

TEST_CASE("draws follow the exact distribution (chi-square)")
{
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        checkDraws({}, seed);
        engine::SamplingParams warm;
        warm.temperature = 1.5F;
        warm.topP = 0.9F;
        checkDraws(warm, seed);
        engine::SamplingParams narrow;
        narrow.temperature = 0.7F;
        narrow.topK = 12;
        narrow.minP = 0.05F;
        checkDraws(narrow, seed);
    }
}
