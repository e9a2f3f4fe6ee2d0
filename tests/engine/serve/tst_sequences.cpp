// SPDX-License-Identifier: MIT
//
// Several requests at once: each gets what it would get alone, drafted or not, whoever runs beside
// it; prompts are read while others decode; sources take turns.
#include "tests/engine/serve/engine_fixture.h"
#include "tests/support/test_paths.h"

#include <algorithm>
#include <array>
#include <doctest/doctest.h>
#include <memory>
#include <mutex>
#include <string>
#include <variant>
#include <vector>

using namespace firesteel;
using namespace firesteel::engine;
using test::endlessRequest;

namespace {

// Requests of different lengths and settings.
GenerationRequest mixedRequest(int i)
{
    GenerationRequest request = endlessRequest(20 + 37 * (i % 7), 10 + 5 * (i % 4), i);
    request.sampling.temperature = i % 3 == 0 ? 0.0F : 0.8F;
    request.sampling.seed = static_cast<std::uint64_t>(i);
    request.sampling.presencePenalty = i % 2 == 0 ? 0.0F : 0.5F;
    request.drafting.drafter = i % 2 == 0 ? DrafterKind::Lookup : DrafterKind::None;
    return request;
}

} // namespace

TEST_CASE("eight at once give what each gives alone")
{
    constexpr int kRequests = 24;
    std::vector<std::vector<std::int32_t>> alone;
    {
        test::EngineFixture fixture;
        REQUIRE(fixture.load(512));
        for (int i = 0; i < kRequests; ++i)
            alone.push_back(fixture.submit(mixedRequest(i)).finished().tokens);
    }
    test::EngineFixture fixture;
    const auto info = fixture.load(512, kMaxSequences);
    REQUIRE(info);
    CHECK(info->sequences == kMaxSequences);
    std::vector<test::RequestLog> logs;
    for (int i = 0; i < kRequests; ++i)
        logs.push_back(fixture.submit(mixedRequest(i)));
    for (int i = 0; i < kRequests; ++i) {
        CAPTURE(i);
        CHECK(logs[static_cast<std::size_t>(i)].finished().tokens
              == alone[static_cast<std::size_t>(i)]);
    }
    CHECK(fixture.engine().stats().contextTokens == kMaxSequences * 512);
}

TEST_CASE("Glimmer and its drafter: four conversations at once give what each gives alone")
{
    constexpr std::array kQuestions { "Count from 1 to 40.", "What is the capital of France?",
                                      "Repeat exactly: 7f3a-99b1-c0de-44aa-7f3a-99b1",
                                      "Tell me about the seasons." };
    std::vector<std::vector<std::int32_t>> alone;
    for (const int sequences : { 1, 4 }) {
        const std::unique_ptr<Engine> engine = createEngine({});
        LoadOptions options = test::loadOptions(test::embeddedModelDirectory(), 1024, sequences);
        options.drafterDirectory = test::embeddedDrafterDirectory();
        const test::LoadLog load;
        engine->load(options, load.sink());
        REQUIRE(load.result());
        std::vector<test::RequestLog> logs(kQuestions.size());
        for (std::size_t i = 0; i < kQuestions.size(); ++i) {
            const std::vector<Message> messages { Message::text(Role::User, kQuestions.at(i)) };
            auto prompt = engine->prepare(messages, {}, {});
            REQUIRE(prompt);
            GenerationRequest request;
            request.prompt = std::move(*prompt);
            request.sampling.temperature = i % 2 == 0 ? 0.0F : 0.7F;
            request.sampling.seed = 3;
            request.maxTokens = 40;
            request.drafting.tokens = static_cast<int>(2 * i + 1);
            REQUIRE(engine->submit(std::move(request), logs[i].sink()));
        }
        for (std::size_t i = 0; i < logs.size(); ++i) {
            if (sequences == 1)
                alone.push_back(logs[i].finished().tokens);
            else
                CHECK(logs[i].finished().tokens == alone[i]);
        }
        CHECK(engine->stats().drafting.accepted > 0);
    }
}

