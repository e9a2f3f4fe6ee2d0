// SPDX-License-Identifier: MIT
#include "app/api/openai_chat_reply.h"

#include <utility>

namespace firesteel::app {

namespace {

Json functionOf(const engine::ToolCall &call)
{
    return { { "name", call.name }, { "arguments", call.argumentsJson } };
}

} // namespace

OpenAiChatReply::OpenAiChatReply(ReplyIdentity identity, bool includesUsage, bool mirrorsReasoning)
    : m_identity(std::move(identity))
    , m_includesUsage(includesUsage)
    , m_mirrorsReasoning(mirrorsReasoning)
{
}

Json OpenAiChatReply::head(const char *object) const
{
    return { { "id", m_identity.id },
             { "object", object },
             { "created", m_identity.created },
             { "model", m_identity.model },
             { "system_fingerprint", m_identity.fingerprint } };
}

Json OpenAiChatReply::chunk(const Json &delta) const
{
    Json json = head("chat.completion.chunk");
    json["choices"] = Json::array({ { { "index", 0 },
                                      { "delta", delta },
                                      { "logprobs", nullptr },
                                      { "finish_reason", nullptr } } });
    if (m_includesUsage)
        json["usage"] = nullptr;
    return json;
}

std::string OpenAiChatReply::opening(int /*promptTokens*/)
{
    return serverSentEvent(chunk({ { "role", "assistant" }, { "content", "" } }));
}

std::string OpenAiChatReply::thinking(const std::string &text)
{
    Json delta { { "reasoning_content", text } };
    if (m_mirrorsReasoning)
        delta["reasoning"] = text;
    return serverSentEvent(chunk(delta));
}

std::string OpenAiChatReply::text(const std::string &text)
{
    return serverSentEvent(chunk({ { "content", text } }));
}

// Whole in one chunk: clients that want id and name in every chunk of a call, and those that join
// fragments, both get what they expect.
std::string OpenAiChatReply::call(const engine::ToolCallEvent &event)
{
    return serverSentEvent(
        chunk({ { "tool_calls",
                  Json::array({ { { "index", event.index },
                                  { "id", event.call.id },
                                  { "type", "function" },
                                  { "function", functionOf(event.call) } } }) } }));
}

std::string OpenAiChatReply::finish(const engine::Finished &finished)
{
    Json json = chunk(Json::object());
    json["choices"][0]["finish_reason"] = openAiFinishReason(finished.reason);
    json["timings"] = timingsOf(finished);
    m_usage += finished.usage;
    return serverSentEvent(json);
}

std::string OpenAiChatReply::closing()
{
    std::string text;
    if (m_includesUsage) {
        Json json = head("chat.completion.chunk");
        json["choices"] = Json::array();
        json["usage"] = openAiUsage(m_usage);
        text = serverSentEvent(json);
    }
    return text + "data: [DONE]\n\n";
}

std::string OpenAiChatReply::failure(const ApiError &error)
{
    return "data: " + openAiErrorBody(error) + "\n\n";
}

std::string OpenAiChatReply::whole(std::span<const Reply> answers)
{
    const Reply &reply = answers.front();
    Json message { { "role", "assistant" } };
    // Null beside calls, as OpenAI has it.
    message["content"] = reply.text.empty() && !reply.calls.empty() ? Json() : Json(reply.text);
    if (!reply.thinking.empty()) {
        message["reasoning_content"] = reply.thinking;
        if (m_mirrorsReasoning)
            message["reasoning"] = reply.thinking;
    }
    for (const engine::ToolCall &call : reply.calls) {
        message["tool_calls"].push_back(
            { { "id", call.id }, { "type", "function" }, { "function", functionOf(call) } });
    }
    Json json = head("chat.completion");
    json["choices"]
        = Json::array({ { { "index", 0 },
                          { "message", message },
                          { "logprobs", nullptr },
                          { "finish_reason", openAiFinishReason(reply.finished.reason) } } });
    json["usage"] = openAiUsage(reply.finished.usage);
    json["timings"] = timingsOf(reply.finished);
    return toText(json);
}

} // namespace firesteel::app
