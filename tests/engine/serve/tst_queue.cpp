// SPDX-License-Identifier: MIT
#include "tests/engine/serve/engine_fixture.h"

#include <doctest/doctest.h>
#include <mutex>
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
