// SPDX-License-Identifier: MIT
#include "app/api/anthropic_messages.h"

#include "app/api/answer_format.h"
#include "app/api/message_content.h"
#include "app/api/request_fields.h"

#include <format>
#include <utility>

namespace firesteel::app {

namespace {

// Budgets of thinking become efforts: this model has no other measure.
constexpr std::int64_t kLowBudget = 4096;
constexpr std::int64_t kHighBudget = 16384;

void readSystem(Fields &body, std::vector<engine::Message> &messages)
{
    const Json *system = body.any("system");
    if (system == nullptr)
        return;
    engine::Message message;
    message.role = engine::Role::System;
    message.content = readContent(*system, "system", body.problem());
    messages.push_back(std::move(message));
}

engine::ToolOutput readToolResult(Fields &block)
{
    engine::ToolOutput output;
    output.id = block.string("tool_use_id").value_or("");
    if (const Json *content = block.any("content"))
        output.content = readContent(*content, block.pathOf("content"), block.problem());
    block.ignore({ "is_error", "cache_control" });
    return output;
}

engine::ToolCall readToolUse(Fields &block)
{
    engine::ToolCall call;
    call.id = block.string("id").value_or("");
    call.name = block.string("name").value_or("");
    if (call.name.empty())
        block.problem().report(
            badRequest(block.pathOf("name"), std::format("{} is missing.", block.pathOf("name"))));
    if (const Json *input = block.object("input"))
        call.argumentsJson = toText(*input);
    return call;
}

// A turn of the user may answer calls and say something as well: the answers come first, in a
// message of their own.
void readBlocks(const Json &blocks, engine::Message &message, const std::string &path,
                std::vector<engine::Message> &messages, Problem &problem)
{
    engine::Message results;
    results.role = engine::Role::Tool;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        Fields block(blocks[i], std::format("{}[{}]", path, i), problem);
        const std::string type = block.string("type").value_or("");
        const bool isAssistant = message.role == engine::Role::Assistant;
        if (type == "tool_result" && !isAssistant) {
            results.toolOutputs.push_back(readToolResult(block));
        } else if (type == "tool_use" && isAssistant) {
            message.toolCalls.push_back(readToolUse(block));
        } else if (type == "thinking" && isAssistant) {
            message.reasoning
                = message.reasoning.value_or("") + block.string("thinking").value_or("");
        } else if (type == "redacted_thinking" && isAssistant) {
            continue; // of another model; it cannot be read
        } else {
            readPart(blocks[i], std::format("{}[{}]", path, i), message.content, problem);
        }
    }
    if (!results.toolOutputs.empty())
        messages.push_back(std::move(results));
}

void readTurns(Fields &body, std::vector<engine::Message> &messages)
{
    const Json *array = body.array("messages");
    if (array == nullptr || array->empty()) {
        body.problem().report(badRequest("messages", "messages must be an array of messages."));
        return;
    }
    for (std::size_t i = 0; i < array->size(); ++i) {
        Fields turn((*array)[i], std::format("messages[{}]", i), body.problem());
        engine::Message message;
        const std::string role = turn.string("role").value_or("");
        if (role == "assistant")
            message.role = engine::Role::Assistant;
        else if (role == "system")
            message.role = engine::Role::System;
        else if (role != "user")
            body.problem().report(
                badRequest(turn.pathOf("role"),
                           std::format("{} is \"{}\"; it must be user or assistant.",
                                       turn.pathOf("role"), role)));
        const Json *content = turn.any("content");
        if (content == nullptr) {
            body.problem().report(badRequest(
                turn.pathOf("content"), std::format("{} is missing.", turn.pathOf("content"))));
            continue;
        }
        if (content->is_array())
            readBlocks(*content, message, turn.pathOf("content"), messages, body.problem());
        else
            message.content = readContent(*content, turn.pathOf("content"), body.problem());
        // A turn of results alone is complete by now.
        if (!message.content.empty() || message.role != engine::Role::User)
            messages.push_back(std::move(message));
    }
    if (!messages.empty() && messages.back().role == engine::Role::Assistant)
        body.problem().report(
            unsupported("messages",
                        "messages end with an assistant's turn; an answer cannot be begun for the "
                        "model. End with a user's turn."));
}

void readAnthropicTools(Fields &body, ApiRequest &request)
{
    if (const Json *tools = body.array("tools")) {
        for (std::size_t i = 0; i < tools->size(); ++i) {
            Fields tool((*tools)[i], std::format("tools[{}]", i), body.problem());
            // Tools that run on Anthropic's servers have a dated type.
            if (tool.string("type").value_or("custom") != "custom")
                continue;
            Json function { { "name", tool.string("name").value_or("") } };
            if (const auto description = tool.string("description"))
                function["description"] = *description;
            const Json *schema = tool.object("input_schema");
            function["parameters"] = schema != nullptr ? *schema : Json::object();
            if (function["name"] == "")
                body.problem().report(badRequest(
                    tool.pathOf("name"), std::format("{} is missing.", tool.pathOf("name"))));
            request.tools.push_back(
                { toText({ { "type", "function" }, { "function", function } }) });
        }
    }
    const Json *choice = body.object("tool_choice");
    if (choice == nullptr)
        return;
    Fields inner(*choice, "tool_choice", body.problem());
    request.allowsParallelCalls = !inner.boolean("disable_parallel_tool_use").value_or(false);
    const std::string type = inner.string("type").value_or("");
    if (type == "none")
        request.tools.clear();
    else if (type == "any")
        forceCall(std::nullopt, "tool_choice", request, body.problem());
    else if (type == "tool")
        forceCall(inner.string("name").value_or(""), "tool_choice", request, body.problem());
    else if (type != "auto")
        body.problem().report(
            badRequest("tool_choice.type", "tool_choice.type must be auto, any, tool or none."));
}

void readAnthropicThinking(Fields &body, ApiRequest &request)
{
    engine::PromptOptions &options = request.prompt;
    options.thinking = false;
    if (const Json *thinking = body.object("thinking")) {
        Fields inner(*thinking, "thinking", body.problem());
        const std::string type = inner.string("type").value_or("");
        options.thinking = type == "enabled" || type == "adaptive";
        if (!options.thinking && type != "disabled")
            body.problem().report(badRequest(
                "thinking.type", "thinking.type must be enabled, adaptive or disabled."));
        if (const auto budget = inner.integer("budget_tokens", 1, INT32_MAX)) {
            request.generation.thinkingBudget = static_cast<int>(*budget);
            options.effort = *budget < kLowBudget ? engine::ReasoningEffort::Low
                : *budget < kHighBudget           ? engine::ReasoningEffort::High
                                                  : engine::ReasoningEffort::Max;
        }
    }
    if (const Json *output = body.object("output_config")) {
        Fields inner(*output, "output_config", body.problem());
        engine::PromptOptions chosen = options;
        readEffort(inner, "effort", chosen);
        options.effort = chosen.effort;
        if (const Json *format = inner.object("format"))
            readFormat(*format, "output_config.format", "", request, body.problem());
    }
}

} // namespace

