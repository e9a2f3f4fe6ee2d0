// SPDX-License-Identifier: MIT
#include "tests/engine/tools/cli_process.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sstream>
#include <stdexcept>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

namespace firesteel::test {

namespace {

constexpr std::chrono::seconds kPatience { 120 };

struct Pipe
{
    Pipe()
    {
        if (pipe2(ends.data(), O_CLOEXEC) != 0)
            throw std::system_error(errno, std::generic_category(), "pipe2");
    }
    Pipe(const Pipe &) = delete;
    Pipe &operator=(const Pipe &) = delete;
    ~Pipe()
    {
        closeEnd(0);
        closeEnd(1);
    }
    void closeEnd(std::size_t end)
    {
        if (ends[end] >= 0)
            close(ends[end]);
        ends[end] = -1;
    }
    std::array<int, 2> ends { -1, -1 };
};

// The words of FIRESTEEL_CLI: the binary, after an emulator where it is for another machine.
std::vector<std::string> commandOf(const std::vector<std::string> &arguments)
{
    std::vector<std::string> words;
    std::istringstream stream(FIRESTEEL_CLI);
    for (std::string word; std::getline(stream, word, '|');)
        words.push_back(word);
    words.insert(words.end(), arguments.begin(), arguments.end());
    return words;
}

pid_t start(const CliCall &call, const Pipe &input, const Pipe &output, const Pipe &error)
{
    std::vector<std::string> words = commandOf(call.arguments);
    std::vector<char *> pointers;
    for (std::string &word : words)
        pointers.push_back(word.data());
    pointers.push_back(nullptr);
    const pid_t child = fork();
    if (child < 0)
        throw std::system_error(errno, std::generic_category(), "fork");
    if (child == 0) {
        dup2(input.ends[0], STDIN_FILENO);
        dup2(output.ends[1], STDOUT_FILENO);
        dup2(error.ends[1], STDERR_FILENO);
        unsetenv("FIRESTEEL_MODEL");
        execvp(pointers[0], pointers.data()); // an emulator is looked up
        _exit(127);
    }
    return child;
}

// One read into `text`; false at the end.
bool readSome(int descriptor, std::string &text)
{
    std::array<char, 4096> chunk;
    const ssize_t count = read(descriptor, chunk.data(), chunk.size());
    if (count > 0)
        text.append(chunk.data(), static_cast<std::size_t>(count));
    return count > 0;
}

} // namespace

CliRun runCli(const CliCall &call)
{
    Pipe input;
    Pipe output;
    Pipe error;
    std::signal(SIGPIPE,
                SIG_IGN); // a program that does not read its input is no failure of the test
    const pid_t child = start(call, input, output, error);
    input.closeEnd(0);
    output.closeEnd(1);
    error.closeEnd(1);
    if (!call.input.empty() && write(input.ends[1], call.input.data(), call.input.size()) < 0
        && errno != EPIPE)
        throw std::system_error(errno, std::generic_category(), "write");
    if (!call.onOutput)
        input.closeEnd(1);

    CliRun run;
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    while (output.ends[0] >= 0 || error.ends[0] >= 0) {
        if (std::chrono::steady_clock::now() > deadline)
            kill(child, SIGKILL);
        std::array<pollfd, 2> streams { { { output.ends[0], POLLIN, 0 },
                                          { error.ends[0], POLLIN, 0 } } };
        poll(streams.data(), streams.size(), 1000);
        if (streams[0].revents != 0) {
            if (!readSome(output.ends[0], run.output) || call.closesOutput)
                output.closeEnd(0);
            if (const int signal = call.onOutput ? call.onOutput(run.output) : 0; signal != 0)
                kill(child, signal);
        }
        if (streams[1].revents != 0) {
            if (!readSome(error.ends[0], run.error))
                error.closeEnd(0);
            if (const int signal = call.onError ? call.onError(run.error) : 0; signal != 0)
                kill(child, signal);
        }
    }
    int status = 0;
    waitpid(child, &status, 0);
    run.status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    return run;
}

} // namespace firesteel::test
