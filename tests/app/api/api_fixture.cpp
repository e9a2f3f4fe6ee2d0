// SPDX-License-Identifier: MIT
#include "tests/app/api/api_fixture.h"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <charconv>
#include <chrono>
#include <doctest/doctest.h>
#include <format>
#include <future>
#include <netinet/in.h>
#include <stdexcept>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <variant>

namespace firesteel::test {

namespace {

constexpr std::chrono::seconds kPatience { 60 };
constexpr std::chrono::milliseconds kPoll { 5 };

app::ApiServerOptions onAnyPort(app::ApiServerOptions options)
{
    options.port = 0;
    return options;
}

std::string joinedChunks(std::string_view body)
{
    std::string joined;
    while (!body.empty()) {
        std::size_t size = 0;
        const std::size_t line = body.find("\r\n");
        if (line == std::string_view::npos)
            break;
        std::from_chars(body.data(), body.data() + line, size, 16);
        joined += body.substr(line + 2, size);
        body.remove_prefix(std::min(body.size(), line + 2 + size + 2));
    }
    return joined;
}

} // namespace

void loadFake(FakeEngine &engine)
{
    std::promise<void> loaded;
    engine.load({}, [&](const engine::LoadEvent &event) {
        if (!std::holds_alternative<engine::LoadProgress>(event))
            loaded.set_value();
    });
    loaded.get_future().wait();
}

Served::Served(engine::Engine &engine, app::ApiServerOptions options)
    : m_engine(engine)
    , m_keys(m_folder.path() / "keys.json")
    , m_server(std::make_unique<app::ApiServer>(
          m_engine, m_keys, onAnyPort(options),
          [this](const app::RequestRecord &record) {
              if (record.status == 0)
                  return;
              const std::scoped_lock lock(m_mutex);
              m_ended.push_back(record);
              m_changed.notify_all();
          },
          [](auto, auto, auto) {}))
{
    if (!options.requiresKey)
        REQUIRE(start().empty());
}

std::string Served::start()
{
    const auto started = m_server->start();
    m_port = started.value_or(0);
    return started ? std::string() : started.error();
}

std::vector<app::RequestRecord> Served::ended(std::size_t count)
{
    std::unique_lock lock(m_mutex);
    REQUIRE(m_changed.wait_for(lock, kPatience, [&] { return m_ended.size() >= count; }));
    // Each ends on its own thread, so a later one may be told first.
    std::vector<app::RequestRecord> records = m_ended;
    std::ranges::sort(records, {}, &app::RequestRecord::id);
    return records;
}

void Served::waitFor(const std::function<bool()> &condition)
{
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (!condition() && std::chrono::steady_clock::now() < end)
        std::this_thread::sleep_for(kPoll);
    REQUIRE(condition());
}

void Served::waitUntilIdle()
{
    waitFor([this] {
        const engine::EngineStats stats = m_engine.stats();
        return stats.runningRequests == 0 && stats.waitingRequests == 0;
    });
}

ServedEngine::ServedEngine(FakeScript script, app::ApiServerOptions options, bool isLoaded)
    : m_engine(std::move(script))
    , m_served(m_engine, std::move(options))
{
    if (isLoaded)
        loadFake(m_engine);
}

RawClient::RawClient(int port)
    : m_socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0))
{
    sockaddr_in address {};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const timeval patience { kPatience.count(), 0 };
    ::setsockopt(m_socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    if (::connect(m_socket, reinterpret_cast<const sockaddr *>(&address), sizeof(address)) != 0)
        throw std::runtime_error("the server does not accept a connection");
}

RawClient::~RawClient() { ::close(m_socket); }

void RawClient::limitReceiveBuffer(int bytes)
{
    ::setsockopt(m_socket, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
}

bool RawClient::send(std::string_view bytes)
{
    while (!bytes.empty()) {
        const ssize_t sent = ::send(m_socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent <= 0)
            return false;
        bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
}

bool RawClient::fill()
{
    std::array<char, 65536> data {};
    const ssize_t got = ::recv(m_socket, data.data(), data.size(), 0);
    if (got > 0)
        m_buffer.append(data.data(), static_cast<std::size_t>(got));
    return got > 0;
}

RawAnswer RawClient::read()
{
    while (!m_buffer.contains("\r\n\r\n")) {
        if (!fill())
            return {};
    }
    RawAnswer answer;
    const std::size_t end = m_buffer.find("\r\n\r\n") + 4;
    answer.head = m_buffer.substr(0, end);
    m_buffer.erase(0, end);
    std::from_chars(answer.head.data() + 9, answer.head.data() + 12, answer.status);
    constexpr std::string_view kLength = "Content-Length: ";
    if (const std::size_t at = answer.head.find(kLength); at != std::string::npos) {
        std::size_t length = 0;
        const char *digits = answer.head.data() + at + kLength.size();
        std::from_chars(digits, answer.head.data() + answer.head.size(), length);
        while (m_buffer.size() < length && fill()) { }
        answer.body = m_buffer.substr(0, length);
        m_buffer.erase(0, length);
        return answer;
    }
    if (answer.status == 204)
        return answer;
    constexpr std::string_view kLast = "0\r\n\r\n";
    const auto isWhole
        = [&] { return m_buffer.starts_with(kLast) || m_buffer.contains("\r\n0\r\n\r\n"); };
    while (!isWhole() && fill()) { }
    answer.body = joinedChunks(std::exchange(m_buffer, {}));
    return answer;
}

std::string RawClient::readSome(std::size_t atLeast)
{
    while (m_buffer.size() < atLeast && fill()) { }
    return std::exchange(m_buffer, {});
}

bool RawClient::isAtEnd()
{
    std::array<char, 65536> data {};
    ssize_t got = 0;
    do
        got = ::recv(m_socket, data.data(), data.size(), 0);
    while (got > 0);
    return got == 0 || errno == ECONNRESET;
}

std::string postOf(std::string_view path, std::string_view body, std::string_view headers)
{
    return std::format("POST {} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                       "{}Content-Length: {}\r\n\r\n{}",
                       path, headers, body.size(), body);
}

RawAnswer post(int port, std::string_view path, std::string_view body, std::string_view headers)
{
    RawClient client(port);
    client.send(postOf(path, body, headers));
    return client.read();
}

RawAnswer get(int port, std::string_view path, std::string_view headers)
{
    RawClient client(port);
    client.send(std::format("GET {} HTTP/1.1\r\nHost: localhost\r\n{}\r\n", path, headers));
    return client.read();
}

std::vector<app::Json> eventsOf(std::string_view stream)
{
    constexpr std::string_view kData = "data: ";
    std::vector<app::Json> events;
    while (!stream.empty()) {
        const std::size_t end = std::min(stream.find('\n'), stream.size());
        const std::string_view line = stream.substr(0, end);
        if (line.starts_with(kData) && line != "data: [DONE]")
            events.push_back(parsed(line.substr(kData.size())));
        stream.remove_prefix(std::min(end + 1, stream.size()));
    }
    return events;
}

app::Json parsed(std::string_view text)
{
    app::Json json = app::Json::parse(text, nullptr, false);
    INFO("text: ", std::string(text.substr(0, 500)));
    REQUIRE_FALSE(json.is_discarded());
    return json;
}

} // namespace firesteel::test
