// SPDX-License-Identifier: MIT
#include "engine/tools/cli_terminal.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <format>
#include <poll.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace firesteel::engine {

namespace {

bool writeAll(int descriptor, std::string_view text)
{
    while (!text.empty()) {
        const ssize_t written = write(descriptor, text.data(), text.size());
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        text.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
}

} // namespace

Result<void> CliInput::fill()
{
    for (;;) {
        pollfd inputs[] = { { m_signals.descriptor(), POLLIN, 0 }, { STDIN_FILENO, POLLIN, 0 } };
        poll(inputs, std::size(inputs), -1);
        if (m_signals.take() != CliSignal::None)
            return fail(ErrorCode::Cancelled, "interrupted");
        if (inputs[1].revents == 0)
            continue;
        std::array<char, 4096> chunk;
        const ssize_t count = read(STDIN_FILENO, chunk.data(), chunk.size());
        if (count < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (count < 0)
            return fail(ErrorCode::Io,
                        std::format("cannot read standard input: {}",
                                    std::generic_category().message(errno)));
        m_isAtEnd = count == 0;
        m_buffer.append(chunk.data(), static_cast<std::size_t>(count));
        return {};
    }
}

Result<std::optional<std::string>> CliInput::readLine()
{
    for (;;) {
        const std::size_t end = m_buffer.find('\n');
        if (end == std::string::npos && !m_isAtEnd) {
            if (auto filled = fill(); !filled)
                return std::unexpected(filled.error());
            continue;
        }
        if (end == std::string::npos && m_buffer.empty())
            return std::nullopt;
        std::string line = m_buffer.substr(0, end);
        m_buffer.erase(0, end == std::string::npos ? m_buffer.size() : end + 1);
        return line;
    }
}

Result<std::string> CliInput::readAll()
{
    while (!m_isAtEnd) {
        if (auto filled = fill(); !filled)
            return std::unexpected(filled.error());
    }
    return std::exchange(m_buffer, {});
}

bool writeOutput(std::string_view text) { return writeAll(STDOUT_FILENO, text); }

void writeError(std::string_view text) { writeAll(STDERR_FILENO, text); }

void writeErrorLine(std::string_view message)
{
    std::string line(message);
    std::ranges::replace(line, '\n', ' ');
    writeError(std::format("firesteel-cli: {}\n", line));
}

bool isInputTerminal() { return isatty(STDIN_FILENO) != 0; }

bool isErrorTerminal() { return isatty(STDERR_FILENO) != 0; }

} // namespace firesteel::engine
