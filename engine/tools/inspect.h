// SPDX-License-Identifier: MIT
//
// firesteel-cli inspect: what a model folder holds, what is wrong with it and the memory it needs.
// Reads headers only; knows nothing of command lines.
#pragma once

#include "engine/api/error.h"

#include <filesystem>
#include <string>
#include <vector>

namespace firesteel::engine {

struct InspectOptions
{
    std::filesystem::path model = {};
    std::vector<int> contexts = {}; // tokens; empty: 8k, 32k, 128k and the model's maximum
    bool listsEveryTensor = false; // text only: no collapsing of layers and experts
    bool printsJson = false;
};

struct Inspection
{
    std::string text; // ends with a line break
    bool isUsable = false; // no tensor is missing or wrong
};

// Errors: those of Checkpoint::open; BadRequest for a context out of range.
Result<Inspection> inspectModel(const InspectOptions &options);

} // namespace firesteel::engine
