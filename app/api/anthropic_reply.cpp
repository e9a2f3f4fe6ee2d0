// SPDX-License-Identifier: MIT
#include "app/api/anthropic_reply.h"

#include <utility>

namespace firesteel::app {

namespace {

std::string stopReason(engine::FinishReason reason)
{
    switch (reason) {
    case engine::FinishReason::ToolCalls:
        return "tool_use";
    case engine::FinishReason::Length:
    case engine::FinishReason::Repetition: // cut short too, and no word of its own
        return "max_tokens";
    case engine::FinishReason::StopString:
        return "stop_sequence";
    default:
        return "end_turn";
    }
}

// Cached tokens are not part of input_tokens here.
Json usageOf(const engine::Usage &usage)
{
    return { { "input_tokens", usage.promptTokens - usage.cachedTokens },
             { "cache_creation_input_tokens", 0 },
             { "cache_read_input_tokens", usage.cachedTokens },
             { "output_tokens", usage.completionTokens } };
}

Json inputOf(const engine::ToolCall &call)
{
    return parseBody(call.argumentsJson).value_or(Json::object());
}

std::string event(const Json &json)
{
    return serverSentEvent(json, json["type"].get_ref<const std::string &>());
}

} // namespace

AnthropicReply::AnthropicReply(ReplyIdentity identity, std::vector<std::string> stops)
    : m_identity(std::move(identity))
    , m_stops(std::move(stops))
{
}

Json AnthropicReply::message(const Json &content, const Json &usage) const
{
    return { { "id", m_identity.id },       { "type", "message" },  { "role", "assistant" },
             { "model", m_identity.model }, { "content", content }, { "stop_reason", nullptr },
             { "stop_sequence", nullptr },  { "usage", usage } };
}

// The engine does not tell which of several it was.
Json AnthropicReply::stopSequence(engine::FinishReason reason) const
{
    if (reason == engine::FinishReason::StopString && m_stops.size() == 1)
        return m_stops.front();
    return nullptr;
}

std::string AnthropicReply::opening(int promptTokens)
{
    engine::Usage usage;
    usage.promptTokens = promptTokens;
    return event(
        { { "type", "message_start" }, { "message", message(Json::array(), usageOf(usage)) } });
}

std::string AnthropicReply::delta(const Json &delta) const
{
    return event({ { "type", "content_block_delta" }, { "index", m_index }, { "delta", delta } });
}

std::string AnthropicReply::open(Block kind)
{
    if (m_block == kind)
        return {};
    std::string text = close();
    m_block = kind;
    const Json block = kind == Block::Thinking
        ? Json { { "type", "thinking" }, { "thinking", "" }, { "signature", "" } }
        : Json { { "type", "text" }, { "text", "" } };
    return text
        + event({ { "type", "content_block_start" },
                  { "index", m_index },
                  { "content_block", block } });
}

std::string AnthropicReply::close()
{
    if (m_block == Block::None)
        return {};
    m_block = Block::None;
    return event({ { "type", "content_block_stop" }, { "index", m_index++ } });
}

std::string AnthropicReply::thinking(const std::string &text)
{
    std::string bytes = open(Block::Thinking);
    return bytes + delta({ { "type", "thinking_delta" }, { "thinking", text } });
}

std::string AnthropicReply::text(const std::string &text)
{
    std::string bytes = open(Block::Text);
    return bytes + delta({ { "type", "text_delta" }, { "text", text } });
}

std::string AnthropicReply::call(const engine::ToolCallEvent &called)
{
    std::string bytes = close();
    bytes += event({ { "type", "content_block_start" },
                     { "index", m_index },
                     { "content_block",
                       { { "type", "tool_use" },
                         { "id", called.call.id },
                         { "name", called.call.name },
                         { "input", Json::object() } } } });
    bytes += delta(
        { { "type", "input_json_delta" }, { "partial_json", toText(inputOf(called.call)) } });
    return bytes + event({ { "type", "content_block_stop" }, { "index", m_index++ } });
}

std::string AnthropicReply::finish(const engine::Finished &finished)
{
    std::string bytes = close();
    return bytes
        + event({ { "type", "message_delta" },
                  { "delta",
                    { { "stop_reason", stopReason(finished.reason) },
                      { "stop_sequence", stopSequence(finished.reason) } } },
                  { "usage", usageOf(finished.usage) } });
}

std::string AnthropicReply::closing() { return event({ { "type", "message_stop" } }); }

std::string AnthropicReply::failure(const ApiError &error)
{
    return "event: error\ndata: " + anthropicErrorBody(error) + "\n\n";
}

std::string AnthropicReply::ping() const { return event({ { "type", "ping" } }); }

std::string AnthropicReply::whole(std::span<const Reply> answers)
{
    const Reply &reply = answers.front();
    Json content = Json::array();
    if (!reply.thinking.empty())
        content.push_back(
            { { "type", "thinking" }, { "thinking", reply.thinking }, { "signature", "" } });
    if (!reply.text.empty())
        content.push_back({ { "type", "text" }, { "text", reply.text } });
    for (const engine::ToolCall &call : reply.calls) {
        content.push_back({ { "type", "tool_use" },
                            { "id", call.id },
                            { "name", call.name },
                            { "input", inputOf(call) } });
    }
    Json json = message(content, usageOf(reply.finished.usage));
    json["stop_reason"] = stopReason(reply.finished.reason);
    json["stop_sequence"] = stopSequence(reply.finished.reason);
    return toText(json);
}

std::string AnthropicReply::errorBody(const ApiError &error) const
{
    return anthropicErrorBody(error);
}

} // namespace firesteel::app
