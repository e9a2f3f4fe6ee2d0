// SPDX-License-Identifier: MIT
//
// The official chat template (revision 690b7052) in C++: messages and tools to prompt text, byte
// for byte. No Jinja engine: one model, one template. Rules: spec/chat-format.md sections 3 to 5.
//
// What a person wrote may contain "<|user|>" or "<think>". The template copies it, and tokenising
// the rendered text would turn it into control tokens. Engines therefore render segments and encode
// them with encodeChat, which takes control tokens from the template only; where no text holds
// control tags the ids are those of the rendered text.
#pragma once

#include "engine/api/error.h"
#include "engine/api/request.h"
#include "engine/text/reply_tokens.h"
#include "engine/text/tokenizer.h"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace firesteel::engine {

struct ChatSegment
{
    bool isControl = false; // one control token the template wrote, e.g. "<|user|>"
    std::string text; // otherwise everything between two of them
    std::vector<std::int32_t> ids = {}; // or that as tokens which are known; `text` is empty then
};

// With `replies`, one for each message, an assistant's turn that has one is made of its tokens.
// Errors: BadRequest (a tool or a call's arguments are not JSON objects, a tool reference without
// tools; naming which).
Result<std::vector<ChatSegment>>
renderChatSegments(std::span<const Message> messages, std::span<const Tool> tools,
                   const PromptOptions &options,
                   std::span<const std::optional<ReplyTokens>> replies = {});

// The segments joined: exactly what the template renders. Errors: as above.
Result<std::string> renderChat(std::span<const Message> messages, std::span<const Tool> tools,
                               const PromptOptions &options);

std::vector<std::int32_t> encodeChat(const Tokenizer &tokenizer,
                                     std::span<const ChatSegment> segments);

// Tool name -> parameter name -> JSON schema type, for OutputParser; "string|null" for an optional
// string, "" where the schema allows several types or names none. Errors: BadRequest.
Result<std::map<std::string, std::map<std::string, std::string>>>
toolParameterTypes(std::span<const Tool> tools);

} // namespace firesteel::engine
