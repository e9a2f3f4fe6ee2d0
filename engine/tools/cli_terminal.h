// SPDX-License-Identifier: MIT
//
// Standard input and output of firesteel-cli: reads that a signal can end, writes that report a
// closed pipe.
#pragma once

#include "engine/api/error.h"
#include "engine/tools/cli_signals.h"

#include <optional>
#include <string>
#include <string_view>

namespace firesteel::engine {

class CliInput
{
public:
    explicit CliInput(const CliSignals &signals)
        : m_signals(signals)
    {
    }

    // The next line without its end; nothing at the end of the input. Errors: Io, Cancelled (a
    // signal came).
    Result<std::optional<std::string>> readLine();
    // Everything that is left. Errors: as above.
    Result<std::string> readAll();

private:
    Result<void> fill(); // waits for more

    const CliSignals &m_signals;
    std::string m_buffer;
    bool m_isAtEnd = false;
};

// At once, without a buffer. False: standard output is closed or full.
bool writeOutput(std::string_view text);
void writeError(std::string_view text); // as it is
void writeErrorLine(std::string_view message); // "firesteel-cli: message"

bool isInputTerminal();
bool isErrorTerminal();

} // namespace firesteel::engine
