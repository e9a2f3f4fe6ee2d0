// SPDX-License-Identifier: MIT
#include "app/api/openai_responses_reply.h"

#include <format>
#include <utility>

namespace firesteel::app {

namespace {

Json usageOf(const engine::Usage &usage)
{
    return { { "input_tokens", usage.promptTokens },
             { "input_tokens_details", { { "cached_tokens", usage.cachedTokens } } },
             { "output_tokens", usage.completionTokens },
             { "output_tokens_details", { { "reasoning_tokens", usage.reasoningTokens } } },
             { "total_tokens", usage.promptTokens + usage.completionTokens } };
}

Json partOf(bool isReasoning, const std::string &text)
{
    if (isReasoning)
        return { { "type", "reasoning_text" }, { "text", text } };
    return { { "type", "output_text" },
             { "text", text },
             { "annotations", Json::array() },
             { "logprobs", Json::array() } };
}

Json callItem(const std::string &id, const engine::ToolCall &call, const char *status,
              const std::string &arguments)
{
    return { { "id", id },           { "type", "function_call" }, { "status", status },
             { "call_id", call.id }, { "name", call.name },       { "arguments", arguments } };
}

bool isCutShort(const engine::Finished &finished)
{
    return finished.reason == engine::FinishReason::Length
        || finished.reason == engine::FinishReason::Repetition;
}

const char *statusOf(const engine::Finished &finished)
{
    return isCutShort(finished) ? "incomplete" : "completed";
}

} // namespace

OpenAiResponsesReply::OpenAiResponsesReply(ReplyIdentity identity)
    : m_identity(std::move(identity))
{
}

std::string OpenAiResponsesReply::newItemId(const char *prefix)
{
    return std::format("{}_{}_{}", prefix, m_identity.id, m_output.size());
}

Json OpenAiResponsesReply::textItem(Item kind, const std::string &id, const std::string &text) const
{
    if (kind == Item::Reasoning)
        return { { "id", id },
                 { "type", "reasoning" },
                 { "summary", Json::array() },
                 { "content", Json::array({ partOf(true, text) }) } };
    return { { "id", id },
             { "type", "message" },
             { "status", "completed" },
             { "role", "assistant" },
             { "content", Json::array({ partOf(false, text) }) } };
}

Json OpenAiResponsesReply::response(const char *status, const engine::Finished *finished) const
{
    const bool isCut = finished != nullptr && isCutShort(*finished);
    return { { "id", m_identity.id },
             { "object", "response" },
             { "created_at", m_identity.created },
             { "status", status },
             { "error", nullptr },
             { "incomplete_details", isCut ? Json { { "reason", "max_output_tokens" } } : Json() },
             { "instructions", nullptr },
             { "metadata", Json::object() },
             { "model", m_identity.model },
             { "output", m_output },
             { "parallel_tool_calls", true },
             { "previous_response_id", nullptr },
             { "store", false },
             { "temperature", nullptr },
             { "top_p", nullptr },
             { "text", { { "format", { { "type", "text" } } } } },
             { "tool_choice", "auto" },
             { "tools", Json::array() },
             { "truncation", "disabled" },
             { "usage", finished != nullptr ? usageOf(finished->usage) : Json() } };
}

std::string OpenAiResponsesReply::event(const char *type, const Json &fields)
{
    Json json { { "type", type }, { "sequence_number", m_sequence++ } };
    json.update(fields);
    return serverSentEvent(json, type);
}

std::string OpenAiResponsesReply::opening(int /*promptTokens*/)
{
    std::string bytes
        = event("response.created", { { "response", response("in_progress", nullptr) } });
    return bytes
        + event("response.in_progress", { { "response", response("in_progress", nullptr) } });
}

std::string OpenAiResponsesReply::piece(Item kind, const std::string &text)
{
    std::string bytes;
    const bool isReasoning = kind == Item::Reasoning;
    if (m_open != kind) {
        bytes = close();
        m_open = kind;
        m_openId = newItemId(isReasoning ? "rs" : "msg");
        Json item = textItem(kind, m_openId, "");
        item["content"] = Json::array();
        if (!isReasoning)
            item["status"] = "in_progress";
        bytes += event("response.output_item.added",
                       { { "output_index", m_output.size() }, { "item", item } });
        bytes += event("response.content_part.added",
                       { { "item_id", m_openId },
                         { "output_index", m_output.size() },
                         { "content_index", 0 },
                         { "part", partOf(isReasoning, "") } });
    }
    m_openText += text;
    Json fields { { "item_id", m_openId },
                  { "output_index", m_output.size() },
                  { "content_index", 0 },
                  { "delta", text } };
    if (!isReasoning)
        fields["logprobs"] = Json::array();
    return bytes
        + event(isReasoning ? "response.reasoning_text.delta" : "response.output_text.delta",
                fields);
}

std::string OpenAiResponsesReply::close()
{
    if (!m_open)
        return {};
    const bool isReasoning = *m_open == Item::Reasoning;
    const Json place { { "item_id", m_openId },
                       { "output_index", m_output.size() },
                       { "content_index", 0 } };
    Json done = place;
    done["text"] = m_openText;
    if (!isReasoning)
        done["logprobs"] = Json::array();
    std::string bytes
        = event(isReasoning ? "response.reasoning_text.done" : "response.output_text.done", done);
    Json part = place;
    part["part"] = partOf(isReasoning, m_openText);
    bytes += event("response.content_part.done", part);
    const Json item = textItem(*m_open, m_openId, m_openText);
    bytes += event("response.output_item.done",
                   { { "output_index", m_output.size() }, { "item", item } });
    m_output.push_back(item);
    m_open.reset();
    m_openText.clear();
    return bytes;
}

std::string OpenAiResponsesReply::thinking(const std::string &text)
{
    return piece(Item::Reasoning, text);
}

std::string OpenAiResponsesReply::text(const std::string &text)
{
    return piece(Item::Message, text);
}

std::string OpenAiResponsesReply::call(const engine::ToolCallEvent &called)
{
    std::string bytes = close();
    const std::string id = newItemId("fc");
    const std::size_t index = m_output.size();
    const Json item = callItem(id, called.call, "completed", called.call.argumentsJson);
    bytes += event(
        "response.output_item.added",
        { { "output_index", index }, { "item", callItem(id, called.call, "in_progress", "") } });
    bytes += event(
        "response.function_call_arguments.delta",
        { { "item_id", id }, { "output_index", index }, { "delta", called.call.argumentsJson } });
    bytes += event("response.function_call_arguments.done",
                   { { "item_id", id },
                     { "output_index", index },
                     { "name", called.call.name },
                     { "arguments", called.call.argumentsJson } });
    bytes += event("response.output_item.done", { { "output_index", index }, { "item", item } });
    m_output.push_back(item);
    return bytes;
}

std::string OpenAiResponsesReply::finish(const engine::Finished &finished)
{
    std::string bytes = close();
    const char *status = statusOf(finished);
    return bytes
        + event(std::format("response.{}", status).c_str(),
                { { "response", response(status, &finished) } });
}

std::string OpenAiResponsesReply::closing() { return {}; }

std::string OpenAiResponsesReply::failure(const ApiError &error)
{
    Json failed = response("failed", nullptr);
    failed["error"] = { { "code", "server_error" }, { "message", error.message } };
    return event("response.failed", { { "response", failed } });
}

std::string OpenAiResponsesReply::whole(std::span<const Reply> answers)
{
    const Reply &reply = answers.front();
    if (!reply.thinking.empty())
        m_output.push_back(textItem(Item::Reasoning, newItemId("rs"), reply.thinking));
    if (!reply.text.empty())
        m_output.push_back(textItem(Item::Message, newItemId("msg"), reply.text));
    for (const engine::ToolCall &call : reply.calls)
        m_output.push_back(callItem(newItemId("fc"), call, "completed", call.argumentsJson));
    return toText(response(statusOf(reply.finished), &reply.finished));
}

} // namespace firesteel::app
