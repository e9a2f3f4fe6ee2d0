// SPDX-License-Identifier: MIT
//
// An assistant's turn as the tokens its model wrote. Tokenising the text of an answer again gives
// other ids wherever the model did not choose the tokenizer's own pieces: the prompt of the next
// turn would not be what was generated, and no longer match what is cached.
#pragma once

#include "engine/api/request.h"
#include "engine/text/tokenizer.h"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace firesteel::engine {

struct ReplyTokens
{
    std::vector<std::int32_t> reasoning; // between <think> and </think>, both left out
    std::vector<std::int32_t> answer; // behind </think>, calls included, without an end of turn
    bool answerHasOuterSpace = false; // white space before or after it, which the template trims
};

// Message::tokens, cut in two. None where they are absent or where reading them as the model's
// output does not give the reasoning, text and calls of the message, in which case only the text
// counts: nobody sees what a prompt holds beyond it.
std::optional<ReplyTokens>
replyTokens(const Tokenizer &tokenizer, const Message &message,
            std::span<const std::int32_t> eosTokenIds,
            const std::map<std::string, std::map<std::string, std::string>> &toolParameterTypes);

} // namespace firesteel::engine
