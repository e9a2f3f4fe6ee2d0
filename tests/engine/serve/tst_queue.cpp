// SPDX-License-Identifier: MIT
#include "tests/engine/serve/engine_fixture.h"

#include <chrono>
#include <doctest/doctest.h>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <variant>

using namespace firesteel;
using namespace firesteel::engine;
using test::endlessRequest;

namespace {

std::vector<int> positions(const test::RequestLog &log)
{
    std::vector<int> positions;
    for (const GenerationEvent &event : log.events()) {
        if (const auto *queued = std::get_if<Queued>(&event))
            positions.push_back(queued->position);
    }
    return positions;
}

// The statistics once they satisfy `isReached`: they follow the events of a step. Throws after a
// minute.
template <typename Predicate> EngineStats statsOnce(const Engine &engine, Predicate isReached)
{
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (std::chrono::steady_clock::now() < end) {
        EngineStats stats = engine.stats();
        if (isReached(stats))
            return stats;
        std::this_thread::yield();
    }
    throw std::runtime_error("the statistics never came to that");
}

} // namespace

TEST_CASE("requests run in the order they came, and learn how many are ahead")
{
    test::EngineFixture fixture;
    REQUIRE(fixture.load());
    std::mutex mutex;
    std::vector<int> order;
    std::vector<test::RequestLog> logs(4);
    for (int i = 0; i < 4; ++i) {
        const auto note = [&, i](RequestId, const GenerationEvent &event) {
            if (!std::holds_alternative<Finished>(event))
                return;
            const std::lock_guard lock(mutex);
            order.push_back(i);
        };
        // The first one runs until the others are in: a client thread cannot be slower than that.
        GenerationRequest request = endlessRequest(10, i == 0 ? 500 : 5, i);
        const auto id
            = fixture.engine().submit(request, logs[static_cast<std::size_t>(i)].sink(note));
        REQUIRE(id);
        if (i == 0)
            logs[0].waitForDelta();
    }
    for (const test::RequestLog &log : logs)
        log.waitForEnd();
    CHECK(order == std::vector { 0, 1, 2, 3 });
    CHECK(positions(logs[0]).empty());
    CHECK(positions(logs[1]) == std::vector { 1 });
    CHECK(positions(logs[2]) == std::vector { 2, 1 });
    CHECK(positions(logs[3]) == std::vector { 3, 2, 1 });
    CHECK(logs[3].finished().timings.queueSeconds >= logs[1].finished().timings.queueSeconds);
}

TEST_CASE("a full queue refuses, and takes again when there is room")
{
    test::EngineFixture fixture(2);
    REQUIRE(fixture.load());
    const test::RequestLog first = fixture.submit(endlessRequest(10, 500));
    first.waitForDelta(); // running, no longer waiting
    const test::RequestLog second = fixture.submit(endlessRequest(10, 5));
    const test::RequestLog third = fixture.submit(endlessRequest(10, 5));
    CHECK(fixture.engine().stats().waitingRequests == 2);
    CHECK(fixture.engine().stats().runningRequests == 1);
    const test::RequestLog refused;
    const auto id = fixture.engine().submit(endlessRequest(10, 5), refused.sink());
    REQUIRE(!id);
    CHECK(id.error().code == ErrorCode::QueueFull);
    third.waitForEnd();
    CHECK(fixture.submit(endlessRequest(10, 5)).finished().tokens.size() == 5);
    CHECK(refused.events().empty());
    CHECK(second.endings() == 1);
}

TEST_CASE("a request is counted from submit to its end, also while it is admitted")
{
    test::EngineFixture fixture;
    REQUIRE(fixture.load());
    int uncounted = 0;
    for (int i = 0; i < 50; ++i) {
        const test::RequestLog log = fixture.submit(endlessRequest(10, 3));
        do {
            const EngineStats stats = fixture.engine().stats();
            const bool isOver = log.endings() > 0;
            uncounted += !isOver && stats.waitingRequests + stats.runningRequests < 1 ? 1 : 0;
        } while (log.endings() == 0);
    }
    CHECK(uncounted == 0);
}

TEST_CASE("the statistics name every request, its source and how far it is")
{
    test::EngineFixture fixture;
    REQUIRE(fixture.load());
    GenerationRequest own = endlessRequest(70, 500);
    const test::RequestLog first = fixture.submit(own);
    first.waitForDelta();
    GenerationRequest foreign = endlessRequest(12, 5);
    foreign.source = "laptop";
    const test::RequestLog second = fixture.submit(foreign);

    const std::vector<RequestStatus> requests
        = statsOnce(fixture.engine(), [](const EngineStats &stats) {
              return stats.requests.size() == 2 && stats.requests[0].generatedTokens > 0;
          }).requests;
    CHECK(requests[0].phase == RequestStatus::Phase::Decode);
    CHECK(requests[0].source.empty());
    CHECK(requests[0].promptTokens == 70);
    CHECK(requests[0].processedTokens == 70);
    CHECK(requests[0].generatedTokens >= 1);
    CHECK(requests[0].generatedTokens <= 500); // of the answer alone
    CHECK(requests[1].phase == RequestStatus::Phase::Waiting);
    CHECK(requests[1].source == "laptop");
    CHECK(requests[1].promptTokens == 12);
    CHECK(requests[1].processedTokens == 0);
    CHECK(requests[1].generatedTokens == 0);

    fixture.engine().cancel(requests[0].id);
    first.waitForEnd();
    second.waitForEnd();
    const EngineStats after = statsOnce(
        fixture.engine(), [](const EngineStats &stats) { return stats.requests.empty(); });
    CHECK(after.timeToFirstTokenSeconds > 0);
}

TEST_CASE("the statistics say what the model holds in memory, until it is unloaded")
{
    test::EngineFixture fixture;
    const auto info = fixture.load();
    REQUIRE(info);
    (void)fixture.submit(endlessRequest(10, 5))
        .finished(); // after reports of the engine thread too
    CHECK(fixture.engine().stats().weightBytes == info->weightBytes);
    CHECK(fixture.engine().stats().stateBytes == info->stateBytes);
    CHECK(info->weightBytes > 0);
    fixture.engine().unload();
    CHECK(fixture.engine().stats().weightBytes == 0);
    CHECK(fixture.engine().stats().stateBytes == 0);
}

TEST_CASE("before a load there is nothing to talk to")
{
    test::EngineFixture fixture;
    const test::RequestLog log;
    CHECK(fixture.engine().submit(endlessRequest(1, 1), log.sink()).error().code
          == ErrorCode::NotLoaded);
    CHECK(fixture.engine().countTokens("a").error().code == ErrorCode::NotLoaded);
    CHECK(fixture.engine().prepare({}, {}, {}).error().code == ErrorCode::NotLoaded);
    CHECK(fixture.engine().stats().state == EngineStats::State::Empty);
    fixture.engine().cancel(12345);
    fixture.engine().unload();
}
