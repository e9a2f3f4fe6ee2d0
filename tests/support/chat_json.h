// SPDX-License-Identifier: MIT
//
// Conversations as the chat goldens store them (OpenAI-style JSON, in every form that the template
// reads) to engine types.
#pragma once

#include "engine/api/request.h"

#include <nlohmann/json.hpp>
#include <vector>

namespace firesteel::test {

// Throw std::runtime_error for what has no meaning. "arguments" and a tool may be a string holding
// JSON, which keeps the spelling of numbers.
std::vector<engine::Message> messagesFromJson(const nlohmann::ordered_json &messages);
std::vector<engine::Tool> toolsFromJson(const nlohmann::ordered_json &tools);

// A golden's template variables: reasoning_effort, clear_thinking, add_generation_prompt, thinking
// (ours).
engine::PromptOptions promptOptionsFromJson(const nlohmann::ordered_json &variables);

} // namespace firesteel::test
