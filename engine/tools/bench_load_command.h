// SPDX-License-Identifier: MIT
//
// firesteel-cli bench load: how fast a model's files come to where they are used, beside what the
// disk gives to anyone who only reads them.
#pragma once

#include "engine/tools/cli_options.h"

namespace firesteel::engine {

int runBenchLoad(const CliOptions &options);

} // namespace firesteel::engine
