// SPDX-License-Identifier: MIT
//
// firesteel-cli quantize: a model folder to an EXL3 one.
#pragma once

#include "engine/tools/cli_options.h"
#include "engine/tools/cli_signals.h"

namespace firesteel::engine {

int runQuantize(const CliOptions &options, const CliSignals &signals); // the exit status

} // namespace firesteel::engine
