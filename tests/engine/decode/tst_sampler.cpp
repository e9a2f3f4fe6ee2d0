// SPDX-License-Identifier: MIT
#include "engine/decode/philox.h"
#include "engine/decode/sampler.h"
#include "tests/engine/decode/reference_sampler.h"

#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>
#include <limits>
#include <random>
#include <stdexcept>

using namespace firesteel;
using engine::Sampler;
using engine::SamplingParams;

namespace {

std::vector<std::uint64_t> allIds(std::size_t vocabulary)
{
    return std::vector<std::uint64_t>((vocabulary + 63) / 64, ~std::uint64_t { 0 });
}

std::vector<std::uint64_t> maskOf(const std::vector<bool> &allowed)
{
    std::vector<std::uint64_t> words((allowed.size() + 63) / 64, 0);
    for (std::size_t i = 0; i < allowed.size(); ++i) {
        if (allowed[i])
            words[i / 64] |= std::uint64_t { 1 } << (i % 64);
    }
    return words;
}

SamplingParams greedy()
{
    SamplingParams params;
    params.temperature = 0;
    return params;
}

std::int32_t sampleOnce(Sampler &sampler, std::vector<float> logits, std::uint64_t position = 0,
                        engine::TokenMask mask = {})
{
    return sampler.sample(logits, position, mask).value();
}

} // namespace

TEST_CASE("temperature 0 takes the largest logit, the lowest id of equal ones")
{
    const auto mapped = allIds(100);
    Sampler sampler(greedy(), mapped, 1);
    CHECK(sampleOnce(sampler, { 1, 3, 2 }) == 1);
    CHECK(sampleOnce(sampler, { 5, 3, 5, 5 }) == 0);
    CHECK(sampleOnce(sampler, { -5, -3, -3 }) == 1);
    std::vector<float> wide(100, -1.0F);
    wide[97] = wide[98] = 0.5F;
    CHECK(sampleOnce(sampler, wide) == 97);
}

