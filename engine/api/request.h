// SPDX-License-Identifier: MIT
//
// What a client asks of the engine: messages and tools in, a Prompt, a GenerationRequest. Plain
// data; JSON dialects of the HTTP endpoints are translated into these types by app/api.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace firesteel::engine {

enum class Role { System, User, Assistant, Tool };

struct ContentPart
{
    enum class Kind {
        Text,
        Image,
        Video,
        Audio,
        ToolReference, // in tool results: repeats the definition of the tool named by `text`
    };
    Kind kind = Kind::Text;
    std::string text; // UTF-8: the text, or the referenced tool's name
};

struct ToolCall
{
    std::string id;
    std::string name;
    std::string argumentsJson = "{}"; // a JSON object; key order is kept
};

// One result inside a tool message that carries several.
struct ToolOutput
{
    std::string id; // of the call it answers; may be empty
    std::vector<ContentPart> content;
};

struct Message
{
    Role role = Role::User;
    std::vector<ContentPart> content;
    std::optional<std::string> reasoning; // assistant only
    std::vector<ToolCall> toolCalls; // assistant only
    // Assistant only: exactly what the model generated for this turn, reasoning and all
    // (Finished::tokens), by the vocabulary of the model that is loaded (ModelInfo::vocabulary).
    // Prepare uses them in place of tokenising the texts, unless they say something else.
    std::optional<std::vector<std::int32_t>> tokens;
    std::string toolCallId; // tool only: the call that `content` answers
    std::vector<ToolOutput> toolOutputs; // tool only: used instead of `content` when not empty

    static Message text(Role role, std::string text)
    {
        Message message;
        message.role = role;
        message.content.push_back({ ContentPart::Kind::Text, std::move(text) });
        return message;
    }
};

// A function the model may call: the JSON object of the OpenAI format, either the outer
// {"type","function"} or the inner one. Key order is kept, since the model sees it.
struct Tool
{
    std::string json;
};

enum class ReasoningEffort { Low, High, Max };

// Variables of the chat template (spec/chat-format.md, sections 3 to 5).
struct PromptOptions
{
    ReasoningEffort effort = ReasoningEffort::Max;
    bool thinking = true; // false: the prompt closes the reasoning block at once
    bool clearThinking = false; // true: drop the reasoning of turns before the last user message
    bool addGenerationPrompt = true; // false: render the history only
    // false: no template; the messages' texts one after another as they are, control tags
    // recognised. For completion.
    bool applyTemplate = true;
};

// A rendered and tokenised conversation, ready to submit. Made by Engine::prepare.
struct Prompt
{
    std::vector<std::int32_t> tokens;
    bool startsInThinking = true; // the output parser begins inside the reasoning block
    // The answer goes on with a text that is no conversation: all of it is text as it comes, tags
    // of reasoning and calls too. For the client to set.
    bool isPlainText = false;
    // Where the last user's turn begins in `tokens`, its tag included; their number without one.
    std::size_t lastUserTurn = 0;
    // Tool name -> parameter name -> JSON schema type, "" where the schema names none: how argument
    // values are read back.
    std::map<std::string, std::map<std::string, std::string>> toolParameterTypes;
};

struct SamplingParams
{
    float temperature = 1.0F; // 0: greedy
    float topP = 1.0F; // (0, 1]
    int topK = 0; // 0: off
    float minP = 0.0F; // [0, 1): relative to the most likely token
    float repetitionPenalty = 1.0F; // > 0, over prompt and answer (Keskar et al. 2019, CTRL)
    float presencePenalty = 0.0F; // OpenAI definition, over the answer
    float frequencyPenalty = 0.0F; // OpenAI definition, over the answer
    std::vector<std::pair<std::int32_t, float>>
        logitBias; // added before sampling; -100 or less bans
    std::optional<std::uint64_t> seed; // same seed, settings and build: same answer
};

// Who guesses the next tokens of an answer for the model to verify together. Never changes what is
// generated.
enum class DrafterKind {
    Auto, // whichever has given most tokens per millisecond lately, none included
    None,
    Lookup, // copies what followed the same words earlier
    Dflash2, // the drafter model
};
std::string_view drafterName(DrafterKind kind); // "dflash2"

struct Drafting
{
    static constexpr int kMaxTokens = 8;
    DrafterKind drafter = DrafterKind::Auto;
    std::optional<int> tokens; // K, guesses verified per step, 0..kMaxTokens; unset: as many as pay
};

// What the answer has to be. Thinking stays free; the tokens of the answer are held to it one by
// one, so that it is complete and right wherever it ends by itself (docs/structured-output.md).
struct AnswerFormat
{
    enum class Kind {
        Free,
        JsonObject, // any JSON object
        JsonSchema, // JSON of `schema`
        ToolCalls, // one call of `tools` or several
    };
    Kind kind = Kind::Free;
    std::string schema; // a JSON Schema, of the subset that is supported
    std::vector<Tool> tools; // those that may be called
    bool allowsParallelCalls = true; // of ToolCalls; false: exactly one
    // Of JsonObject and JsonSchema: the answer may be calls instead, which are free then.
    bool mayCallInstead = false;
};

struct GenerationRequest
{
    Prompt prompt;
    SamplingParams sampling;
    std::optional<int> maxTokens; // unset: what is left of the context
    std::vector<std::string>
        stop; // not matched inside thinking or tool calls; excluded from the output
    // Tokens of thinking, at least 1, after which the reasoning block is closed and the answer
    // begins; unset: no limit. Thinking is switched off in PromptOptions, not here.
    std::optional<int> thinkingBudget;
    // Ends an answer that says the same again and again (engine/decode/repetition_guard.h).
    bool stopsRepetition = true;
    AnswerFormat format;
    Drafting drafting;
    std::string source; // who asks, for a person who looks at EngineStats; empty: this program
};

} // namespace firesteel::engine
