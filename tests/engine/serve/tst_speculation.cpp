// SPDX-License-Identifier: MIT
//
// The whole engine with Glimmer and its drafter as they come with the program: drafted answers are
// the undrafted ones, at every temperature, K and drafter, and drafting is counted.
#include "tests/engine/serve/engine_fixture.h"
#include "tests/support/test_paths.h"

#include <array>
#include <doctest/doctest.h>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

using namespace firesteel;
using namespace firesteel::engine;

namespace {

constexpr std::array<const char *, 20> kQuestions {
    "Count from 1 to 40.",
    "Please write a JSON array of the numbers 17 to 31.",
    "Tell me a story about a horse and a bell.",
    "can you write the Fibonacci sequence in Python?",
    "Tell me about the seasons.",
    "What is the capital of France?",
    "Zoe has 17 books and gets 4 more. How many books does Zoe have?",
    "Reverse the order of these words: mouse, train, garden, engine, spoon, flag",
    "Repeat exactly: 7f3a-99b1-c0de-44aa-7f3a-99b1",
    "Make a Markdown table with name, age and city: Victor, 41, Sofia; Leo, 48, Tokyo.",
    "How many layers does GLM-5.3-Flash have?",
    "Which keyboard shortcuts are there?",
    "List five colours.",
    "Hi! Count down from 73 to 54.",
    "What is K?",
    "Name the days of the week.",
    "How old is my neighbour Daria?",
    "Convert 5 kilometres to metres.",
    "Write the letters from C to P.",
    "Are your answers always right?",
};

class Glimmer
{
public:
    explicit Glimmer(bool withDrafter = true)
        : m_engine(createEngine({}))
    {
        LoadOptions options = test::loadOptions(test::embeddedModelDirectory(), 1024);
        if (withDrafter)
            options.drafterDirectory = test::embeddedDrafterDirectory();
        const test::LoadLog log;
        m_engine->load(options, log.sink());
        const auto info = log.result();
        if (!info)
            FAIL(info.error().message);
        m_info = *info;
    }

    Finished ask(const std::string &question, const Drafting &drafting, float temperature,
                 int maxTokens)
    {
        const std::vector<Message> messages { Message::text(Role::User, question) };
        PromptOptions options;
        options.effort = ReasoningEffort::Low;
        auto prompt = m_engine->prepare(messages, {}, options);
        if (!prompt)
            FAIL(prompt.error().message);
        GenerationRequest request;
        request.prompt = std::move(*prompt);
        request.sampling.temperature = temperature;
        request.sampling.topP = 0.95F;
        request.sampling.seed = 3;
        request.maxTokens = maxTokens;
        request.drafting = drafting;
        const test::RequestLog log;
        if (const auto id = m_engine->submit(std::move(request), log.sink()); !id)
            FAIL(id.error().message);
        return log.finished();
    }

    Engine &engine() { return *m_engine; }
    const ModelInfo &info() const { return m_info; }

private:
    std::unique_ptr<Engine> m_engine;
    ModelInfo m_info;
};

} // namespace

TEST_CASE("twenty questions: drafted answers are the undrafted ones")
{
    Glimmer glimmer;
    const std::vector<Drafting> settings {
        { DrafterKind::Dflash2, 1 }, { DrafterKind::Dflash2, 3 }, { DrafterKind::Dflash2, 5 },
        { DrafterKind::Dflash2, 7 }, { DrafterKind::Dflash2, 8 }, { DrafterKind::Lookup, 8 },
        { DrafterKind::Auto, {} },
    };
    for (const char *question : kQuestions)
        for (const float temperature : { 0.0F, 0.7F, 1.0F }) {
            CAPTURE(question);
            CAPTURE(temperature);
            const Finished plain
                = glimmer.ask(question, { DrafterKind::None, {} }, temperature, 40);
            CHECK(plain.drafting.drafted == 0);
            for (const Drafting &drafting : settings) {
                CAPTURE(drafterName(drafting.drafter));
                CAPTURE(drafting.tokens.value_or(-1));
                const Finished drafted = glimmer.ask(question, drafting, temperature, 40);
                CHECK(drafted.tokens == plain.tokens);
                CHECK(drafted.reason == plain.reason);
            }
        }
}

TEST_CASE("drafting is counted for the request and for the engine")
{
    Glimmer glimmer;
    CHECK(glimmer.info().drafter == "DFlash2");
    CHECK(glimmer.info().drafterBytes > 0);
    const Finished finished = glimmer.ask(kQuestions[0], { DrafterKind::Dflash2, 5 }, 0, 40);
    const DraftCounts &counts = finished.drafting;
    CHECK(counts.steps > 0);
    CHECK(counts.drafted > counts.steps);
    CHECK(counts.accepted > counts.drafted / 2); // counting is easy to draft
    CHECK(counts.drafted == std::accumulate(counts.draftedAt.begin(), counts.draftedAt.end(), 0));
    CHECK(counts.accepted
          == std::accumulate(counts.acceptedAt.begin(), counts.acceptedAt.end(), 0));
    CHECK(counts.draftedAt[5] == 0);
    for (std::size_t k = 1; k < counts.acceptedAt.size(); ++k)
        CHECK(counts.acceptedAt[k] <= counts.acceptedAt[k - 1]);
    CHECK(counts.draftSeconds > 0);
    CHECK(counts.verifySeconds > 0);
    // The first token comes out of the prefill, every other one out of a step; what was accepted
    // beyond the end does not count as generated.
    CHECK(finished.usage.completionTokens <= 1 + counts.steps + counts.accepted);

    (void)glimmer.ask(kQuestions[5], { DrafterKind::None, {} }, 0, 2); // the report is out by now
    const EngineStats stats = glimmer.engine().stats();
    CHECK(stats.drafting.drafted == counts.drafted);
    CHECK(stats.drafting.accepted == counts.accepted);
    CHECK(stats.drafting.steps >= counts.steps);
}

TEST_CASE("without a drafter requests for it are refused and auto still answers")
{
    Glimmer glimmer(false);
    CHECK(glimmer.info().drafter.empty());
    CHECK(glimmer.info().drafterBytes == 0);
    CHECK(glimmer.ask(kQuestions[4], {}, 0, 20).usage.completionTokens == 20);
    GenerationRequest request = test::endlessRequest(10, 5);
    request.drafting = { DrafterKind::Dflash2, 3 };
    const test::RequestLog log;
    auto refused = glimmer.engine().submit(request, log.sink());
    REQUIRE_FALSE(refused);
    CHECK(refused.error().message.contains("No DFlash2 drafter"));
    for (const int tokens : { -1, 9 }) {
        request.drafting = { DrafterKind::Auto, tokens };
        refused = glimmer.engine().submit(request, log.sink());
        REQUIRE_FALSE(refused);
        CHECK(refused.error().code == ErrorCode::BadRequest);
        CHECK(refused.error().message.contains("draft tokens"));
    }
}

TEST_CASE("a drafter that cannot be read fails the load by name")
{
    const auto engine = createEngine({});
    LoadOptions options = test::loadOptions(test::embeddedModelDirectory(), 256);
    options.drafterDirectory = test::embeddedModelDirectory();
    const test::LoadLog log;
    engine->load(options, log.sink());
    const auto info = log.result();
    REQUIRE_FALSE(info);
    CHECK(info.error().message.contains("config.json"));
}