TEST_CASE("unmapped ids, masked ids and banned ids are never taken")
{
    std::vector<bool> hasToken(8, true);
    hasToken[7] = false;
    const auto mapped = maskOf(hasToken);
    const std::vector<float> logits = { 0, 1, 2, 3, 4, 5, 6, 7 };

    Sampler plain(greedy(), mapped, 1);
    CHECK(sampleOnce(plain, logits) == 6);
    const std::vector<std::uint64_t> mask = { 0b1010'1010 };
    CHECK(sampleOnce(plain, logits, 0, mask) == 5);

    SamplingParams params = greedy();
    params.logitBias = { { 6, -100.0F }, { 5, -1000.0F } };
    Sampler banning(params, mapped, 1);
    CHECK(sampleOnce(banning, logits) == 4);
}

TEST_CASE("a mask comes before a bias: the bias cannot bring an id back")
{
    const auto mapped = allIds(3);
    SamplingParams params = greedy();
    params.logitBias = { { 2, 100.0F } };
    Sampler sampler(params, mapped, 1);
    CHECK(sampleOnce(sampler, { 0, 1, 2 }) == 2);
    CHECK(sampleOnce(sampler, { 0, 1, 2 }, 0, std::vector<std::uint64_t> { 0b011 }) == 1);
}

TEST_CASE("a bias comes before the repetition penalty")
{
    // (1 + 3) / 2 = 2 < 2.5; penalising first would give 1 / 2 + 3 = 3.5.
    const auto mapped = allIds(2);
    SamplingParams params = greedy();
    params.logitBias = { { 0, 3.0F } };
    params.repetitionPenalty = 2;
    Sampler sampler(params, mapped, 1);
    CHECK(sampleOnce(sampler, { 1.0F, 2.5F }) == 0);
    sampler.accept(0);
    CHECK(sampleOnce(sampler, { 1.0F, 2.5F }) == 1);
}

TEST_CASE("repetition penalty divides positive and multiplies negative logits of prompt and answer")
{
    const auto mapped = allIds(4);
    SamplingParams params = greedy();
    params.repetitionPenalty = 2;
    Sampler sampler(params, mapped, 1);
    const std::vector<std::int32_t> prompt = { 0, 0, 0 };
    sampler.addPrompt(prompt);
    CHECK(sampleOnce(sampler, { 4.0F, 2.1F, 0, 0 }) == 1); // 4 / 2 once, however often it occurred
    CHECK(sampleOnce(sampler, { 4.4F, 2.1F, 0, 0 }) == 0);
    CHECK(sampleOnce(sampler, { -1.0F, -1.9F, -9, -9 }) == 1); // -1 * 2
    CHECK(sampleOnce(sampler, { -1.0F, -2.1F, -9, -9 }) == 0);
    sampler.accept(1);
    CHECK(sampleOnce(sampler, { -1.0F, -2.1F, -1.9F, -9 }) == 2);
}

TEST_CASE("presence counts once, frequency per occurrence, both over the answer only")
{
    const auto mapped = allIds(2);
    const std::vector<std::int32_t> prompt = { 0, 0 };
    SamplingParams presence = greedy();
    presence.presencePenalty = 1;
    Sampler once(presence, mapped, 1);
    once.addPrompt(prompt);
    CHECK(sampleOnce(once, { 1.5F, 1.0F }) == 0);
    once.accept(0);
    CHECK(sampleOnce(once, { 1.5F, 1.0F }) == 1);
    once.accept(0);
    CHECK(sampleOnce(once, { 2.1F, 1.0F }) == 0);

    SamplingParams frequency = greedy();
    frequency.frequencyPenalty = 0.5F;
    Sampler often(frequency, mapped, 1);
    often.addPrompt(prompt);
    often.accept(0);
    CHECK(sampleOnce(often, { 1.6F, 1.0F }) == 0);
    often.accept(0);
    CHECK(sampleOnce(often, { 1.6F, 1.0F }) == 1);
}

TEST_CASE("undo restores the history that was there before")
{
    const auto mapped = allIds(2);
    SamplingParams params = greedy();
    params.frequencyPenalty = 1;
    params.repetitionPenalty = 1.5F;
    Sampler sampler(params, mapped, 1);
    sampler.accept(0);
    const std::vector<float> logits = { 3.2F, 1.0F }; // 3.2 / 1.5 - 1 = 1.13
    CHECK(sampleOnce(sampler, logits) == 0);
    sampler.accept(0);
    sampler.accept(1);
    sampler.accept(0);
    CHECK(sampleOnce(sampler, logits) == 1);
    sampler.undo(3);
    CHECK(sampleOnce(sampler, logits) == 0);
    sampler.accept(0);
    CHECK(sampleOnce(sampler, logits) == 1); // an id taken back and accepted again counts once
    CHECK_THROWS_AS(sampler.undo(3), std::logic_error);
}

TEST_CASE("a copy goes its own way")
{
    const auto mapped = allIds(2);
    SamplingParams params = greedy();
    params.presencePenalty = 1;
    Sampler original(params, mapped, 1);
    Sampler copy = original;
    copy.accept(0);
    CHECK(sampleOnce(original, { 1.5F, 1.0F }) == 0);
    CHECK(sampleOnce(copy, { 1.5F, 1.0F }) == 1);
}

TEST_CASE("logits that are not finite are broken invariants, an empty choice gives no token")
{
    const auto mapped = allIds(4);
    for (const float temperature : { 0.0F, 1.0F }) {
        SamplingParams params;
        params.temperature = temperature;
        Sampler sampler(params, mapped, 1);
        for (const float bad :
             { std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
               -std::numeric_limits<float>::infinity() })
            CHECK_THROWS_AS(sampleOnce(sampler, { 0, 1, bad, 2 }), std::logic_error);
        std::vector<float> logits { 0, 1, 2, 3 };
        CHECK_FALSE(sampler.sample(logits, 0, std::vector<std::uint64_t> { 0 }));
        CHECK_THROWS_AS(sampleOnce(sampler, std::vector<float>(65, 0.0F)),
                        std::logic_error); // more rows than mask bits
    }
}

TEST_CASE("top-k 1 is greedy at any temperature")
{
    std::mt19937 random(3);
    std::normal_distribution<float> normal;
    const auto mapped = allIds(1000);
    Sampler argmax(greedy(), mapped, 1);
    for (int round = 0; round < 200; ++round) {
        std::vector<float> logits(1000);
        for (float &logit : logits)
            logit = std::round(normal(random) * 4) / 4; // many equal ones
        SamplingParams params;
        params.topK = 1;
        params.temperature = std::pow(10.0F, static_cast<float>(round % 13) - 6);
        Sampler sampler(params, mapped, static_cast<std::uint64_t>(round));
        CHECK(sampleOnce(sampler, logits, 5) == sampleOnce(argmax, logits, 5));
    }
}

TEST_CASE("a token depends on seed and position, not on what was sampled before")
{
    const auto mapped = allIds(500);
    std::vector<float> logits(500);
    for (std::size_t i = 0; i < logits.size(); ++i)
        logits[i] = std::sin(static_cast<float>(i));
    Sampler forwards({}, mapped, 42);
    Sampler backwards({}, mapped, 42);
    Sampler other({}, mapped, 43);
    std::vector<std::int32_t> up;
    std::vector<std::int32_t> down;
    std::vector<std::int32_t> elsewhere;
    for (std::uint64_t position = 0; position < 64; ++position) {
        up.push_back(sampleOnce(forwards, logits, position));
        down.push_back(sampleOnce(backwards, logits, 63 - position));
        elsewhere.push_back(sampleOnce(other, logits, position));
    }
    std::ranges::reverse(down);
    CHECK(up == down);
    CHECK(up != elsewhere);
}

TEST_CASE("random settings give the reference's token")
{
    std::mt19937 random(11);
    const auto uniform = [&](float low, float high) {
        return std::uniform_real_distribution<float>(low, high)(random);
    };
    int unclear = 0;
    constexpr int kRounds = 3000;
    for (int round = 0; round < kRounds; ++round) {
        const std::size_t vocabulary = round % 100 == 0 ? 154880 : 1 + random() % 700;
        std::normal_distribution<float> normal(0, uniform(0.1F, 6.0F));
        std::vector<float> logits(vocabulary);
        for (float &logit : logits)
            logit = normal(random);

        SamplingParams params;
        params.temperature = uniform(0.05F, 3.0F);
        params.topK = random() % 2 == 0 ? 0 : static_cast<int>(1 + random() % 100);
        params.topP = random() % 2 == 0 ? 1.0F : uniform(0.01F, 1.0F);
        params.minP = random() % 2 == 0 ? 0.0F : uniform(0.0F, 0.5F);
        test::ReferenceHistory history;
        if (random() % 2 == 0) {
            params.repetitionPenalty = uniform(0.8F, 2.0F);
            params.presencePenalty = uniform(-2.0F, 2.0F);
            params.frequencyPenalty = uniform(-2.0F, 2.0F);
            for (int i = 0; i < 20; ++i) {
                history.prompt.push_back(static_cast<std::int32_t>(random() % vocabulary));
                history.answer.push_back(static_cast<std::int32_t>(random() % vocabulary));
            }
            const auto biased = static_cast<std::int32_t>(random() % vocabulary);
            params.logitBias = { { biased, uniform(-10.0F, 10.0F) } };
        }
        std::vector<bool> allowed(vocabulary, true);
        if (random() % 3 == 0) {
            for (std::size_t i = 0; i < vocabulary; ++i)
                allowed[i] = random() % 3 == 0;
            allowed[random() % vocabulary] = true;
        }

        const auto mapped
            = maskOf(allowed); // half of the time as the mask of the call, half as the mapped ids
        const auto everything = allIds(vocabulary);
        const std::uint64_t seed = random();
        const std::uint64_t position = random() % 10000;
        Sampler sampler(params, round % 2 == 0 ? mapped : everything, seed);
        sampler.addPrompt(history.prompt);
        for (const std::int32_t token : history.answer)
            sampler.accept(token);
        const std::vector<double> distribution
            = test::referenceDistribution(logits, params, history, allowed);
        const std::int32_t token
            = sampleOnce(sampler, logits, position, round % 2 == 0 ? everything : mapped);
        CAPTURE(round);
        CHECK(allowed[static_cast<std::size_t>(token)]);

        // Every weight is off by at most 3e-7 of itself (expNegative) plus the rounding of gap /
        // temperature in float (half an ulp of a distance below 87: 4e-6 at worst), and so is a
        // cumulated sum of them.
        const auto expected
            = test::referenceDraw(distribution, engine::uniformAt(seed, position), 1e-5);
        if (expected)
            CHECK(token == *expected);
        else
            ++unclear;
    }
    CHECK(unclear < kRounds / 50);
}
