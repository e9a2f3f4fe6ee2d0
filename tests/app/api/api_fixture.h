// SPDX-License-Identifier: MIT
//
// A server on a scripted engine, and a client that can send what no client library would.
#pragma once

#include "app/api/api_server.h"
#include "tests/support/fake_engine.h"
#include "tests/support/temporary_folder.h"

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace firesteel::test {

// Loads the script's model; returns when it is ready.
void loadFake(FakeEngine &engine);

// A server on an engine that outlives it.
class Served
{
public:
    explicit Served(engine::Engine &engine, app::ApiServerOptions options = {});

    int port() const { return m_port; }
    app::ApiKeys &keys() { return m_keys; }
    app::ApiServer &server() { return *m_server; }
    std::string start(); // starts the server where the options asked for a key first; its problem

    // Of requests that have ended, in the order in which they came; waits until there are `count`.
    std::vector<app::RequestRecord> ended(std::size_t count);
    void waitUntilIdle(); // the engine has no request left
    void waitFor(const std::function<bool()> &condition); // polls; fails the test after a minute

private:
    TemporaryFolder m_folder;
    engine::Engine &m_engine;
    app::ApiKeys m_keys;
    std::mutex m_mutex;
    std::condition_variable m_changed;
    std::vector<app::RequestRecord> m_ended;
    std::unique_ptr<app::ApiServer> m_server; // last but one: its threads use the above
    int m_port = 0;
};

// The scripted engine, loaded unless said otherwise, and a server on it.
class ServedEngine
{
public:
    explicit ServedEngine(FakeScript script = {}, app::ApiServerOptions options = {},
                          bool isLoaded = true);

    FakeEngine &engine() { return m_engine; }
    int port() const { return m_served.port(); }
    app::ApiKeys &keys() { return m_served.keys(); }
    app::ApiServer &server() { return m_served.server(); }
    std::string start() { return m_served.start(); }
    std::vector<app::RequestRecord> ended(std::size_t count) { return m_served.ended(count); }
    void waitUntilIdle() { m_served.waitUntilIdle(); }
    void waitFor(const std::function<bool()> &condition) { m_served.waitFor(condition); }

private:
    FakeEngine m_engine;
    Served m_served;
};

struct RawAnswer
{
    int status = 0; // 0: none came
    std::string head;
    std::string body; // chunks joined
};

// One connection to 127.0.0.1.
class RawClient
{
public:
    explicit RawClient(int port);
    ~RawClient();
    RawClient(const RawClient &) = delete;
    RawClient &operator=(const RawClient &) = delete;

    bool send(std::string_view bytes); // false: the other side has closed
    RawAnswer read(); // one whole answer
    std::string readSome(std::size_t atLeast); // so many bytes, or all until the end
    bool isAtEnd(); // waits for the other side to close
    void limitReceiveBuffer(int bytes);

private:
    bool fill();

    int m_socket = -1;
    std::string m_buffer;
};

// A whole request with a body.
std::string postOf(std::string_view path, std::string_view body, std::string_view headers = {});
RawAnswer post(int port, std::string_view path, std::string_view body,
               std::string_view headers = {});
RawAnswer get(int port, std::string_view path, std::string_view headers = {});

// The objects after "data: " of a stream, "[DONE]" left out.
std::vector<app::Json> eventsOf(std::string_view stream);

app::Json parsed(std::string_view text); // fails the test where it is no JSON

} // namespace firesteel::test
