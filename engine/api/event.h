// SPDX-License-Identifier: MIT
//
// What a request reports back while it runs. Events of one request arrive in order, on the engine
// thread: a sink must return quickly and must not call back into the engine except cancel().
#pragma once

#include "engine/api/error.h"
#include "engine/api/request.h"

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <variant>
#include <vector>

namespace firesteel::engine {

using RequestId = std::uint64_t;

struct Queued
{
    int position = 0; // requests ahead of this one; repeated whenever it changes
};

struct PrefillProgress
{
    int processedTokens = 0;
    int totalTokens = 0;
};

struct ThinkingDelta
{
    std::string text; // whole UTF-8 characters
    int tokens = 0; // generated since the last delta of either kind
    std::vector<std::int32_t> ids = {}; // of those tokens
};

struct TextDelta
{
    std::string text;
    int tokens = 0;
    std::vector<std::int32_t> ids = {};
};

// A complete call; ids are unique within the process.
struct ToolCallEvent
{
    int index = 0;
    ToolCall call;
};

enum class FinishReason {
    Stop, // an end-of-turn token
    StopString,
    ToolCalls, // the turn ended and holds at least one complete call
    Length, // maxTokens or the end of the context
    Cancelled,
    Repetition, // the same tokens over and over (GenerationRequest::stopsRepetition)
};

struct Usage
{
    int promptTokens = 0; // cached ones included
    int cachedTokens = 0;
    int completionTokens = 0;
    int reasoningTokens = 0; // part of completionTokens
};

struct Timings
{
    double queueSeconds = 0;
    double prefillSeconds = 0;
    double timeToFirstTokenSeconds = 0; // from submit
    double decodeSeconds = 0; // from the first token to the last
};

// What drafting did. Position 0 is the token after the one that the model gave last.
struct DraftCounts
{
    int steps = 0; // decode steps, drafted for or not
    int drafted = 0; // guesses that were verified
    int accepted = 0;
    std::array<int, Drafting::kMaxTokens> draftedAt = {}; // by position
    std::array<int, Drafting::kMaxTokens> acceptedAt = {};
    double draftSeconds = 0;
    double verifySeconds = 0; // the model's own steps

    // A decode step: the first `agreed` of `drafts` guesses were right.
    void addStep(int drafts, int agreed);
    DraftCounts &operator+=(const DraftCounts &other);
};

struct Finished
{
    FinishReason reason = FinishReason::Stop;
    Usage usage;
    Timings timings;
    std::vector<std::int32_t> tokens; // everything generated, the end-of-turn token included
    DraftCounts drafting = {};
};

struct Failed
{
    Error error;
};

using GenerationEvent = std::variant<Queued, PrefillProgress, ThinkingDelta, TextDelta,
                                     ToolCallEvent, Finished, Failed>;
using EventSink = std::function<void(RequestId, const GenerationEvent &)>;

} // namespace firesteel::engine
