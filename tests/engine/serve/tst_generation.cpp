// SPDX-License-Identifier: MIT
#include "tests/engine/serve/engine_fixture.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <set>
#include <variant>

using namespace firesteel;
using namespace firesteel::engine;
using test::endlessRequest;

TEST_CASE("a request reports prefill, deltas and one end, in this order")
{
    test::EngineFixture fixture;
    REQUIRE(fixture.load());
    const test::RequestLog log = fixture.submit(endlessRequest(200, 20));
    const Finished finished = log.finished();
    CHECK(finished.reason == FinishReason::Length);
    CHECK(finished.tokens.size() == 20);
    CHECK(finished.usage.promptTokens == 200);
    CHECK(finished.usage.cachedTokens == 0);
    CHECK(finished.usage.completionTokens == 20);
    CHECK(finished.usage.reasoningTokens == 0);
    CHECK(finished.timings.prefillSeconds > 0);
    CHECK(finished.timings.decodeSeconds > 0);
    CHECK(finished.timings.timeToFirstTokenSeconds
          >= finished.timings.queueSeconds + finished.timings.prefillSeconds);

    int stage = 0;
    int processed = -1;
    int deltaTokens = 0;
    std::vector<std::int32_t> ids;
    for (const GenerationEvent &event : log.events()) {
        if (const auto *prefill = std::get_if<PrefillProgress>(&event)) {
            CHECK(stage == 0);
            CHECK(prefill->totalTokens == 200);
            CHECK(prefill->processedTokens > processed);
            processed = prefill->processedTokens;
        } else if (const auto *delta = std::get_if<TextDelta>(&event)) {
            CHECK(processed == 200);
            stage = 1;
            deltaTokens += delta->tokens;
            ids.insert(ids.end(), delta->ids.begin(), delta->ids.end());
        } else {
            CHECK(std::holds_alternative<Finished>(event));
            stage = 2;
        }
    }
    CHECK(stage == 2);
    CHECK(log.endings() == 1);
    CHECK(deltaTokens == 20);
    CHECK(ids == finished.tokens);

    const EngineStats stats = fixture.engine().stats();
    CHECK(stats.state == EngineStats::State::Ready);
    CHECK(stats.contextTokens == 512);
    CHECK(stats.waitingRequests == 0);
}

TEST_CASE("the counters of a finished request stay in the statistics")
{
    test::EngineFixture fixture;
    REQUIRE(fixture.load());
    (void)fixture.submit(endlessRequest(100, 10)).finished();
    (void)fixture.submit(endlessRequest(1, 1)).finished(); // the report of the first is out by now
    const EngineStats stats = fixture.engine().stats();
    CHECK(stats.prefillTokens >= 100);
    CHECK(stats.decodedTokens == 9); // the first token of an answer comes out of the prefill
    CHECK(stats.decodeSteps == 9);
    CHECK(stats.decodeTokensPerSecond > 0);
}

TEST_CASE("a request gives the same tokens alone, again and after others")
{
    test::EngineFixture fixture;
    REQUIRE(fixture.load());
    GenerationRequest request = endlessRequest(150, 30, 1);
    request.sampling.temperature = 1.0F;
    request.sampling.topP = 0.95F;
    request.sampling.seed = 5;
    const Finished alone = fixture.submit(request).finished();
    (void)fixture.submit(endlessRequest(300, 40, 2)).finished();
    (void)fixture.submit(endlessRequest(7, 3, 3)).finished();
    CHECK(fixture.submit(request).finished().tokens == alone.tokens);

    test::EngineFixture other;
    REQUIRE(other.load(700)); // the context length allocated changes nothing
    CHECK(other.submit(request).finished().tokens == alone.tokens);
}

TEST_CASE("seeds decide the answer, without one it varies")
{
    test::EngineFixture fixture;
    REQUIRE(fixture.load());
    GenerationRequest request = endlessRequest(20, 25);
    request.sampling.temperature = 1.5F;
    std::set<std::vector<std::int32_t>> answers;
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
        request.sampling.seed = seed;
        const auto tokens = fixture.submit(request).finished().tokens;
        CHECK(fixture.submit(request).finished().tokens == tokens);
        answers.insert(tokens);
    }
    request.sampling.seed.reset();
    answers.insert(fixture.submit(request).finished().tokens);
    answers.insert(fixture.submit(request).finished().tokens);
    CHECK(answers.size() == 6);
}

TEST_CASE("penalties see prompt and answer")
{
    test::EngineFixture fixture;
    REQUIRE(fixture.load());
    GenerationRequest request = endlessRequest(10, 60);
    request.sampling.presencePenalty = 1000.0F; // nothing twice
    const auto tokens = fixture.submit(request).finished().tokens;
    CHECK(std::set(tokens.begin(), tokens.end()).size() == 60);
}

