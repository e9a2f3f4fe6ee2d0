// SPDX-License-Identifier: MIT
//
// Generated token ids -> thinking text, answer text and tool calls (spec/chat-format.md section 6).
// Works on ids, so control tags are never confused with text that looks like them; finds stop
// strings across token borders; emits whole UTF-8 characters only. Fed one id at a time or many (a
// speculative step), the output is the same.
#pragma once

#include "engine/api/event.h"
#include "engine/base/utf8.h"
#include "engine/text/prompt_json.h"
#include "engine/text/stop_matcher.h"
#include "engine/text/tokenizer.h"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
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
        bool isPlainText = false; // tags have no meaning, space at the start is text
    };

    // One piece of output; `tokens` in the deltas counts the ids consumed since the previous delta.
    using Piece = std::variant<ThinkingDelta, TextDelta, ToolCallEvent>;

    enum class Status {
        Running,
        EndOfTurn, // an eos id was consumed
        StopString, // a stop string was found; it and everything after it are dropped
    };

    // `tokenizer` must outlive the parser.
    OutputParser(const Tokenizer &tokenizer, Options options);

    struct Outcome
    {
        Status status = Status::Running;
        int consumed = 0; // ids of `tokens` that belong to the output; the rest must be discarded
                          // (and rolled back)
        std::vector<Piece> pieces;
    };
    Outcome push(std::span<const std::int32_t>
                     tokens); // consumes nothing once the status is no longer Running

    // Text held back (a possible stop string's beginning, an incomplete character as U+FFFD). An
    // unfinished call is dropped.
    std::vector<Piece> finish();

    int toolCallCount() const { return m_toolCallCount; }
    int reasoningTokens() const { return m_reasoningTokens; }
    bool isThinking() const { return m_status == Status::Running && m_state == State::Thinking; }
    // The token that ends thinking; -1 in a vocabulary without one.
    std::int32_t endOfThinking() const { return m_tags.endThink; }

private:
    enum class State {
        Thinking,
        Content,
        CallName,
        CallBetween, // after the name, around arguments: anything but tags is ignored
        CallKey,
        CallValue,
    };
    struct Tags
    {
        std::int32_t think, endThink, call, endCall, key, endKey, value, endValue;
    };

    void consume(std::int32_t id);
    bool consumeTag(std::int32_t id);
    bool consumeCallTag(std::int32_t id);
    void enter(State state);
    void addText(std::string_view text);
    void addContent(std::string_view text);
    void emitContent(std::string_view text);
    void releaseContent(bool dropSpace);
    template <typename Delta> void emit(std::string_view text);
    void startCall();
    void endArgument();
    void endCall();
    PromptJson argumentValue(const std::string &key) const;

    const Tokenizer &m_tokenizer;
    Options m_options;
    Tags m_tags;
    Status m_status = Status::Running;
    State m_state = State::Thinking;
    Utf8Stream m_characters;
    bool m_atStart = true; // of the state: nothing but white space yet
    std::vector<Piece> m_pieces;
    std::vector<std::int32_t> m_idsSinceDelta;
    int m_toolCallCount = 0;
    int m_reasoningTokens = 0;

    StopMatcher m_stops;
    std::string m_leadingSpace; // before any other content; dropped when a call follows
    bool m_contentBegun = false; // in this stretch of content

    // The call being read.
    std::string m_callName;
    std::string m_key;
    std::string m_value;
    PromptJson m_arguments;
};

} // namespace firesteel::engine
