// SPDX-License-Identifier: MIT
#include "tests/engine/serve/engine_fixture.h"

#include <atomic>
#include <doctest/doctest.h>
#include <thread>
#include <vector>

using namespace firesteel;
using namespace firesteel::engine;
using test::endlessRequest;

TEST_CASE("many threads submit, cancel, count and look, every request ends once")
{
    test::EngineFixture fixture(1000);
    REQUIRE(fixture.load(256));
    constexpr int kThreads = 8;
    constexpr int kPerThread = 8;
    std::vector<test::RequestLog> logs(kThreads * kPerThread);
    {
        std::vector<std::jthread> threads;
        for (int thread = 0; thread < kThreads; ++thread) {
            threads.emplace_back([&, thread] {
                for (int i = 0; i < kPerThread; ++i) {
                    const int index = thread * kPerThread + i;
                    const auto id
                        = fixture.engine().submit(endlessRequest(5 + index, 4, index),
                                                  logs[static_cast<std::size_t>(index)].sink());
                    if (id && index % 3 == 0)
                        fixture.engine().cancel(*id);
                    (void)fixture.engine().countTokens("some text");
                    (void)fixture.engine().stats();
                }
            });
        }
    }
    for (std::size_t i = 0; i < logs.size(); ++i) {
        const Finished finished = logs[i].finished();
        CHECK(logs[i].endings() == 1);
        if (i % 3 != 0)
            CHECK(finished.reason == FinishReason::Length);
    }
    CHECK(fixture.engine().stats().waitingRequests == 0);
}

TEST_CASE("loads, unloads and requests race, whatever was accepted ends once")
{
    test::EngineFixture fixture(1000);
    constexpr int kThreads = 4;
    constexpr int kRounds = 12;
    std::vector<test::RequestLog> logs(kThreads * kRounds);
    std::vector<test::LoadLog> loads(kThreads * kRounds);
    std::vector<std::atomic<bool>> wasAccepted(kThreads * kRounds);
    {
        std::vector<std::jthread> threads;
        for (int thread = 0; thread < kThreads; ++thread) {
            threads.emplace_back([&, thread] {
                for (int i = 0; i < kRounds; ++i) {
                    const auto index = static_cast<std::size_t>(thread * kRounds + i);
                    fixture.engine().load(test::loadOptions(fixture.folder(), 128),
                                          loads[index].sink());
                    if (i % 4 == 3)
                        fixture.engine().unload();
                    if (i % 2 == 0)
                        loads[index].waitForEnd();
                    wasAccepted[index] = fixture.engine()
                                             .submit(endlessRequest(10, 8), logs[index].sink())
                                             .has_value();
                }
            });
        }
    }
    for (std::size_t i = 0; i < logs.size(); ++i) {
        loads[i].waitForEnd();
        CHECK(loads[i].endings() == 1);
        if (wasAccepted[i])
            logs[i].waitForEnd();
        CHECK(logs[i].endings() == (wasAccepted[i] ? 1 : 0));
    }
    REQUIRE(fixture.load());
    CHECK(fixture.submit(endlessRequest(10, 5)).finished().tokens.size() == 5);
}
