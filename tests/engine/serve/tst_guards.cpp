// SPDX-License-Identifier: MIT
//
// What ends thinking or an answer before the model does: the thinking budget, the wish for an
// answer now, the guard against repetition. Drafted steps end at the very same token.
#include "tests/engine/serve/engine_fixture.h"
#include "tests/support/test_paths.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <memory>
#include <variant>
#include <vector>

using namespace firesteel;
using namespace firesteel::engine;
using test::endlessRequest;

namespace {

class Glimmer
{
public:
    Glimmer()
        : m_engine(createEngine({}))
    {
        LoadOptions options = test::loadOptions(test::embeddedModelDirectory(), 1024);
        options.drafterDirectory = test::embeddedDrafterDirectory();
        const test::LoadLog log;
        m_engine->load(options, log.sink());
        if (const auto info = log.result(); !info)
            FAIL(info.error().message);
    }

    // Greedy, thinking as long as it likes.
    GenerationRequest question(DrafterKind drafter = DrafterKind::Auto)
    {
        const std::vector<Message> messages { Message::text(
            Role::User, "Zoe has 17 books and gets 4 more. How many books does Zoe have?") };
        auto prompt = m_engine->prepare(messages, {}, {});
        if (!prompt)
            FAIL(prompt.error().message);
        GenerationRequest request;
        request.prompt = std::move(*prompt);
        request.sampling.temperature = 0;
        request.maxTokens = 200;
        request.drafting.drafter = drafter;
        return request;
    }

    test::RequestLog submit(GenerationRequest request, EventSink also = {})
    {
        test::RequestLog log;
        if (const auto id = m_engine->submit(std::move(request), log.sink(std::move(also))); !id)
            FAIL(id.error().message);
        return log;
    }

    Engine &engine() { return *m_engine; }

private:
    std::unique_ptr<Engine> m_engine;
};

// A request that says one token for ever.
GenerationRequest stuckRequest(int maxTokens)
{
    GenerationRequest request = endlessRequest(10, maxTokens);
    request.sampling.logitBias.emplace_back(40, 1000.0F);
    return request;
}

} // namespace

TEST_CASE("a thinking budget ends the thinking and keeps the answer")
{
    Glimmer glimmer;
    const Finished free = glimmer.submit(glimmer.question()).finished();
    const int thought = free.usage.reasoningTokens; // the tag that ends it included
    REQUIRE(thought > 8);
    REQUIRE(free.reason == FinishReason::Stop);

    std::vector<std::int32_t> expected;
    for (const DrafterKind drafter :
         { DrafterKind::None, DrafterKind::Dflash2, DrafterKind::Lookup }) {
        GenerationRequest request = glimmer.question(drafter);
        request.thinkingBudget = 5;
        const test::RequestLog log = glimmer.submit(request);
        const Finished finished = log.finished();
        CHECK(finished.usage.reasoningTokens == 5 + 1);
        CHECK(
            std::equal(finished.tokens.begin(), finished.tokens.begin() + 5, free.tokens.begin()));
        CHECK(finished.tokens[5] == free.tokens[static_cast<std::size_t>(thought - 1)]);
        CHECK(!log.text().empty());
        CHECK(finished.reason == FinishReason::Stop);
        if (expected.empty())
            expected = finished.tokens;
        CHECK(finished.tokens == expected);
    }
}

TEST_CASE("a budget that is not used up changes nothing")
{
    Glimmer glimmer;
    const Finished free = glimmer.submit(glimmer.question()).finished();
    GenerationRequest request = glimmer.question();
    request.thinkingBudget = free.usage.reasoningTokens;
    CHECK(glimmer.submit(request).finished().tokens == free.tokens);
}

TEST_CASE("the answer can be wanted now")
{
    Glimmer glimmer;
    const Finished free = glimmer.submit(glimmer.question()).finished();
    int deltas = 0;
    const test::RequestLog log
        = glimmer.submit(glimmer.question(), [&](RequestId id, const GenerationEvent &event) {
              if (std::holds_alternative<ThinkingDelta>(event) && ++deltas == 1)
                  glimmer.engine().answerNow(id);
          });
    const Finished finished = log.finished();
    CHECK(finished.usage.reasoningTokens < free.usage.reasoningTokens);
    CHECK(finished.usage.reasoningTokens >= 2);
    CHECK(!log.text().empty());
    CHECK(finished.reason == FinishReason::Stop);
    glimmer.engine().answerNow(12345); // nobody's
}

TEST_CASE("an answer that repeats itself is ended, and says why")
{
    test::EngineFixture fixture;
    REQUIRE(fixture.load(1024));
    const Finished finished = fixture.submit(stuckRequest(1000)).finished();
    CHECK(finished.reason == FinishReason::Repetition);
    CHECK(finished.tokens.size() == 1 + 512);

    GenerationRequest wished = stuckRequest(600);
    wished.stopsRepetition = false;
    CHECK(fixture.submit(wished).finished().reason == FinishReason::Length);
}
