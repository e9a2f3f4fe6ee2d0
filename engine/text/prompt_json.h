// SPDX-License-Identifier: MIT
//
// JSON as it goes into a prompt: read and written the way Python's json module does (key order,
// separators, spelling of numbers of any size), because the model was trained on that. Used by the
// chat format.
#pragma once

#include "engine/api/error.h"

#include <string>
#include <string_view>
#include <vector>

namespace firesteel::engine {

struct PromptJson
{
    enum class Kind { Null, Boolean, Number, String, Array, Object };

    Kind kind = Kind::Null;
    std::string text
        = "null"; // a string's characters; null, booleans and numbers as they are written
    std::vector<std::string> keys; // of an object, as many as items
    std::vector<PromptJson> items; // of an array or object

    const PromptJson *find(std::string_view key) const; // null when absent or not an object
    bool isTruthy() const; // Python's bool()
};

// Errors: BadRequest, "<what>: why".
Result<PromptJson> parsePromptJson(std::string_view json, std::string_view what);

// json.dumps(value, ensure_ascii=False)
std::string dumpPromptJson(const PromptJson &value);

} // namespace firesteel::engine
