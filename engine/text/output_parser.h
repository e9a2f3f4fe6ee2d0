// SPDX-License-Identifier: MIT
//
// Generated token ids -> thinking text, answer text and tool calls (spec/chat-format.md section 6). Works on ids, so control
// tags are never confused with text that looks like them; finds stop strings across token borders; emits whole UTF-8
// characters only. Fed one id at a time or many (a speculative step), the output is the same.
#pragma once

#include "engine/api/event.h"
#include "engine/text/tokenizer.h"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace firesteel::engine {

class OutputParser
{
public:
    struct Options
    {
        bool startsInThinking = true;
        std::vector<std::string> stop;
        std::vector<std::int32_t> eosTokenIds;
        std::map<std::string, std::map<std::string, std::string>> toolParameterTypes;
    };

    // One piece of output; `tokens` in the deltas counts the ids consumed since the previous delta.
    using Piece = std::variant<ThinkingDelta, TextDelta, ToolCallEvent>;

    enum class Status {
        Running,
        EndOfTurn,  // an eos id was consumed
        StopString, // a stop string was found; it and everything after it are dropped
    };

    // `tokenizer` must outlive the parser.
    OutputParser(const Tokenizer &tokenizer, Options options);

    struct Outcome
    {
        Status status = Status::Running;
        int consumed = 0; // ids of `tokens` that belong to the output; the rest must be discarded (and rolled back)
        std::vector<Piece> pieces;
    };
    Outcome push(std::span<const std::int32_t> tokens);

    // Text held back (a possible stop string's beginning, an incomplete character as U+FFFD). An unfinished call is dropped.
    std::vector<Piece> finish();

    int toolCallCount() const { return m_toolCallCount; }
    int reasoningTokens() const { return m_reasoningTokens; }

private:
    int m_toolCallCount = 0;
    int m_reasoningTokens = 0;
};

} // namespace firesteel::engine
