// SPDX-License-Identifier: MIT
//
// The grammar of tool calls in the model's own format (chat template, "<tool_call>"): names and
// arguments that the tools' schemas allow, read by OutputParser without loss.
#pragma once

#include "engine/api/error.h"
#include "engine/grammar/grammar.h"

#include <memory>
#include <span>
#include <string>

namespace firesteel::engine {

// The tags as symbols of the grammar; each is one token of the vocabulary.
enum class ToolTag : Symbol {
    Call = kFirstTag, // <tool_call>
    EndCall, // </tool_call>
    Key, // <arg_key>
    EndKey, // </arg_key>
    Value, // <arg_value>
    EndValue, // </arg_value>
};

struct CallableTool
{
    std::string name;
    std::string parameters; // JSON schema of an object; "" or "{}": none known
};

// One call, or with `mayRepeat` one or more. Errors: BadRequest, naming the tool, the place in its
// schema and the keyword.
Result<std::shared_ptr<const Grammar>> toolCallGrammar(std::span<const CallableTool> tools,
                                                       bool mayRepeat);

} // namespace firesteel::engine
