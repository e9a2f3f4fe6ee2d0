// SPDX-License-Identifier: MIT
#include "engine/text/reply_tokens.h"

#include "engine/text/chat_segments.h"
#include "engine/text/output_parser.h"

#include <algorithm>
#include <utility>
#include <variant>

namespace firesteel::engine {

namespace {

using Ids = std::span<const std::int32_t>;

struct Reading
{
    std::string reasoning;
    std::string text;
    std::vector<ToolCall> calls;

    void operator()(const ThinkingDelta &delta) { reasoning += delta.text; }
    void operator()(const TextDelta &delta) { text += delta.text; }
    void operator()(const ToolCallEvent &event) { calls.push_back(event.call); }
};

Reading read(OutputParser parser, Ids ids)
{
    Reading reading;
    for (const OutputParser::Piece &piece : parser.push(ids).pieces)
        std::visit(reading, piece);
    for (const OutputParser::Piece &piece : parser.finish())
        std::visit(reading, piece);
    return reading;
}

std::optional<std::string> plainText(const Message &message)
{
    std::string text;
    for (const ContentPart &part : message.content) {
        if (part.kind != ContentPart::Kind::Text)
            return std::nullopt;
        text += part.text;
    }
    return text;
}

// Ids of calls are the process's own and say nothing.
bool isSameCall(const ToolCall &read, const ToolCall &told)
{
    return read.name == told.name && read.argumentsJson == told.argumentsJson;
}

bool hasOuterSpace(const std::string &text)
{
    ChatSegments segments = { { false, text } };
    stripSegments(segments);
    return segments.front().text != text;
}

// What a model writes within its turn: no token that stands for anything but text or a tag.
bool isWithinTurn(const Tokenizer &tokenizer, Ids ids)
{
    return std::ranges::all_of(ids, [&tokenizer](std::int32_t id) {
        return id >= 0 && tokenizer.isMapped(id) && !tokenizer.isSpecial(id);
    });
}

} // namespace

std::optional<ReplyTokens>
replyTokens(const Tokenizer &tokenizer, const Message &message,
            std::span<const std::int32_t> eosTokenIds,
            const std::map<std::string, std::map<std::string, std::string>> &toolParameterTypes)
{
    if (message.role != Role::Assistant || !message.tokens)
        return std::nullopt;
    Ids ids = *message.tokens;
    if (!ids.empty() && std::ranges::find(eosTokenIds, ids.back()) != eosTokenIds.end())
        ids = ids.first(ids.size() - 1);
    const auto text = plainText(message);
    if (!text || !isWithinTurn(tokenizer, ids))
        return std::nullopt;
    const auto says = [&](bool startsInThinking) {
        const Reading reading = read(OutputParser(tokenizer,
                                                  { startsInThinking,
                                                    {},
                                                    { eosTokenIds.begin(), eosTokenIds.end() },
                                                    toolParameterTypes }),
                                     ids);
        return reading.reasoning == message.reasoning.value_or("") && reading.text == *text
            && std::ranges::equal(reading.calls, message.toolCalls, isSameCall);
    };
    ReplyTokens reply;
    reply.answerHasOuterSpace = hasOuterSpace(*text);
    if (says(true)) {
        const auto end = std::ranges::find(ids, tokenizer.addedTokenId("</think>").value_or(-1));
        reply.reasoning.assign(ids.begin(), end);
        if (end != ids.end())
            reply.answer.assign(end + 1, ids.end());
    } else if (says(false)) {
        reply.answer.assign(ids.begin(), ids.end()); // the prompt had closed the block
    } else {
        return std::nullopt;
    }
    return reply;
}

} // namespace firesteel::engine
