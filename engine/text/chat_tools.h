// SPDX-License-Identifier: MIT
//
// The tools of a request as the chat format needs them: parsed once, with the line that stands for
// each in the prompt.
#pragma once

#include "engine/api/error.h"
#include "engine/api/request.h"
#include "engine/text/prompt_json.h"

#include <span>
#include <string>
#include <vector>

namespace firesteel::engine {

struct ChatTool
{
    PromptJson function; // the inner object
    std::string name; // "" when it has none
    std::string line; // its JSON in the prompt, without defer_loading and strict
    bool isDeferred = false; // shown only where a tool result refers to it
};

// Errors: BadRequest, "tools[i]: why".
Result<std::vector<ChatTool>> parseChatTools(std::span<const Tool> tools);

} // namespace firesteel::engine
