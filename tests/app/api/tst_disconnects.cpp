// SPDX-License-Identifier: MIT
//
// Clients that go: what they asked for is cancelled, whatever it was doing, and nobody else
// notices.
#include "tests/app/api/api_fixture.h"

#include <doctest/doctest.h>
#include <format>
#include <memory>
#include <string>
#include <vector>

using namespace firesteel;
using namespace firesteel::test;

namespace {

std::string chat(const std::string &text, bool isStream)
{
    return std::format(R"({{"messages":[{{"role":"user","content":"{}"}}],"stream":{}}})", text,
                       isStream);
}

} // namespace

TEST_CASE("disconnects: in decode, in prefill and in the queue, streamed or not")
{
    for (const bool isStream : { true, false }) {
        ServedEngine served;
        served.engine().holdTokens(); // the first decodes for ever, the others wait behind it
        std::vector<std::unique_ptr<RawClient>> clients;
        for (int i = 0; i < 3; ++i) {
            clients.push_back(std::make_unique<RawClient>(served.port()));
            clients.back()->send(postOf("/v1/chat/completions", chat("Hi", isStream)));
        }
        served.waitFor([&] {
            const auto stats = served.engine().stats();
            return stats.runningRequests == 1 && stats.waitingRequests == 2;
        });
        clients.clear();
        served.waitUntilIdle(); // although no token was allowed
        CHECK(served.engine().emittedTokens() == 0);
        for (const app::RequestRecord &record : served.ended(3)) {
            CHECK(record.status == 499);
            CHECK(record.note == "client_gone");
        }
        served.engine().releaseTokens();
        CHECK(post(served.port(), "/v1/chat/completions", chat("Hi", isStream)).status == 200);
    }
}

TEST_CASE("disconnects: a reader that stops reading is dropped, the engine never waits for it")
{
    FakeScript script;
    script.answer = [](const auto &messages) {
        const bool isLong = messages.back().content.front().text == "long";
        return FakeAnswer { "",
                            std::string(isLong ? std::size_t { 24 } << 20 : 20, 'x'),
                            engine::FinishReason::Stop,
                            {} };
    };
    ServedEngine served(script);
    RawClient slow(served.port());
    slow.limitReceiveBuffer(4096);
    slow.send(postOf("/v1/chat/completions", chat("long", true)));
    REQUIRE_FALSE(slow.readSome(1).empty());
    // Nothing is read from here on, and the next client's answer comes all the same.
    CHECK(post(served.port(), "/v1/chat/completions", chat("short", false)).status == 200);
    served.waitUntilIdle();
    CHECK(served.engine().emittedTokens() < (24 << 20) / 4);
}
