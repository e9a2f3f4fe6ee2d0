// SPDX-License-Identifier: MIT
//
// firesteel-cli bench decode, bench prefill: the speed of a model's shapes on this GPU, without its
// checkpoint. Weights are random numbers made on the device; speed does not depend on them.
#pragma once

#include "engine/tools/cli_options.h"

namespace firesteel::engine {

int runBenchDecode(const CliOptions &options);
int runBenchPrefill(const CliOptions &options);

} // namespace firesteel::engine
