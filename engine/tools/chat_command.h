// SPDX-License-Identifier: MIT
//
// firesteel-cli chat: a conversation on a terminal, or one turn per line of piped input.
#pragma once

#include "engine/tools/cli_options.h"
#include "engine/tools/cli_signals.h"

namespace firesteel::engine {

// The exit status.
int runChat(const CliOptions &options, const CliSignals &signals);

} // namespace firesteel::engine
