// SPDX-License-Identifier: MIT
#include "engine/tools/cli_work.h"

#include "engine/tools/cli_terminal.h"

#include <cmath>
#include <format>
#include <poll.h>
#include <stop_token>
#include <utility>

namespace firesteel::engine {

namespace {

constexpr int kPollMilliseconds = 100;
constexpr std::chrono::milliseconds kOnTerminal { 100 };
constexpr std::chrono::seconds kInLog { 10 };
constexpr std::size_t kDetail = 48; // characters

} // namespace

CancelOnSignal::CancelOnSignal(const CliSignals &signals, CancelToken token)
    : m_thread([&signals, token = std::move(token)](const std::stop_token &stop) mutable {
        while (!stop.stop_requested()) {
            pollfd input { signals.descriptor(), POLLIN, 0 };
            poll(&input, 1, kPollMilliseconds);
            if (signals.take() != CliSignal::None)
                token.cancel();
        }
    })
{
}

ProgressLine::ProgressLine()
    : m_isTerminal(isErrorTerminal())
{
}

ProgressLine::~ProgressLine()
{
    if (m_isOpen)
        writeError("\n");
}

void ProgressLine::show(std::string_view what, double fraction, double secondsLeft,
                        std::string_view detail)
{
    const auto now = std::chrono::steady_clock::now();
    const bool isNew = what != m_what;
    if (!isNew && fraction < 1
        && now - m_shown < (m_isTerminal ? kOnTerminal : std::chrono::milliseconds(kInLog)))
        return;
    m_shown = now;
    m_what = what;
    std::string text = std::format("{} {:.1f} %", what, 100 * fraction);
    if (secondsLeft > 0 && fraction < 1)
        text += std::format(", {} left", formatDuration(secondsLeft));
    if (!detail.empty())
        text += std::format(
            ", {}", detail.size() > kDetail ? detail.substr(detail.size() - kDetail) : detail);
    if (m_isTerminal) {
        writeError(std::format("{}\r{}\x1b[K", isNew && m_isOpen ? "\n" : "", text));
        m_isOpen = true;
    } else {
        writeError(text + "\n");
    }
}

std::string formatDuration(double seconds)
{
    const auto total = std::llround(seconds);
    if (total >= 3600)
        return std::format("{} h {} min", total / 3600, total % 3600 / 60);
    if (total >= 60)
        return std::format("{} min {} s", total / 60, total % 60);
    return std::format("{} s", total);
}

} // namespace firesteel::engine
