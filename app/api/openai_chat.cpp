// SPDX-License-Identifier: MIT
#include "app/api/openai_chat.h"

#include "app/api/answer_format.h"
#include "app/api/message_content.h"
#include "app/api/request_fields.h"

#include <format>
#include <utility>

namespace firesteel::app {

namespace {

std::optional<engine::Role> roleNamed(std::string_view name)
{
    using enum engine::Role;
    if (name == "system" || name == "developer")
        return System;
    if (name == "user")
        return User;
    if (name == "assistant")
        return Assistant;
    if (name == "tool")
        return Tool;
    return std::nullopt;
}

void readToolCalls(Fields &message, std::vector<engine::ToolCall> &calls)
{
    const Json *array = message.array("tool_calls");
    if (array == nullptr)
        return;
    for (std::size_t i = 0; i < array->size(); ++i) {
        Fields call((*array)[i], std::format("{}[{}]", message.pathOf("tool_calls"), i),
                    message.problem());
        engine::ToolCall parsed;
        parsed.id = call.string("id").value_or("");
        if (const Json *function = call.object("function")) {
            Fields inner(*function, call.pathOf("function"), message.problem());
            parsed.name = inner.string("name").value_or("");
            parsed.argumentsJson = inner.string("arguments").value_or("");
        }
        if (parsed.name.empty())
            message.problem().report(
                badRequest(call.pathOf("function.name"),
                           std::format("{} is missing.", call.pathOf("function.name"))));
        if (parsed.argumentsJson.empty())
            parsed.argumentsJson = "{}";
        calls.push_back(std::move(parsed));
    }
}

engine::Message readMessage(const Json &json, const std::string &path, Problem &problem)
{
    Fields fields(json, path, problem);
    engine::Message message;
    const std::string roleName = fields.string("role").value_or("");
    if (const auto role = roleNamed(roleName))
        message.role = *role;
    else
        problem.report(badRequest(
            fields.pathOf("role"),
            std::format("{} is \"{}\"; it must be system, developer, user, assistant or tool.",
                        fields.pathOf("role"), roleName)));
    if (const Json *content = fields.any("content"))
        message.content = readContent(*content, fields.pathOf("content"), problem);
    const bool isAssistant = message.role == engine::Role::Assistant;
    if (isAssistant) {
        readToolCalls(fields, message.toolCalls);
        message.reasoning = fields.string("reasoning_content");
        if (!message.reasoning)
            message.reasoning = fields.string("reasoning");
        fields.refuse("function_call", "use \"tool_calls\".");
    } else if (fields.any("content") == nullptr) {
        problem.report(badRequest(fields.pathOf("content"),
                                  std::format("{} is missing.", fields.pathOf("content"))));
    }
    if (message.role == engine::Role::Tool)
        message.toolCallId = fields.string("tool_call_id").value_or("");
    return message;
}

void readToolChoice(Fields &body, ApiRequest &request)
{
    const Json *choice = body.any("tool_choice");
    if (choice == nullptr || *choice == "auto")
        return;
    if (*choice == "none") {
        request.tools.clear();
    } else if (*choice == "required") {
        forceCall(std::nullopt, "tool_choice", request, body.problem());
    } else if (choice->is_object()) {
        Fields inner(*choice, "tool_choice", body.problem());
        const Json *function = inner.object("function");
        Fields named(function != nullptr ? *function : *choice, "tool_choice.function",
                     body.problem());
        forceCall(named.string("name").value_or(""), "tool_choice", request, body.problem());
    } else {
        body.problem().report(badRequest(
            "tool_choice", "tool_choice must be none, auto, required or name a function."));
    }
}

} // namespace

void readMessages(Fields &body, std::vector<engine::Message> &messages)
{
    const Json *array = body.array("messages");
    if (array == nullptr || array->empty()) {
        body.problem().report(badRequest("messages", "messages must be an array of messages."));
        return;
    }
    for (std::size_t i = 0; i < array->size(); ++i)
        messages.push_back(
            readMessage((*array)[i], std::format("messages[{}]", i), body.problem()));
}

void readTools(Fields &body, ApiRequest &request)
{
    if (const Json *tools = body.array("tools")) {
        for (std::size_t i = 0; i < tools->size(); ++i) {
            Fields tool((*tools)[i], std::format("tools[{}]", i), body.problem());
            // Clients list tools of their own server beside functions.
            if (tool.string("type").value_or("function") != "function")
                continue;
            const Json *function = tool.object("function");
            if (function == nullptr || !function->contains("name"))
                body.problem().report(badRequest(
                    tool.pathOf("function"),
                    std::format("{} must be an object with a name.", tool.pathOf("function"))));
            request.tools.push_back({ toText((*tools)[i]) });
        }
    }
    readToolChoice(body, request);
    if (const auto parallel = body.boolean("parallel_tool_calls"))
        request.allowsParallelCalls = *parallel;
}

ApiResult<ApiRequest> parseChatCompletion(const Json &body, const engine::ModelInfo &model)
{
    Problem problem;
    Fields fields(body, {}, problem);
    ApiRequest request;
    request.generation.sampling = model.samplingDefaults;
    request.model = fields.string("model").value_or("");
    readMessages(fields, request.messages);
    readTools(fields, request);
    readSampling(fields, request.generation);
    readStop(fields, "stop", request.generation);
    readThinking(fields, request);
    const auto older = readTokenLimit(fields, "max_tokens");
    const auto newer = readTokenLimit(fields, "max_completion_tokens");
    request.generation.maxTokens = newer ? newer : older;
    request.isStream = fields.boolean("stream").value_or(false);
    if (const Json *options = fields.object("stream_options")) {
        Fields inner(*options, "stream_options", problem);
        request.includesUsage = inner.boolean("include_usage").value_or(false);
    }
    refuseUnsupported(fields);
    if (const Json *format = fields.object("response_format"))
        readFormat(*format, "response_format", "json_schema", request, problem);
    completeFormat(request);
    fields.ignore({ "user", "metadata", "store", "service_tier", "prompt_cache_key",
                    "prompt_cache_retention", "safety_identifier", "verbosity", "modalities" });
    request.unknownFields = fields.unknownFields();
    if (problem.isReported())
        return std::unexpected(problem.first());
    return request;
}

} // namespace firesteel::app
