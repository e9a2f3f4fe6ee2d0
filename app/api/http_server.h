// SPDX-License-Identifier: MIT
//
// The HTTP/1.1 server under the endpoint: cpp-httplib with connections of our own, which have
// deadlines for a request's head and body, notice a client that goes, and wake up when the server
// stops. Connections are accepted here too: the library closes its socket at the first error of
// accept() that it does not know, and the server would be gone without a word. Its pool holds more
// threads than connections are served, so that one more client gets an answer instead of waiting
// for a free thread.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <httplib.h>
#include <string>

namespace firesteel::app {

struct HttpLimits
{
    int connections = 64; // served; further ones are answered that there are too many
    std::chrono::milliseconds head { 10'000 }; // from the first byte of a request to its blank line
    std::chrono::milliseconds body { 120'000 };
    std::chrono::milliseconds idle { 15'000 }; // between two requests of a connection
    std::chrono::milliseconds write { 30'000 }; // without a byte taken by the client
    // Of silence in a stream, until a comment is sent: proxies and clients give up on silence.
    std::chrono::milliseconds ping { 15'000 };
    std::size_t bodyBytes = std::size_t { 64 } << 20;
};

class HttpConnection final : public httplib::Stream
{
public:
    using Clock = std::chrono::steady_clock;

    HttpConnection(int socket, const HttpLimits &limits, const std::atomic<bool> &isStopping);

    bool is_readable() const override;
    bool is_writable() const override;
    ssize_t read(char *data, size_t size) override; // < 0: nothing in time
    ssize_t write(const char *data, size_t size) override;
    using httplib::Stream::write;
    void get_remote_ip_and_port(std::string &ip, int &port) const override;
    void get_local_ip_and_port(std::string &ip, int &port) const override;
    socket_t socket() const override { return m_socket; }

    bool waitForRequest(std::chrono::milliseconds patience, const std::atomic<int> &live);
    void beginBody(); // its own deadline; ends the one of the head
    bool isLate() const { return m_isLate; } // a read ran into its deadline
    bool isPeerGone() const;
    bool hasWritten() const { return m_hasWritten; } // since the request began
    // After this answer: what the client still sends is not the beginning of a request.
    void endAfterAnswer() { m_endsAfterAnswer = true; }
    bool endsAfterAnswer() const { return m_endsAfterAnswer; }
    void setBodyRead() { m_hasReadBody = true; } // to its end
    bool hasReadBody() const { return m_hasReadBody; }
    void close(); // lets the client read its answer first

    // The one that the calling thread serves; null outside of a request.
    static HttpConnection *current();

private:
    bool waitFor(short events, Clock::time_point deadline) const;

    static constexpr std::size_t kBufferBytes = 16384;

    int m_socket;
    const HttpLimits &m_limits;
    const std::atomic<bool> &m_isStopping;
    std::string m_buffer; // read, not yet taken
    std::size_t m_taken = 0;
    Clock::time_point m_readDeadline;
    bool m_isLate = false;
    bool m_hasWritten = false;
    bool m_endsAfterAnswer = false;
    bool m_hasReadBody = false;
};

class HttpServer final : public httplib::Server
{
public:
    explicit HttpServer(HttpLimits limits);

    // Of the address; 0: any free one. What is bound, or why not.
    int bind(const std::string &address, int port, std::string &problem);
    // Accepts connections of what was bound until requestStop(), then waits for their threads.
    void serveConnections();
    void requestStop(); // any thread; ends connections too
    bool isStopping() const { return m_isStopping; }
    int liveConnections() const { return m_live; }
    bool isCrowded() const { return m_live > m_limits.connections; }
    const HttpLimits &limits() const { return m_limits; }

private:
    bool process_and_close_socket(socket_t socket) override;
    bool isConnectionWaiting() const;
    void serve(HttpConnection &connection);

    const HttpLimits m_limits;
    std::atomic<bool> m_isStopping = false;
    std::atomic<int> m_live = 0;
};

} // namespace firesteel::app