TEST_CASE("ids without a token are never generated")
{
    test::EngineFixture fixture;
    REQUIRE(fixture.load());
    GenerationRequest request = endlessRequest(10, 200);
    request.sampling.temperature = 100.0F; // close to uniform: 8 of 320 ids have no token
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
        request.sampling.seed = seed;
        for (const std::int32_t token : fixture.submit(request).finished().tokens)
            CHECK(token < test::kTinyFirstAddedToken);
    }
}

TEST_CASE("a stop string ends the answer before it, wherever tokens begin")
{
    test::EngineFixture fixture;
    REQUIRE(fixture.load());
    const test::RequestLog whole = fixture.submit(endlessRequest(30, 60));
    const Finished all = whole.finished();
    const std::string text = whole.text();
    REQUIRE(text.size() > 40);
    for (const std::size_t start : { std::size_t { 5 }, std::size_t { 20 }, text.size() - 6 }) {
        const std::string stop = text.substr(start, 4);
        GenerationRequest request = endlessRequest(30, 60);
        request.stop = { "never in there", stop };
        const test::RequestLog log = fixture.submit(request);
        const Finished finished = log.finished();
        CHECK(finished.reason == FinishReason::StopString);
        CHECK(log.text() == text.substr(0, text.find(stop)));
        CHECK(finished.tokens.size() < all.tokens.size() + 1);
        CHECK(std::equal(finished.tokens.begin(), finished.tokens.end(), all.tokens.begin()));
    }
}

TEST_CASE("text held back for a stop string that never comes is given in the end")
{
    test::EngineFixture fixture;
    REQUIRE(fixture.load());
    const test::RequestLog plain = fixture.submit(endlessRequest(30, 40));
    (void)plain.finished();
    GenerationRequest request = endlessRequest(30, 40);
    request.stop = { plain.text().substr(plain.text().size() - 3) + "and more" };
    const test::RequestLog log = fixture.submit(request);
    CHECK(log.finished().reason == FinishReason::Length);
    CHECK(log.text() == plain.text());
}

TEST_CASE("the end-of-turn ids of both files end an answer, and are its last token")
{
    test::EngineFixture fixture;
    REQUIRE(fixture.load());
    const auto tokens = fixture.submit(endlessRequest(12, 20)).finished().tokens;
    const std::int32_t last = tokens[10];
    const auto first = std::ranges::find(tokens, last) - tokens.begin();

    // Named in generation_config.json only.
    test::writeFile(fixture.folder() / "generation_config.json",
                    "{\"eos_token_id\": " + std::to_string(last) + "}");
    REQUIRE(fixture.load());
    const test::RequestLog log = fixture.submit(endlessRequest(12, 20));
    const Finished finished = log.finished();
    CHECK(finished.reason == FinishReason::Stop);
    CHECK(finished.tokens == std::vector<std::int32_t>(tokens.begin(), tokens.begin() + first + 1));
    // Named in config.json: forced by a bias.
    GenerationRequest forced = endlessRequest(12, 20);
    forced.sampling.logitBias = { { test::kTinyFirstAddedToken + 9, 100.0F } };
    const Finished atOnce = fixture.submit(forced).finished();
    CHECK(atOnce.reason == FinishReason::Stop);
    CHECK(atOnce.tokens == std::vector<std::int32_t> { test::kTinyFirstAddedToken + 9 });
}

TEST_CASE("the answer ends where the context does")
{
    test::EngineFixture fixture;
    REQUIRE(fixture.load(128));
    GenerationRequest request = endlessRequest(100, 1000);
    const Finished clamped = fixture.submit(request).finished();
    CHECK(clamped.reason == FinishReason::Length);
    CHECK(clamped.tokens.size() == 28);
    request.maxTokens.reset();
    CHECK(fixture.submit(request).finished().tokens == clamped.tokens);
    const Finished single = fixture.submit(endlessRequest(127, 5)).finished();
    CHECK(single.reason == FinishReason::Length);
    CHECK(single.tokens.size() == 1);
}

TEST_CASE("reasoning is told from the answer")
{
    test::EngineFixture fixture;
    REQUIRE(fixture.load());
    GenerationRequest request = endlessRequest(12, 15);
    request.prompt.startsInThinking = true;
    const test::RequestLog log = fixture.submit(request);
    const Finished finished = log.finished();
    CHECK(finished.usage.reasoningTokens == 15);
    CHECK(log.text().empty());
    CHECK(!log.thinking().empty());
}
