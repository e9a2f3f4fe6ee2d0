// SPDX-License-Identifier: MIT
#include "app/api/request_fields.h"

#include <charconv>
#include <cstdint>
#include <format>
#include <limits>

namespace firesteel::app {

namespace {

constexpr std::int64_t kMostTokens = std::numeric_limits<int>::max();
constexpr std::size_t kMostBiases = 1024;
constexpr double kBiasLimit = 100;

template <typename T> void assign(T &target, std::optional<double> value)
{
    if (value)
        target = static_cast<T>(*value);
}

void readLogitBias(Fields &fields, engine::SamplingParams &sampling)
{
    const Json *biases = fields.object("logit_bias");
    if (biases == nullptr)
        return;
    if (biases->size() > kMostBiases)
        fields.problem().report(
            badRequest("logit_bias",
                       std::format("logit_bias holds {} tokens; {} are allowed.", biases->size(),
                                   kMostBiases)));
    Fields entries(*biases, "logit_bias", fields.problem());
    for (const auto &[key, bias] : biases->items()) {
        std::int32_t id = 0;
        const char *end = key.data() + key.size();
        const auto [stopped, error] = std::from_chars(key.data(), end, id);
        if (error != std::errc {} || stopped != end)
            fields.problem().report(
                badRequest("logit_bias", "logit_bias: every key must be a token id."));
        if (const auto value = entries.number(key, { -kBiasLimit, kBiasLimit }))
            sampling.logitBias.emplace_back(id, static_cast<float>(*value));
    }
}

void readTemplateVariables(Fields &fields, std::string_view name, engine::PromptOptions &options)
{
    const Json *variables = fields.object(name);
    if (variables == nullptr)
        return;
    Fields inner(*variables, fields.pathOf(name), fields.problem());
    readEffort(inner, "reasoning_effort", options);
    if (const auto thinking = inner.boolean("enable_thinking"))
        options.thinking = *thinking;
    if (const auto clear = inner.boolean("clear_thinking"))
        options.clearThinking = *clear;
}

} // namespace

void readSampling(Fields &fields, engine::GenerationRequest &request)
{
    engine::SamplingParams &sampling = request.sampling;
    assign(sampling.temperature, fields.number("temperature", { 0, 2 }));
    assign(sampling.topP, fields.number("top_p", { 0, 1, true }));
    // -1 is how some servers spell "off".
    if (const auto topK = fields.integer("top_k", -1, kMostTokens))
        sampling.topK = *topK < 0 ? 0 : static_cast<int>(*topK);
    assign(sampling.minP, fields.number("min_p", { 0, 1, false, true }));
    assign(sampling.presencePenalty, fields.number("presence_penalty", { -2, 2 }));
    assign(sampling.frequencyPenalty, fields.number("frequency_penalty", { -2, 2 }));
    assign(sampling.repetitionPenalty, fields.number("repetition_penalty", { 0, 10, true }));
    if (const auto seed = fields.integer("seed", std::numeric_limits<std::int64_t>::min(),
                                         std::numeric_limits<std::int64_t>::max()))
        sampling.seed = static_cast<std::uint64_t>(*seed);
    readLogitBias(fields, sampling);
}

std::optional<int> readTokenLimit(Fields &fields, std::string_view name)
{
    const auto limit = fields.integer(name, -1, kMostTokens);
    if (!limit || *limit == -1)
        return std::nullopt;
    if (*limit == 0)
        fields.problem().report(
            badRequest(fields.pathOf(name),
                       std::format("{} is 0; it must be 1 or more.", fields.pathOf(name))));
    return static_cast<int>(*limit);
}

void readStop(Fields &fields, std::string_view name, engine::GenerationRequest &request)
{
    const Json *stop = fields.any(name);
    if (stop == nullptr)
        return;
    const auto add = [&](const Json &text) {
        if (text.is_string() && !text.get_ref<const std::string &>().empty())
            request.stop.push_back(text.get<std::string>());
        else
            fields.problem().report(
                badRequest(fields.pathOf(name),
                           std::format("{} must be a string that is not empty, or several of them.",
                                       fields.pathOf(name))));
    };
    if (!stop->is_array())
        return add(*stop);
    for (const Json &text : *stop)
        add(text);
}

void readEffort(Fields &fields, std::string_view name, engine::PromptOptions &options)
{
    const auto effort = fields.string(name);
    if (!effort)
        return;
    options.thinking = *effort != "none";
    if (*effort == "minimal" || *effort == "low")
        options.effort = engine::ReasoningEffort::Low;
    else if (*effort == "medium" || *effort == "high")
        options.effort = engine::ReasoningEffort::High;
    else if (*effort == "xhigh" || *effort == "max")
        options.effort = engine::ReasoningEffort::Max;
    else if (*effort != "none")
        fields.problem().report(
            badRequest(fields.pathOf(name),
                       std::format("{} must be none, minimal, low, medium, high, xhigh or max.",
                                   fields.pathOf(name))));
}

void readThinking(Fields &fields, ApiRequest &request)
{
    engine::PromptOptions &options = request.prompt;
    std::optional<int> &budget = request.generation.thinkingBudget;
    // From the weakest to the strongest; each overwrites.
    if (const Json *reasoning = fields.object("reasoning")) {
        Fields inner(*reasoning, fields.pathOf("reasoning"), fields.problem());
        readEffort(inner, "effort", options);
        if (const auto enabled = inner.boolean("enabled"))
            options.thinking = *enabled;
        budget = readTokenLimit(inner, "max_tokens");
    }
    readEffort(fields, "reasoning_effort", options);
    if (const auto thinking = fields.boolean("enable_thinking"))
        options.thinking = *thinking;
    for (const std::string_view name :
         { "reasoning_budget_tokens", "thinking_budget", "thinking_token_budget" })
        if (const auto limit = readTokenLimit(fields, name))
            budget = limit;
    readTemplateVariables(fields, "template_vars", options);
    readTemplateVariables(fields, "chat_template_kwargs", options);
}

void refuseUnsupported(Fields &fields)
{
    constexpr std::string_view kNoGrammar = "\"response_format\" with a JSON schema is.";
    for (const std::string_view name :
         { "guided_json", "guided_regex", "guided_choice", "guided_grammar", "structured_outputs",
           "grammar", "json_schema" })
        fields.refuse(name, kNoGrammar);
    for (const std::string_view name : { "logprobs", "top_logprobs", "prompt_logprobs" })
        fields.refuse(name, "probabilities of tokens are not reported.");
    for (const std::string_view name : { "min_tokens", "ignore_eos", "stop_token_ids" })
        fields.refuse(name, "an answer ends where the model ends it.");
    for (const std::string_view name : { "functions", "function_call" })
        fields.refuse(name, "use \"tools\" and \"tool_choice\".");
    fields.refuse("audio", "this model writes text.");
    fields.refuse("prediction", "predicted outputs are not used.");
    fields.refuse("web_search_options", "there is no web search.");
    fields.refuse("continue_final_message", "an answer always begins a turn of its own.");
    for (const std::string_view name : { "n", "best_of" }) {
        if (const auto count = fields.integer(name, 1, 128); count && *count > 1)
            fields.problem().report(
                unsupported(fields.pathOf(name),
                            std::format("{} is {}; one answer a request is supported.",
                                        fields.pathOf(name), *count)));
    }
}

} // namespace firesteel::app
