// SPDX-License-Identifier: MIT
//
// simdjson's errors in words for a person. Used by every reader of a JSON file.
#pragma once

#include <simdjson.h>
#include <string>

namespace firesteel::engine {

// What is wrong with a text that does not parse: "not JSON: it is nested too deeply".
std::string jsonProblem(simdjson::error_code error);

} // namespace firesteel::engine
