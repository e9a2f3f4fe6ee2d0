// SPDX-License-Identifier: MIT
//
// The schemas of tests/data/schemas.
#pragma once

#include "engine/text/prompt_json.h"

#include <string>
#include <vector>

namespace firesteel::test {

struct SchemaSample
{
    std::string name; // with its file in the suite
    std::string schema;
    std::vector<engine::PromptJson> valid; // of the suite
    std::vector<engine::PromptJson> invalid;
};

std::vector<SchemaSample> schemaSamples(); // the suite's first, then the realistic ones

} // namespace firesteel::test
