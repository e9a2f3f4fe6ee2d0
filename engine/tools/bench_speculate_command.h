// SPDX-License-Identifier: MIT
//
// `firesteel-cli bench speculate`: what drafting does for several kinds of text, by drafter, K and
// temperature.
#pragma once

#include "engine/tools/cli_options.h"
#include "engine/tools/cli_signals.h"

namespace firesteel::engine {

// Returns the process's exit status.
int runBenchSpeculate(const CliOptions &options, const CliSignals &signals);

} // namespace firesteel::engine
