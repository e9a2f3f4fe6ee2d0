// SPDX-License-Identifier: MIT
//
// firesteel-cli synth: progress on standard error, a summary on standard output; a signal cancels.
#pragma once

#include "engine/tools/cli_options.h"
#include "engine/tools/cli_signals.h"

namespace firesteel::engine {

int runSynth(const CliOptions &options, const CliSignals &signals); // exit status

} // namespace firesteel::engine
