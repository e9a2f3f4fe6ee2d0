// SPDX-License-Identifier: MIT
#include "tests/engine/serve/engine_fixture.h"

#include <doctest/doctest.h>
#include <variant>

using namespace firesteel;
using namespace firesteel::engine;
using test::endlessRequest;

TEST_CASE("a cancelled waiting request ends at once, the running one goes on")
{
    test::EngineFixture fixture;
    REQUIRE(fixture.load());
    const test::RequestLog running = fixture.submit(endlessRequest(10, 500));
    running.waitForDelta();
    const test::RequestLog waiting;
    const auto id = fixture.engine().submit(endlessRequest(10, 5), waiting.sink());
    REQUIRE(id);
    fixture.engine().cancel(*id);
    const Finished finished = waiting.finished();
    CHECK(finished.reason == FinishReason::Cancelled);
    CHECK(finished.tokens.empty());
    CHECK(finished.usage.promptTokens == 10);
    CHECK(running.endings() == 0); // 500 tokens take far longer than one step
    CHECK(running.finished().reason == FinishReason::Length);
    CHECK(waiting.endings() == 1);
}

TEST_CASE("a cancel during prefill stops before the next chunk")
{
    test::EngineFixture fixture;
    REQUIRE(fixture.load());
    const test::RequestLog log;
    const auto cancelAtFirst = [&](RequestId id, const GenerationEvent &event) {
        const auto *progress = std::get_if<PrefillProgress>(&event);
        if (progress != nullptr && progress->processedTokens > 0)
            fixture.engine().cancel(id);
    };
    REQUIRE(fixture.engine().submit(endlessRequest(500, 5), log.sink(cancelAtFirst)));
    const Finished finished = log.finished();
    CHECK(finished.reason == FinishReason::Cancelled);
    CHECK(finished.tokens.empty());
    CHECK(finished.usage.completionTokens == 0);
    int chunks = 0;
    for (const GenerationEvent &event : log.events()) {
        const auto *progress = std::get_if<PrefillProgress>(&event);
        if (progress != nullptr && progress->processedTokens > 0)
            ++chunks;
    }
    CHECK(chunks == 1);
}

TEST_CASE("a cancel during decoding takes effect within one step and keeps what was said")
{
    test::EngineFixture fixture;
    REQUIRE(fixture.load());
    const test::RequestLog log;
    int deltas = 0;
    const auto cancelAtThird = [&](RequestId id, const GenerationEvent &event) {
        if (std::holds_alternative<TextDelta>(event) && ++deltas == 3)
            fixture.engine().cancel(id);
    };
    REQUIRE(fixture.engine().submit(endlessRequest(10, 500), log.sink(cancelAtThird)));
    const Finished finished = log.finished();
    CHECK(finished.reason == FinishReason::Cancelled);
    CHECK(deltas <= 4); // the fourth: a character that was held back
    CHECK(finished.usage.completionTokens == static_cast<int>(finished.tokens.size()));
    CHECK(finished.tokens.size() < 20);
    CHECK(!log.text().empty());
    // The engine is as good as new.
    CHECK(fixture.submit(endlessRequest(10, 5)).finished().tokens.size() == 5);
}

TEST_CASE("cancelling what has ended, twice or from nowhere does nothing")
{
    test::EngineFixture fixture;
    REQUIRE(fixture.load());
    const test::RequestLog log;
    const auto id = fixture.engine().submit(endlessRequest(10, 5), log.sink());
    REQUIRE(id);
    (void)log.finished();
    fixture.engine().cancel(*id);
    fixture.engine().cancel(*id);
    fixture.engine().cancel(*id + 1000);
    CHECK(fixture.submit(endlessRequest(10, 5)).finished().reason == FinishReason::Length);
    CHECK(log.endings() == 1);
}

TEST_CASE("unload and load end every request with Failed{Cancelled}")
{
    test::EngineFixture fixture;
    REQUIRE(fixture.load());
    const test::RequestLog running = fixture.submit(endlessRequest(10, 500));
    running.waitForDelta();
    const test::RequestLog waiting = fixture.submit(endlessRequest(10, 500));
    fixture.engine().unload();
    CHECK(running.failure().code == ErrorCode::Cancelled);
    CHECK(waiting.failure().code == ErrorCode::Cancelled);
    CHECK(fixture.engine().stats().state == EngineStats::State::Empty);
    CHECK(fixture.engine().stats().waitingRequests == 0);

    REQUIRE(fixture.load());
    const test::RequestLog next = fixture.submit(endlessRequest(10, 500));
    REQUIRE(fixture.load());
    CHECK(next.failure().code == ErrorCode::Cancelled);
    CHECK(fixture.submit(endlessRequest(10, 5)).finished().tokens.size() == 5);
}

TEST_CASE("destroying the engine ends every request and joins")
{
    test::EngineFixture fixture;
    REQUIRE(fixture.load());
    const test::RequestLog running = fixture.submit(endlessRequest(10, 500));
    running.waitForDelta();
    const test::RequestLog waiting = fixture.submit(endlessRequest(10, 500));
    fixture.destroyEngine();
    CHECK(running.endings() == 1);
    CHECK(waiting.endings() == 1);
    CHECK(running.failure().code == ErrorCode::Cancelled);
}
