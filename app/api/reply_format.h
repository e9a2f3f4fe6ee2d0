// SPDX-License-Identifier: MIT
//
// How one dialect writes an answer: piece by piece as server-sent events, or whole as JSON. Driven
// by GenerationRun on the connection's thread; keeps what the stream needs to know of its past.
#pragma once

#include "app/api/api_error.h"
#include "app/api/json_document.h"
#include "engine/api/event.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace firesteel::app {

struct ReplyIdentity
{
    std::string id; // with the dialect's prefix, unique
    std::int64_t created = 0; // seconds since 1970
    std::string model; // as the reply names it
    // Same fingerprint, seed and settings: same answer. Drafting never changes one.
    std::string fingerprint = {};
};

// One whole answer.
struct Reply
{
    std::string thinking;
    std::string text;
    std::vector<engine::ToolCall> calls;
    engine::Finished finished; // never with FinishReason::Cancelled
};

class ReplyFormat
{
public:
    virtual ~ReplyFormat() = default;

    // Of a stream, in this order: opening, for each answer beginAnswer, pieces and finish, then
    // closing. failure may come at any point and ends it. All return bytes to send, maybe none.
    virtual std::string opening(int promptTokens) = 0;
    virtual std::string beginAnswer(int /*index*/) { return {}; }
    virtual std::string thinking(const std::string &text) = 0;
    virtual std::string text(const std::string &text) = 0;
    virtual std::string call(const engine::ToolCallEvent &event) = 0;
    virtual std::string finish(const engine::Finished &finished) = 0;
    virtual std::string closing() = 0;
    virtual std::string failure(const ApiError &error) = 0;
    virtual std::string ping() const { return ": ping\n\n"; }

    virtual std::string whole(std::span<const Reply> answers) = 0;
    virtual std::string errorBody(const ApiError &error) const { return openAiErrorBody(error); }
};

// "data: {...}\n\n", with "event: NAME" above it where one is given.
std::string serverSentEvent(const Json &data, std::string_view event = {});

// OpenAI's words, shared by its three dialects.
std::string openAiFinishReason(engine::FinishReason reason);
Json openAiUsage(const engine::Usage &usage);
// As llama.cpp's server reports them: counts and milliseconds, drafting included.
Json timingsOf(const engine::Finished &finished);
engine::Usage &operator+=(engine::Usage &sum, const engine::Usage &usage);

} // namespace firesteel::app
