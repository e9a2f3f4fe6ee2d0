// SPDX-License-Identifier: MIT
#include "engine/decode/nucleus.h"

#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>
#include <limits>
#include <random>

using namespace firesteel::engine;

namespace {

std::vector<std::int32_t> kept(std::vector<float> logits, const NucleusParams &params)
{
    Nucleus nucleus;
    const float largest = *std::ranges::max_element(logits);
    const auto weights = nucleus.weights(logits, largest, params);
    std::vector<std::int32_t> ids;
    for (std::size_t i = 0; i < weights.size(); ++i) {
        if (weights[i] > 0)
            ids.push_back(static_cast<std::int32_t>(i));
    }
    return ids;
}

using Ids = std::vector<std::int32_t>;

// Probabilities 0.1, 0.4, 0.2, 0.3.
const std::vector<float> kLogits
    = { std::log(0.1F), std::log(0.4F), std::log(0.2F), std::log(0.3F) };

} // namespace

TEST_CASE("expNegative keeps its promised error")
{
    std::vector<float> distance;
    for (int i = 0; i < 200000; ++i)
        distance.push_back(static_cast<float>(i) * 0.000435F); // 0 to 86.99
    distance.insert(distance.end(), { 0.0F, 1e-38F, 86.999F });
    std::vector<float> weights(distance.size());
    expNegative(distance, weights);
    double worst = 0;
    for (std::size_t i = 0; i < distance.size(); ++i) {
        const double exact = std::exp(-static_cast<double>(distance[i]));
        worst = std::max(worst, std::abs(static_cast<double>(weights[i]) - exact) / exact);
    }
    CHECK(worst < 3e-7);
    CHECK(weights[0] == 1.0F);

    const std::vector<float> far = { 87.0F, 1000.0F, std::numeric_limits<float>::max(),
                                     std::numeric_limits<float>::infinity() };
    std::vector<float> none(far.size(), 1.0F);
    expNegative(far, none);
    CHECK(none == std::vector<float>(far.size(), 0.0F));
}

TEST_CASE("weights are relative to the likeliest id and follow the temperature")
{
    Nucleus nucleus;
    std::vector<float> logits = { 0.0F, 2.0F, 1.0F };
    auto weights = nucleus.weights(logits, 2.0F, { .temperature = 0.5F });
    CHECK(weights[0] == doctest::Approx(std::exp(-4.0)));
    CHECK(weights[1] == 1.0F);
    CHECK(weights[2] == doctest::Approx(std::exp(-2.0)));
}

TEST_CASE("top-k keeps the k likeliest, the lower id of equal ones")
{
    CHECK(kept(kLogits, { .topK = 1 }) == Ids { 1 });
    CHECK(kept(kLogits, { .topK = 2 }) == Ids { 1, 3 });
    CHECK(kept(kLogits, { .topK = 3 }) == Ids { 1, 2, 3 });
    CHECK(kept(kLogits, { .topK = 4 }) == Ids { 0, 1, 2, 3 });
    CHECK(kept(kLogits, { .topK = 99 }) == Ids { 0, 1, 2, 3 });
    CHECK(kept({ 1, 5, 5, 5, 2 }, { .topK = 2 }) == Ids { 1, 2 });
}

TEST_CASE("top-p keeps the smallest set that reaches the mass")
{
    CHECK(kept(kLogits, { .topP = 0.39F }) == Ids { 1 });
    CHECK(kept(kLogits, { .topP = 0.41F }) == Ids { 1, 3 });
    CHECK(kept(kLogits, { .topP = 0.69F }) == Ids { 1, 3 });
    CHECK(kept(kLogits, { .topP = 0.71F }) == Ids { 1, 2, 3 });
    CHECK(kept(kLogits, { .topP = 0.91F }) == Ids { 0, 1, 2, 3 });
    CHECK(kept(kLogits, { .topP = 1e-30F }) == Ids { 1 });
    CHECK(kept({ 7, 7, 7, 7 }, { .topP = 0.5F }) == Ids { 0, 1 });
}

TEST_CASE("min-p is relative to the likeliest id")
{
    CHECK(kept(kLogits, { .minP = 0.24F }) == Ids { 0, 1, 2, 3 }); // 0.1 / 0.4 = 0.25
    CHECK(kept(kLogits, { .minP = 0.26F }) == Ids { 1, 2, 3 });
    CHECK(kept(kLogits, { .minP = 0.51F }) == Ids { 1, 3 });
    CHECK(kept(kLogits, { .minP = 0.99F }) == Ids { 1 });
}

TEST_CASE("temperature comes before the cuts, and top-p sees what top-k left")
{
    // At temperature 0.5 the probabilities are squared: 0.01, 0.16, 0.04, 0.09 of 0.30, so the
    // likeliest alone has 53 %.
    CHECK(kept(kLogits, { .temperature = 0.5F, .topP = 0.5F }) == Ids { 1 });
    CHECK(kept(kLogits, { .temperature = 1.0F, .topP = 0.5F }) == Ids { 1, 3 });
    // Of the top 2 (0.4 and 0.3) the first has 57 %; of all it has only 40 %.
    CHECK(kept(kLogits, { .topK = 2, .topP = 0.5F }) == Ids { 1 });
    CHECK(kept(kLogits, { .topK = 0, .topP = 0.5F }) == Ids { 1, 3 });
}

TEST_CASE("extreme temperatures neither overflow nor lose the likeliest")
{
    const std::vector<float> logits
        = { -3e38F, 12.0F, 11.0F, 3e38F, -std::numeric_limits<float>::infinity() };
    for (const float temperature : { 1e-45F, 1e-30F, 1e-3F, 1.0F }) {
        CHECK(kept(logits, { .temperature = temperature }) == Ids { 3 });
        CHECK(kept(logits, { .temperature = temperature, .topK = 3, .topP = 0.9F, .minP = 0.1F })
              == Ids { 3 });
    }
    CHECK(kept({ 1.0F, 2.0F, 3.0F }, { .temperature = 1e38F }) == Ids { 0, 1, 2 });
    CHECK(kept({ 1.0F, 2.0F, 3.0F }, { .temperature = 1e38F, .topK = 1 }) == Ids { 2 });
}

TEST_CASE("a cut in a crowded bin equals a full sort")
{
    // Everything lies within one bin of 1/16 nat, many ids are equal.
    std::mt19937 random(7);
    std::vector<float> logits(50000);
    for (float &logit : logits)
        logit = static_cast<float>(random() % 1000) * 5e-5F;
    std::vector<std::int32_t> order(logits.size());
    for (std::size_t i = 0; i < order.size(); ++i)
        order[i] = static_cast<std::int32_t>(i);
    std::ranges::stable_sort(order, [&](auto a, auto b) {
        return logits[static_cast<std::size_t>(a)] > logits[static_cast<std::size_t>(b)];
    });
    for (const int k : { 1, 2, 777, 25000, 49999 }) {
        Ids expected(order.begin(), order.begin() + k);
        std::ranges::sort(expected);
        CHECK(kept(logits, { .topK = k }) == expected);
    }
}