ApiResult<ApiRequest> parseAnthropicMessages(const Json &body, const engine::ModelInfo &model,
                                             bool counts)
{
    Problem problem;
    Fields fields(body, {}, problem);
    ApiRequest request;
    request.generation.sampling = model.samplingDefaults;
    request.model = fields.string("model").value_or("");
    readSystem(fields, request.messages);
    readTurns(fields, request.messages);
    readAnthropicTools(fields, request);
    readAnthropicThinking(fields, request);
    readSampling(fields, request.generation);
    readStop(fields, "stop_sequences", request.generation);
    const auto limit = fields.integer("max_tokens", 1, INT32_MAX);
    if (limit)
        request.generation.maxTokens = static_cast<int>(*limit);
    else if (!counts)
        problem.report(badRequest("max_tokens", "max_tokens is missing."));
    request.isStream = fields.boolean("stream").value_or(false);
    fields.refuse("mcp_servers", "servers of tools are not called from here.");
    if (const Json *format = fields.object("output_format"))
        readFormat(*format, "output_format", "", request, problem);
    completeFormat(request);
    fields.ignore({ "metadata", "service_tier", "container", "context_management" });
    request.unknownFields = fields.unknownFields();
    if (problem.isReported())
        return std::unexpected(problem.first());
    return request;
}

} // namespace firesteel::app
