// SPDX-License-Identifier: MIT
#include "engine/tools/cli_signals.h"

#include <cerrno>
#include <csignal>
#include <sys/signalfd.h>
#include <system_error>
#include <unistd.h>

namespace firesteel::engine {

CliSignals::CliSignals()
{
    std::signal(SIGPIPE, SIG_IGN);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    if (const int error = pthread_sigmask(SIG_BLOCK, &set, nullptr); error != 0)
        throw std::system_error(error, std::generic_category(), "pthread_sigmask");
    m_descriptor = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
    if (m_descriptor < 0)
        throw std::system_error(errno, std::generic_category(), "signalfd");
}

CliSignals::~CliSignals() { close(m_descriptor); }

CliSignal CliSignals::take() const
{
    signalfd_siginfo info {};
    if (read(m_descriptor, &info, sizeof info) != static_cast<ssize_t>(sizeof info))
        return CliSignal::None;
    return info.ssi_signo == SIGINT ? CliSignal::Interrupt : CliSignal::Terminate;
}

} // namespace firesteel::engine
