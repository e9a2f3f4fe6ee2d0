// SPDX-License-Identifier: MIT
//
// The official chat template (revision 690b7052) in C++: messages and tools to prompt text, byte for byte. No Jinja engine: one
// model, one template. Rules: spec/chat-format.md sections 3 to 5.
#pragma once

#include "engine/api/error.h"
#include "engine/api/request.h"

#include <map>
#include <span>
#include <string>

namespace firesteel::engine {

// Errors: BadRequest (tool or arguments are not JSON objects, naming which).
Result<std::string> renderChat(std::span<const Message> messages, std::span<const Tool> tools, const PromptOptions &options);

// Tool name -> parameter name -> JSON schema type, for OutputParser. Errors: BadRequest.
Result<std::map<std::string, std::map<std::string, std::string>>> toolParameterTypes(std::span<const Tool> tools);

} // namespace firesteel::engine
