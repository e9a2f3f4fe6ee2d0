// SPDX-License-Identifier: MIT
#include "tests/engine/serve/engine_fixture.h"

#include <doctest/doctest.h>
#include <functional>
#include <limits>

using namespace firesteel;
using namespace firesteel::engine;
using test::endlessRequest;

namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

} // namespace

TEST_CASE("what cannot be done is refused before it waits")
{
    test::EngineFixture fixture;
    REQUIRE(fixture.load(128));

    struct Case
    {
        std::string named; // in the message
        std::function<void(GenerationRequest &)> spoil;
    };
    const std::vector<Case> cases = {
        { "prompt is empty", [](auto &r) { r.prompt.tokens.clear(); } },
        { "token 320", [](auto &r) { r.prompt.tokens[3] = 320; } },
        { "token -1", [](auto &r) { r.prompt.tokens[3] = -1; } },
        { "temperature", [](auto &r) { r.sampling.temperature = -0.1F; } },
        { "temperature", [](auto &r) { r.sampling.temperature = kNan; } },
        { "temperature", [](auto &r) { r.sampling.temperature = kInfinity; } },
        { "top_p", [](auto &r) { r.sampling.topP = 0; } },
        { "top_p", [](auto &r) { r.sampling.topP = 1.01F; } },
        { "top_p", [](auto &r) { r.sampling.topP = kNan; } },
        { "top_k", [](auto &r) { r.sampling.topK = -1; } },
        { "min_p", [](auto &r) { r.sampling.minP = 1; } },
        { "min_p", [](auto &r) { r.sampling.minP = -0.5F; } },
        { "min_p", [](auto &r) { r.sampling.minP = kNan; } },
        { "repetition_penalty", [](auto &r) { r.sampling.repetitionPenalty = 0; } },
        { "repetition_penalty", [](auto &r) { r.sampling.repetitionPenalty = kNan; } },
        { "repetition_penalty", [](auto &r) { r.sampling.repetitionPenalty = kInfinity; } },
        { "presence_penalty", [](auto &r) { r.sampling.presencePenalty = kNan; } },
        { "frequency_penalty", [](auto &r) { r.sampling.frequencyPenalty = -kInfinity; } },
        { "logit_bias names token 320", [](auto &r) { r.sampling.logitBias = { { 320, 1.0F } }; } },
        { "logit_bias names token -5", [](auto &r) { r.sampling.logitBias = { { -5, 1.0F } }; } },
        { "logit_bias of token 7", [](auto &r) { r.sampling.logitBias = { { 7, kNan } }; } },
        { "max_tokens", [](auto &r) { r.maxTokens = 0; } },
        { "max_tokens", [](auto &r) { r.maxTokens = -4; } },
        { "thinking_budget", [](auto &r) { r.thinkingBudget = 0; } },
        { "stop strings", [](auto &r) { r.stop.assign(17, "x"); } },
        { "stop string is empty", [](auto &r) { r.stop = { "a", "" }; } },
    };
    for (const Case &wrong : cases) {
        CAPTURE(wrong.named);
        GenerationRequest request = endlessRequest(10, 5);
        wrong.spoil(request);
        const test::RequestLog log;
        const auto id = fixture.engine().submit(request, log.sink());
        REQUIRE(!id);
        CHECK(id.error().code == ErrorCode::BadRequest);
        CHECK(id.error().message.find(wrong.named) != std::string::npos);
        CHECK(log.events().empty());
    }
    CHECK(fixture.submit(endlessRequest(10, 5)).finished().tokens.size() == 5);
}

TEST_CASE("a prompt that leaves no room for an answer is refused with both numbers")
{
    test::EngineFixture fixture;
    REQUIRE(fixture.load(128));
    const test::RequestLog log;
    for (const int length : { 128, 129, 5000 }) {
        const auto id = fixture.engine().submit(endlessRequest(length, 5), log.sink());
        REQUIRE(!id);
        CHECK(id.error().code == ErrorCode::ContextExceeded);
        CHECK(id.error().message
              == "This model's maximum context length is 128 tokens. However, your messages "
                 "resulted in "
                  + std::to_string(length) + " tokens.");
    }
}

TEST_CASE("sixteen stop strings are allowed")
{
    test::EngineFixture fixture;
    REQUIRE(fixture.load(128));
    GenerationRequest request = endlessRequest(10, 5);
    request.stop.assign(16, "nowhere to be found");
    CHECK(fixture.submit(request).finished().reason == FinishReason::Length);
}
