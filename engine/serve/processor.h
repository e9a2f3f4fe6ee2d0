// SPDX-License-Identifier: MIT
//
// Where a model will run, and how much memory there is for it.
#pragma once

#include "engine/api/engine.h"
#include "engine/checkpoint/model_shape.h"

#include <cstdint>
#include <string>

namespace firesteel::engine {

struct Processor
{
    bool isDevice = false;
    std::string name; // of the device
    std::string note; // why the CPU, when a person should know; else empty
    // What the model could take: of the device's own memory, or of the machine's where both share
    // it.
    std::uint64_t availableBytes = 0;
};

// Errors: BadRequest when the GPU was asked for and cannot be used (with the reason); Io without
// /proc/meminfo.
Result<Processor> chooseProcessor(ProcessorChoice choice, const ModelShape &shape);

} // namespace firesteel::engine
