// SPDX-License-Identifier: MIT
//
// What long work on the command line needs: a signal that cancels it, and a line of progress.
#pragma once

#include "engine/base/cancel_token.h"
#include "engine/tools/cli_signals.h"

#include <chrono>
#include <string>
#include <string_view>
#include <thread>

namespace firesteel::engine {

// While it lives, the first SIGINT or SIGTERM sets the token.
class CancelOnSignal
{
public:
    CancelOnSignal(const CliSignals &signals, CancelToken token);

private:
    std::jthread m_thread;
};

// On standard error: rewritten in place on a terminal, otherwise a new line now and then.
class ProgressLine
{
public:
    ProgressLine();
    ~ProgressLine(); // ends the line

    // fraction of the work that `what` names; secondsLeft 0: unknown.
    void show(std::string_view what, double fraction, double secondsLeft,
              std::string_view detail = {});

private:
    bool m_isTerminal;
    bool m_isOpen = false;
    std::string m_what;
    std::chrono::steady_clock::time_point m_shown;
};

std::string formatDuration(double seconds); // "3 min 20 s"

} // namespace firesteel::engine
