// SPDX-License-Identifier: MIT
//
// SIGINT and SIGTERM as a file descriptor that firesteel-cli polls beside its other inputs, so that
// nothing ever runs inside a signal handler. SIGPIPE is ignored: a closed pipe shows as a failed
// write. Make it before any thread: they inherit the mask.
#pragma once

namespace firesteel::engine {

enum class CliSignal { None, Interrupt, Terminate };

class CliSignals
{
public:
    CliSignals(); // throws std::system_error
    CliSignals(const CliSignals &) = delete;
    CliSignals &operator=(const CliSignals &) = delete;
    ~CliSignals();

    int descriptor() const { return m_descriptor; }
    CliSignal take() const; // does not wait

private:
    int m_descriptor = -1;
};

} // namespace firesteel::engine
