// SPDX-License-Identifier: MIT
#include "app/api/http_server.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <format>
#include <memory>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

namespace firesteel::app {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds kSlice { 50 }; // between looks at whether the server stops
constexpr milliseconds kLinger { 2'000 };
constexpr int kBacklog = 256;
constexpr int kSpareThreads = 8; // answer those above the limit of connections
constexpr std::size_t kMostWaiting = 256; // accepted, without a thread

thread_local HttpConnection *currentConnection = nullptr;

void addressOf(const sockaddr_storage &address, socklen_t length, std::string &ip, int &port)
{
    std::array<char, NI_MAXHOST> host {};
    std::array<char, NI_MAXSERV> service {};
    if (getnameinfo(reinterpret_cast<const sockaddr *>(&address), length, host.data(), host.size(),
                    service.data(), service.size(), NI_NUMERICHOST | NI_NUMERICSERV)
        != 0)
        return;
    ip = host.data();
    port = std::atoi(service.data());
}

} // namespace

HttpConnection::HttpConnection(int socket, const HttpLimits &limits,
                               const std::atomic<bool> &isStopping)
    : m_socket(socket)
    , m_limits(limits)
    , m_isStopping(isStopping)
{
}

HttpConnection *HttpConnection::current() { return currentConnection; }

bool HttpConnection::waitFor(short events, Clock::time_point deadline) const
{
    while (!m_isStopping) {
        const auto left = std::chrono::ceil<milliseconds>(deadline - Clock::now());
        if (left.count() <= 0)
            return false;
        pollfd entry { m_socket, events, 0 };
        const int ready = ::poll(&entry, 1, static_cast<int>(std::min(left, kSlice).count()));
        if (ready > 0)
            return true; // or an error, which the next call on the socket tells
        if (ready < 0 && errno != EINTR)
            return false;
    }
    return false;
}

bool HttpConnection::waitForRequest(milliseconds patience, const std::atomic<int> &live)
{
    m_isLate = false;
    m_hasWritten = false;
    m_hasReadBody = false;
    const auto deadline = Clock::now() + patience;
    while (m_taken == m_buffer.size() && !m_isStopping) {
        if (waitFor(POLLIN, std::min(deadline, Clock::now() + kSlice)))
            break;
        // One that waits for its next request gives way to one that has a request now.
        if (Clock::now() >= deadline || live > m_limits.connections)
            return false;
    }
    m_readDeadline = Clock::now() + m_limits.head;
    return !m_isStopping;
}

void HttpConnection::beginBody() { m_readDeadline = Clock::now() + m_limits.body; }

bool HttpConnection::is_readable() const
{
    return m_taken < m_buffer.size() || waitFor(POLLIN, m_readDeadline);
}

bool HttpConnection::is_writable() const { return waitFor(POLLOUT, Clock::now() + m_limits.write); }

ssize_t HttpConnection::read(char *data, size_t size)
{
    if (m_taken == m_buffer.size()) {
        m_taken = 0;
        m_buffer.resize(kBufferBytes);
        ssize_t got = -1;
        while (waitFor(POLLIN, m_readDeadline)) {
            got = ::recv(m_socket, m_buffer.data(), m_buffer.size(), MSG_DONTWAIT);
            if (got >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR))
                break;
        }
        m_buffer.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
        m_isLate = got < 0 && Clock::now() >= m_readDeadline;
        if (got <= 0)
            return got;
    }
    const std::size_t count = std::min(size, m_buffer.size() - m_taken);
    std::memcpy(data, m_buffer.data() + m_taken, count);
    m_taken += count;
    return static_cast<ssize_t>(count);
}

ssize_t HttpConnection::write(const char *data, size_t size)
{
    m_hasWritten = true;
    std::size_t written = 0;
    while (written < size) {
        if (!waitFor(POLLOUT, Clock::now() + m_limits.write))
            return -1;
        const ssize_t count
            = ::send(m_socket, data + written, size - written, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (count > 0)
            written += static_cast<std::size_t>(count);
        else if (count == 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR))
            return -1;
    }
    return static_cast<ssize_t>(size);
}

void HttpConnection::get_remote_ip_and_port(std::string &ip, int &port) const
{
    sockaddr_storage address {};
    socklen_t length = sizeof(address);
    if (::getpeername(m_socket, reinterpret_cast<sockaddr *>(&address), &length) == 0)
        addressOf(address, length, ip, port);
}

