// SPDX-License-Identifier: MIT
#include "app/api/openai_responses.h"

#include "app/api/answer_format.h"
#include "app/api/message_content.h"
#include "app/api/request_fields.h"

#include <format>
#include <optional>
#include <utility>

namespace firesteel::app {

namespace {

// Items of a conversation, in which one turn of the model is several: its reasoning, its text, its
// calls.
class InputReader
{
public:
    InputReader(std::vector<engine::Message> &messages, Problem &problem)
        : m_messages(messages)
        , m_problem(problem)
    {
    }
    ~InputReader() { flush(); }
    InputReader(const InputReader &) = delete;
    InputReader &operator=(const InputReader &) = delete;

    void read(const Json &item, const std::string &path)
    {
        Fields fields(item, path, m_problem);
        const std::string type = fields.string("type").value_or("message");
        if (type == "message")
            readMessage(fields);
        else if (type == "reasoning")
            readReasoning(fields);
        else if (type == "function_call")
            readCall(fields);
        else if (type == "function_call_output")
            readOutput(fields);
        else
            m_problem.report(
                badRequest(fields.pathOf("type"),
                           std::format("{} is \"{}\"; message, reasoning, function_call and "
                                       "function_call_output are read.",
                                       fields.pathOf("type"), type)));
    }

private:
    engine::Message &turn()
    {
        if (!m_turn) {
            m_turn.emplace();
            m_turn->role = engine::Role::Assistant;
        }
        return *m_turn;
    }

    void flush()
    {
        if (m_turn)
            m_messages.push_back(std::move(*m_turn));
        m_turn.reset();
    }

    void readMessage(Fields &fields)
    {
        const std::string role = fields.string("role").value_or("");
        const Json *content = fields.any("content");
        auto parts = content != nullptr ? readContent(*content, fields.pathOf("content"), m_problem)
                                        : std::vector<engine::ContentPart>();
        if (content == nullptr)
            m_problem.report(badRequest(fields.pathOf("content"),
                                        std::format("{} is missing.", fields.pathOf("content"))));
        if (role == "assistant") {
            if (m_turn && (!m_turn->content.empty() || !m_turn->toolCalls.empty()))
                flush();
            turn().content = std::move(parts);
            return;
        }
        flush();
        engine::Message message;
        if (role == "system" || role == "developer")
            message.role = engine::Role::System;
        else if (role != "user")
            m_problem.report(badRequest(
                fields.pathOf("role"),
                std::format("{} is \"{}\"; it must be system, developer, user or assistant.",
                            fields.pathOf("role"), role)));
        message.content = std::move(parts);
        m_messages.push_back(std::move(message));
    }

    void readReasoning(Fields &fields)
    {
        flush();
        std::string text;
        for (const char *name : { "content", "summary" }) {
            const Json *parts = fields.array(name);
            for (std::size_t i = 0; parts != nullptr && i < parts->size(); ++i) {
                Fields part((*parts)[i], std::format("{}[{}]", fields.pathOf(name), i), m_problem);
                text += part.string("text").value_or("");
            }
            if (!text.empty())
                break;
        }
        if (!text.empty()) // else only in an encrypted form, which is another model's
            turn().reasoning = std::move(text);
    }

    void readCall(Fields &fields)
    {
        engine::ToolCall call;
        call.id = fields.string("call_id").value_or("");
        call.name = fields.string("name").value_or("");
        call.argumentsJson = fields.string("arguments").value_or("");
        if (call.argumentsJson.empty())
            call.argumentsJson = "{}";
        if (call.name.empty())
            m_problem.report(badRequest(fields.pathOf("name"),
                                        std::format("{} is missing.", fields.pathOf("name"))));
        turn().toolCalls.push_back(std::move(call));
    }

    void readOutput(Fields &fields)
    {
        flush();
        engine::Message message;
        message.role = engine::Role::Tool;
        message.toolCallId = fields.string("call_id").value_or("");
        if (const Json *output = fields.any("output"))
            message.content = readContent(*output, fields.pathOf("output"), m_problem);
        m_messages.push_back(std::move(message));
    }

