// SPDX-License-Identifier: MIT
//
// Runs firesteel-cli as its users do: a process with arguments, input, two outputs and an exit
// status.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace firesteel::test {

struct CliRun
{
    int status = -1; // exit status; 128 + n after signal n
    std::string output;
    std::string error;
};

struct CliCall
{
    std::vector<std::string> arguments;
    std::string input;
    // Called with everything standard output has given so far; returns a signal to send now, or 0.
    std::function<int(const std::string &output)> onOutput;
    // The same for standard error.
    std::function<int(const std::string &error)> onError = {};
    bool closesOutput = false; // the reader of standard output leaves after its first bytes
};

// Without FIRESTEEL_MODEL in its environment. Throws std::system_error; kills what runs for two
// minutes.
CliRun runCli(const CliCall &call);

} // namespace firesteel::test