void HttpConnection::get_local_ip_and_port(std::string &ip, int &port) const
{
    sockaddr_storage address {};
    socklen_t length = sizeof(address);
    if (::getsockname(m_socket, reinterpret_cast<sockaddr *>(&address), &length) == 0)
        addressOf(address, length, ip, port);
}

bool HttpConnection::isPeerGone() const
{
    if (m_taken < m_buffer.size())
        return false; // it has asked for more
    char byte = 0;
    const ssize_t got = ::recv(m_socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return got == 0 || (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}

// Closing with unread bytes resets the connection, and the client may lose the answer it has not
// read. So what it still sends is read and dropped for a while.
void HttpConnection::close()
{
    ::shutdown(m_socket, SHUT_WR);
    m_buffer.resize(kBufferBytes);
    const auto deadline = Clock::now() + kLinger;
    while (waitFor(POLLIN, deadline)) {
        const ssize_t got = ::recv(m_socket, m_buffer.data(), m_buffer.size(), MSG_DONTWAIT);
        if (got == 0 || (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR))
            break;
    }
    ::close(m_socket);
}

HttpServer::HttpServer(HttpLimits limits)
    : m_limits(limits)
{
    new_task_queue = [this] {
        return new httplib::ThreadPool(
            static_cast<std::size_t>(m_limits.connections + kSpareThreads), kMostWaiting);
    };
    // SO_REUSEPORT, the library's choice, would let two servers share a port without a word.
    set_socket_options([](socket_t socket) {
        const int yes = 1;
        ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    });
    set_tcp_nodelay(true);
    set_payload_max_length(m_limits.bodyBytes);
}

int HttpServer::bind(const std::string &address, int port, std::string &problem)
{
    errno = 0;
    const int bound = port == 0       ? bind_to_any_port(address)
        : bind_to_port(address, port) ? port
                                      : -1;
    if (bound < 0) {
        problem = std::format("{} port {} cannot be used: {}.", address, port,
                              errno != 0 ? std::strerror(errno) : "no such address");
        return -1;
    }
    ::listen(svr_sock_, kBacklog);
    // A client may go between being seen and being accepted; nobody waits for the next one then.
    ::fcntl(svr_sock_, F_SETFL, O_NONBLOCK);
    return bound;
}

bool HttpServer::isConnectionWaiting() const
{
    pollfd entry { svr_sock_, POLLIN, 0 };
    return ::poll(&entry, 1, static_cast<int>(kSlice.count())) > 0;
}

void HttpServer::serveConnections()
{
    const std::unique_ptr<httplib::TaskQueue> tasks(new_task_queue());
    while (!m_isStopping) {
        if (!isConnectionWaiting())
            continue;
        const int socket = ::accept4(svr_sock_, nullptr, nullptr, SOCK_CLOEXEC);
        if (socket < 0) {
            // A client that went at once, or no more files or memory: the next one may be luckier.
            if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
                std::this_thread::sleep_for(kSlice);
            continue;
        }
        if (!tasks->enqueue([this, socket] { process_and_close_socket(socket); }))
            ::close(socket);
    }
    ::close(svr_sock_.exchange(INVALID_SOCKET));
    tasks->shutdown();
}

void HttpServer::requestStop() { m_isStopping = true; }

bool HttpServer::process_and_close_socket(socket_t socket)
{
    ++m_live;
    HttpConnection connection(socket, m_limits, m_isStopping);
    currentConnection = &connection;
    serve(connection);
    currentConnection = nullptr;
    connection.close();
    --m_live;
    return true;
}

void HttpServer::serve(HttpConnection &connection)
{
    std::string remote;
    std::string local;
    int remotePort = 0;
    int localPort = 0;
    connection.get_remote_ip_and_port(remote, remotePort);
    connection.get_local_ip_and_port(local, localPort);
    const int yes = 1;
    ::setsockopt(connection.socket(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
    for (bool isFirst = true;; isFirst = false) {
        if (!connection.waitForRequest(isFirst ? m_limits.head : m_limits.idle, m_live))
            return;
        bool isClosed = false;
        const bool isAnswered = process_request(
            connection, remote, remotePort, local, localPort, isCrowded(), isClosed,
            [](httplib::Request &request) { request.ranges.clear(); }); // answers are whole
        if (connection.isLate() && !connection.hasWritten())
            connection.write("HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n"
                             "Content-Length: 0\r\n\r\n");
        if (!isAnswered || isClosed || connection.isLate() || connection.endsAfterAnswer()
            || isCrowded())
            return;
    }
}

} // namespace firesteel::app