TEST_CASE("a prompt is read while another request decodes, which goes on meanwhile")
{
    test::EngineFixture fixture;
    REQUIRE(fixture.load(2048, 2));
    std::mutex mutex;
    std::string order; // d: a delta of the first; p: a chunk of the second's prompt
    const auto note = [&](char what) {
        const std::lock_guard lock(mutex);
        order += what;
    };
    const test::RequestLog first;
    REQUIRE(fixture.engine().submit(endlessRequest(10, 2000),
                                    first.sink([&](RequestId, const GenerationEvent &event) {
                                        if (std::holds_alternative<TextDelta>(event))
                                            note('d');
                                    })));
    first.waitForDelta();
    const test::RequestLog second;
    const auto id = fixture.engine().submit(
        endlessRequest(1500, 1, 1), second.sink([&](RequestId, const GenerationEvent &event) {
            const auto *progress = std::get_if<PrefillProgress>(&event);
            if (progress != nullptr && progress->processedTokens > 0)
                note('p');
        }));
    REQUIRE(id);
    second.waitForEnd();
    const std::string seen = [&] {
        const std::lock_guard lock(mutex);
        return order;
    }();
    // Between any two chunks the other one got on, unless it had ended.
    if (first.endings() == 0) {
        CHECK(seen.find("pp") == std::string::npos);
        CHECK(std::ranges::count(seen, 'p') >= 1500 / 64);
    }
    first.waitForEnd();
}

TEST_CASE("a short prompt does not wait for a long one")
{
    test::EngineFixture fixture;
    REQUIRE(fixture.load(2048, 2));
    const test::RequestLog longer = fixture.submit(endlessRequest(2000, 1));
    const test::RequestLog shorter = fixture.submit(endlessRequest(30, 1, 1));
    CHECK(shorter.finished().tokens.size() == 1);
    CHECK(longer.finished().tokens.size() == 1);
    // Both were there before a chunk of the longer one was done; had it gone first, the shorter
    // one's wait would hold all of its time.
    CHECK(shorter.finished().timings.timeToFirstTokenSeconds
          < longer.finished().timings.timeToFirstTokenSeconds);
}

TEST_CASE("sources take turns")
{
    test::EngineFixture fixture;
    REQUIRE(fixture.load());
    std::mutex mutex;
    std::string order;
    std::vector<test::RequestLog> logs(6);
    const std::string sources = "aaaabb";
    for (std::size_t i = 0; i < logs.size(); ++i) {
        GenerationRequest request
            = endlessRequest(10, i == 0 ? 400 : 3, static_cast<int>(i)); // until all are there
        request.source = sources.substr(i, 1);
        REQUIRE(fixture.engine().submit(
            request, logs[i].sink([&, i](RequestId, const GenerationEvent &event) {
                if (!std::holds_alternative<Finished>(event))
                    return;
                const std::lock_guard lock(mutex);
                order += sources[i];
            })));
        if (i == 0)
            logs[0].waitForDelta();
    }
    for (const test::RequestLog &log : logs)
        log.waitForEnd();
    CHECK(order == "ababaa");
}

TEST_CASE("turns of a chat read only what is new, and count the rest as cached")
{
    const std::unique_ptr<Engine> engine = createEngine({});
    const test::LoadLog load;
    engine->load(test::loadOptions(test::embeddedModelDirectory(), 4096, 2), load.sink());
    REQUIRE(load.result());
    std::vector<Message> messages;
    int before = 0; // tokens of the last prompt and its answer, but for the last one
    for (int turn = 0; turn < 6; ++turn) {
        messages.push_back(Message::text(Role::User,
                                         "Count from " + std::to_string(turn * 3 + 1) + " to "
                                             + std::to_string(turn * 3 + 9) + "."));
        auto prompt = engine->prepare(messages, {}, {});
        REQUIRE(prompt);
        GenerationRequest request;
        request.prompt = std::move(*prompt);
        request.sampling.temperature = 0;
        const test::RequestLog log;
        REQUIRE(engine->submit(std::move(request), log.sink()));
        const Finished finished = log.finished();
        REQUIRE(finished.reason == FinishReason::Stop);
        CHECK(finished.usage.cachedTokens == before);
        before = finished.usage.promptTokens + finished.usage.completionTokens - 1;
        Message answer = Message::text(Role::Assistant, log.text());
        answer.reasoning = log.thinking();
        answer.tokens = finished.tokens;
        messages.push_back(answer);
    }
    CHECK(engine->stats().cachedTokens > 0);
}
