// SPDX-License-Identifier: MIT
//
// Deadlines and the number of connections.
#include "tests/app/api/api_fixture.h"

#include <chrono>
#include <doctest/doctest.h>
#include <memory>
#include <string>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>

using namespace firesteel;
using namespace firesteel::test;
using std::chrono::milliseconds;

TEST_CASE("slow clients: a head that does not come to its end is given up")
{
    app::ApiServerOptions options;
    options.limits.head = milliseconds(200);
    ServedEngine served({}, options);
    RawClient silent(served.port());
    CHECK(silent.isAtEnd()); // it never asked for anything
    for (const char *begun : { "GET /hea", "GET /health HTTP/1.1\r\nHost: local",
                               "GET /health HTTP/1.1\r\nHost: localhost\r\nX: 1\r\n" }) {
        RawClient client(served.port());
        client.send(begun);
        CHECK_MESSAGE(client.read().status == 408, begun);
        CHECK(client.isAtEnd());
    }
}

TEST_CASE("slow clients: so is a body")
{
    app::ApiServerOptions options;
    options.limits.body = milliseconds(200);
    ServedEngine served({}, options);
    RawClient client(served.port());
    client.send("POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\n"
                "Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{\"mess");
    CHECK(client.read().status == 408);
    CHECK(client.isAtEnd());
    CHECK(served.ended(1)[0].status == 408);
}

TEST_CASE("slow clients: an idle connection is closed")
{
    app::ApiServerOptions options;
    options.limits.idle = milliseconds(200);
    ServedEngine served({}, options);
    RawClient client(served.port());
    client.send("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n");
    CHECK(client.read().status == 200);
    CHECK(client.isAtEnd());
}

TEST_CASE("slow clients: with 64 answers under way, a 65th client is told to come back")
{
    FakeScript script;
    script.mostWaiting = 100;
    ServedEngine served(script);
    served.engine().holdTokens();
    const std::string body = R"({"messages":[{"role":"user","content":"Hi"}],"stream":true})";
    std::vector<std::unique_ptr<RawClient>> clients;
    for (int i = 0; i < 64; ++i) {
        clients.push_back(std::make_unique<RawClient>(served.port()));
        clients.back()->send(postOf("/v1/chat/completions", body));
    }
    served.waitFor([&] { return served.engine().stats().waitingRequests == 63; });
    const RawAnswer refused = post(served.port(), "/v1/chat/completions", body);
    CHECK(refused.status == 503);
    CHECK(refused.head.contains("Retry-After: "));
    CHECK(parsed(refused.body)["error"]["code"] == "overloaded");
    CHECK(get(served.port(), "/health").status == 200);
    served.engine().releaseTokens();
    for (const auto &client : clients)
        CHECK(client->read().body.ends_with("data: [DONE]\n\n"));
}

TEST_CASE("slow clients: without a free file a client waits, and the server goes on")
{
    ServedEngine served;
    rlimit before {};
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
    const int last = ::dup(0);
    REQUIRE(last >= 0);
    rlimit few = before;
    few.rlim_cur = static_cast<rlim_t>(last) + 8;
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &few) == 0);
    std::vector<int> held { last };
    for (int file = ::dup(0); file >= 0; file = ::dup(0))
        held.push_back(file);
    ::close(held.back()); // for the client's own end
    held.pop_back();
    RawClient client(served.port());
    client.send("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n");
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
    for (const int file : held)
        ::close(file);
    CHECK(client.read().status == 200);
    CHECK(get(served.port(), "/health").status == 200);
}

TEST_CASE("slow clients: connections without a request give way to one that has one")
{
    app::ApiServerOptions options;
    options.limits.connections = 4;
    ServedEngine served({}, options);
    std::vector<std::unique_ptr<RawClient>> idle;
    for (int i = 0; i < 4; ++i) {
        idle.push_back(std::make_unique<RawClient>(served.port()));
        idle.back()->send("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n");
        CHECK(idle.back()->read().status == 200);
    }
    const RawClient fifth(served.port()); // makes them give way
    for (const auto &client : idle)
        CHECK(client->isAtEnd());
    idle.clear();
    // While the last of them is being closed a client may still be told to come back.
    served.waitFor([&] { return get(served.port(), "/v1/models").status == 200; });
}
