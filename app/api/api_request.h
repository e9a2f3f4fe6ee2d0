// SPDX-License-Identifier: MIT
//
// What every dialect's request becomes: engine types, and how the answer is wanted. Plain data,
// made by the parse functions of openai_chat.h, openai_completions.h, openai_responses.h and
// anthropic_messages.h, run by GenerationRun.
#pragma once

#include "engine/api/engine.h"

#include <string>
#include <vector>

namespace firesteel::app {

struct ApiRequest
{
    std::string model; // as the client wrote it; empty: not at all
    std::vector<engine::Message> messages;
    std::vector<engine::Tool> tools;
    engine::PromptOptions prompt;
    // Of text completions: prompts that are token ids already. `messages` then is empty.
    std::vector<std::vector<std::int32_t>> tokenPrompts;
    // Of text completions: one message each, answered one after another.
    bool isOnePromptPerMessage = false;
    engine::GenerationRequest generation; // without its prompt
    bool isStream = false;
    bool includesUsage = false; // in a stream
    bool allowsParallelCalls = true; // false: the answer ends with its first call
    int unknownFields = 0; // ignored
};

} // namespace firesteel::app
