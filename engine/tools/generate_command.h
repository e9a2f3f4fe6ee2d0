// SPDX-License-Identifier: MIT
//
// firesteel-cli generate: one prompt, one answer.
#pragma once

#include "engine/tools/cli_options.h"
#include "engine/tools/cli_signals.h"

namespace firesteel::engine {

// The exit status.
int runGenerate(const CliOptions &options, const CliSignals &signals);

} // namespace firesteel::engine
