// SPDX-License-Identifier: MIT
#include "app/api/openai_completions.h"

#include "app/api/request_fields.h"

#include <format>
#include <limits>
#include <utility>

namespace firesteel::app {

namespace {

constexpr std::size_t kMostPrompts = 64;
constexpr int kDefaultTokens = 16; // OpenAI's, for text without a turn that ends

bool isTokenId(const Json &json)
{
    if (!json.is_number_integer())
        return false;
    const auto value = json.get<std::int64_t>();
    return value >= 0 && value <= std::numeric_limits<std::int32_t>::max();
}

bool isTokenArray(const Json &json)
{
    return json.is_array() && !json.empty() && std::ranges::all_of(json, isTokenId);
}

void readPrompt(Fields &fields, ApiRequest &request)
{
    const auto wrong = [&] {
        fields.problem().report(
            badRequest("prompt",
                       std::format("prompt must be a string, an array of token ids, or up to {} of "
                                   "either kind.",
                                   kMostPrompts)));
    };
    const auto addText = [&](const Json &text) {
        request.messages.push_back(
            engine::Message::text(engine::Role::User, text.get<std::string>()));
    };
    const Json *prompt = fields.any("prompt");
    if (prompt == nullptr)
        return wrong();
    if (prompt->is_string())
        return addText(*prompt);
    if (isTokenArray(*prompt)) {
        request.tokenPrompts.push_back(prompt->get<std::vector<std::int32_t>>());
        return;
    }
    if (!prompt->is_array() || prompt->empty() || prompt->size() > kMostPrompts)
        return wrong();
    const bool isText = prompt->front().is_string();
    for (const Json &item : *prompt) {
        if (isText && item.is_string())
            addText(item);
        else if (!isText && isTokenArray(item))
            request.tokenPrompts.push_back(item.get<std::vector<std::int32_t>>());
        else
            return wrong();
    }
}

} // namespace

ApiResult<ApiRequest> parseTextCompletion(const Json &body, const engine::ModelInfo &model)
{
    Problem problem;
    Fields fields(body, {}, problem);
    ApiRequest request;
    request.generation.sampling = model.samplingDefaults;
    request.prompt.applyTemplate = false;
    request.isOnePromptPerMessage = true;
    request.model = fields.string("model").value_or("");
    readPrompt(fields, request);
    readSampling(fields, request.generation);
    readStop(fields, "stop", request.generation);
    const bool hasLimit = fields.any("max_tokens") != nullptr;
    const auto limit = readTokenLimit(fields, "max_tokens");
    request.generation.maxTokens = hasLimit ? limit : kDefaultTokens;
    request.isStream = fields.boolean("stream").value_or(false);
    if (const Json *options = fields.object("stream_options")) {
        Fields inner(*options, "stream_options", problem);
        request.includesUsage = inner.boolean("include_usage").value_or(false);
    }
    refuseUnsupported(fields);
    for (const std::string_view name :
         { "reasoning_budget_tokens", "thinking_budget", "thinking_token_budget" })
        fields.refuse(name, "a completion of plain text does not think.");
    fields.refuse("echo", "the prompt is not repeated.");
    fields.refuse("suffix", "text is continued at its end only.");
    fields.ignore({ "user" });
    request.unknownFields = fields.unknownFields();
    if (problem.isReported())
        return std::unexpected(problem.first());
    return request;
}

OpenAiCompletionReply::OpenAiCompletionReply(ReplyIdentity identity, bool includesUsage)
    : m_identity(std::move(identity))
    , m_includesUsage(includesUsage)
{
}

Json OpenAiCompletionReply::head() const
{
    return { { "id", m_identity.id },
             { "object", "text_completion" },
             { "created", m_identity.created },
             { "model", m_identity.model },
             { "system_fingerprint", m_identity.fingerprint } };
}

Json OpenAiCompletionReply::chunk(const std::string &text) const
{
    Json json = head();
    json["choices"] = Json::array({ { { "index", m_index },
                                      { "text", text },
                                      { "logprobs", nullptr },
                                      { "finish_reason", nullptr } } });
    if (m_includesUsage)
        json["usage"] = nullptr;
    return json;
}

std::string OpenAiCompletionReply::opening(int /*promptTokens*/) { return {}; }

std::string OpenAiCompletionReply::beginAnswer(int index)
{
    m_index = index;
    return {};
}

std::string OpenAiCompletionReply::thinking(const std::string &text)
{
    return serverSentEvent(chunk(text));
}

std::string OpenAiCompletionReply::text(const std::string &text)
{
    return serverSentEvent(chunk(text));
}

// Without tools a call can only be something the model made up.
std::string OpenAiCompletionReply::call(const engine::ToolCallEvent & /*event*/) { return {}; }

std::string OpenAiCompletionReply::finish(const engine::Finished &finished)
{
    Json json = chunk("");
    json["choices"][0]["finish_reason"] = openAiFinishReason(finished.reason);
    m_usage += finished.usage;
    return serverSentEvent(json);
}

std::string OpenAiCompletionReply::closing()
{
    std::string text;
    if (m_includesUsage) {
        Json json = head();
        json["choices"] = Json::array();
        json["usage"] = openAiUsage(m_usage);
        text = serverSentEvent(json);
    }
    return text + "data: [DONE]\n\n";
}

std::string OpenAiCompletionReply::failure(const ApiError &error)
{
    return "data: " + openAiErrorBody(error) + "\n\n";
}

std::string OpenAiCompletionReply::whole(std::span<const Reply> answers)
{
    Json json = head();
    json["choices"] = Json::array();
    engine::Usage usage;
    for (const Reply &reply : answers) {
        json["choices"].push_back(
            { { "index", json["choices"].size() },
              { "text", reply.thinking + reply.text },
              { "logprobs", nullptr },
              { "finish_reason", openAiFinishReason(reply.finished.reason) } });
        usage += reply.finished.usage;
    }
    json["usage"] = openAiUsage(usage);
    return toText(json);
}

} // namespace firesteel::app
