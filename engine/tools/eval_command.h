// SPDX-License-Identifier: MIT
//
// firesteel-cli eval: how close a model's predictions are to a teacher's.
#pragma once

#include "engine/tools/cli_options.h"
#include "engine/tools/cli_signals.h"

namespace firesteel::engine {

int runEval(const CliOptions &options, const CliSignals &signals); // the exit status

} // namespace firesteel::engine