    std::vector<engine::Message> &m_messages;
    Problem &m_problem;
    std::optional<engine::Message> m_turn; // of the model, still growing
};

void readInput(Fields &fields, ApiRequest &request)
{
    if (const auto instructions = fields.string("instructions");
        instructions && !instructions->empty())
        request.messages.push_back(engine::Message::text(engine::Role::System, *instructions));
    const Json *input = fields.any("input");
    if (input != nullptr && input->is_string()) {
        request.messages.push_back(
            engine::Message::text(engine::Role::User, input->get<std::string>()));
        return;
    }
    if (input == nullptr || !input->is_array() || input->empty()) {
        fields.problem().report(
            badRequest("input", "input must be a string or an array of items."));
        return;
    }
    InputReader reader(request.messages, fields.problem());
    for (std::size_t i = 0; i < input->size(); ++i)
        reader.read((*input)[i], std::format("input[{}]", i));
}

// Functions are flat here; for the model they are written as everywhere else.
void readFlatTools(Fields &fields, ApiRequest &request)
{
    const Json *tools = fields.array("tools");
    for (std::size_t i = 0; tools != nullptr && i < tools->size(); ++i) {
        Fields tool((*tools)[i], std::format("tools[{}]", i), fields.problem());
        if (tool.string("type").value_or("") != "function")
            continue; // tools of other servers
        Json function = Json::object();
        for (const char *name : { "name", "description", "parameters" }) {
            if (const Json *value = tool.any(name))
                function[name] = *value;
        }
        if (!function.contains("name") || !function["name"].is_string())
            fields.problem().report(badRequest(tool.pathOf("name"),
                                               std::format("{} is missing.", tool.pathOf("name"))));
        request.tools.push_back({ toText({ { "type", "function" }, { "function", function } }) });
    }
    const Json *choice = fields.any("tool_choice");
    if (choice != nullptr && *choice == "none")
        request.tools.clear();
    else if (choice != nullptr && *choice == "required")
        forceCall(std::nullopt, "tool_choice", request, fields.problem());
    else if (choice != nullptr && choice->is_object())
        forceCall(Fields(*choice, "tool_choice", fields.problem()).string("name").value_or(""),
                  "tool_choice", request, fields.problem());
    else if (choice != nullptr && *choice != "auto")
        fields.problem().report(
            badRequest("tool_choice", "tool_choice must be none, auto, required or an object."));
    if (const auto parallel = fields.boolean("parallel_tool_calls"))
        request.allowsParallelCalls = *parallel;
}

void readText(Fields &fields, ApiRequest &request)
{
    const Json *text = fields.object("text");
    if (text == nullptr)
        return;
    Fields inner(*text, "text", fields.problem());
    inner.ignore({ "verbosity" });
    const Json *format = inner.object("format");
    if (format == nullptr)
        return;
    readFormat(*format, "text.format", "", request, fields.problem());
}

} // namespace

ApiResult<ApiRequest> parseResponses(const Json &body, const engine::ModelInfo &model)
{
    Problem problem;
    Fields fields(body, {}, problem);
    ApiRequest request;
    request.generation.sampling = model.samplingDefaults;
    request.model = fields.string("model").value_or("");
    readInput(fields, request);
    readFlatTools(fields, request);
    readSampling(fields, request.generation);
    readThinking(fields, request);
    readText(fields, request);
    completeFormat(request);
    request.generation.maxTokens = readTokenLimit(fields, "max_output_tokens");
    request.isStream = fields.boolean("stream").value_or(false);
    fields.refuse("previous_response_id", "answers are not stored. Send the whole conversation.");
    fields.refuse("conversation", "conversations are not stored. Send all of it as input.");
    fields.refuse("background", "an answer lasts as long as its request.");
    fields.refuse("prompt", "prompts are not stored. Send the text as input.");
    fields.refuse("top_logprobs", "probabilities of tokens are not reported.");
    fields.ignore({ "user", "metadata", "store", "include", "service_tier", "truncation",
                    "prompt_cache_key", "prompt_cache_retention", "safety_identifier",
                    "max_tool_calls", "stream_options" });
    request.unknownFields = fields.unknownFields();
    if (problem.isReported())
        return std::unexpected(problem.first());
    return request;
}

} // namespace firesteel::app
