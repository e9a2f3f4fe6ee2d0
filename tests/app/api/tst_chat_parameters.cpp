// SPDX-License-Identifier: MIT
//
// Fields of chat completions besides messages: what is honoured, ignored and refused.
#include "app/api/openai_chat.h"

#include <doctest/doctest.h>
#include <format>
#include <string>

using namespace firesteel;
using namespace firesteel::app;
using engine::AnswerFormat;

namespace {

engine::ModelInfo model()
{
    engine::ModelInfo info;
    info.samplingDefaults.temperature = 0.6F;
    info.samplingDefaults.topP = 0.9F;
    return info;
}

// The smallest request with these fields added.
ApiResult<ApiRequest> parse(const std::string &fields)
{
    const std::string body = R"({"messages":[{"role":"user","content":"Hi"}])"
        + (fields.empty() ? "" : "," + fields) + "}";
    const auto json = parseBody(body);
    REQUIRE(json.has_value());
    return parseChatCompletion(*json, model());
}

ApiRequest accepted(const std::string &fields)
{
    const auto request = parse(fields);
    INFO("fields: ", fields, " -> ", request ? "" : request.error().message);
    REQUIRE(request.has_value());
    return *request;
}

void refused(const std::string &fields, const std::string &param, const std::string &code = "")
{
    INFO("fields: ", fields);
    const auto request = parse(fields);
    REQUIRE_FALSE(request.has_value());
    CHECK(request.error().status == 400);
    CHECK(request.error().type == "invalid_request_error");
    CHECK(request.error().param == param);
    CHECK(request.error().code == code);
    CHECK_FALSE(request.error().message.empty());
}

} // namespace

TEST_CASE("chat: what is not given is the model's default")
{
    const ApiRequest request = accepted("");
    CHECK(request.generation.sampling.temperature == 0.6F);
    CHECK(request.generation.sampling.topP == 0.9F);
    CHECK_FALSE(request.generation.maxTokens);
    CHECK_FALSE(request.generation.sampling.seed);
    CHECK_FALSE(request.isStream);
    CHECK_FALSE(request.includesUsage);
    CHECK(request.prompt.thinking);
    CHECK(request.prompt.effort == engine::ReasoningEffort::Max);
    CHECK(request.allowsParallelCalls);
    CHECK(request.unknownFields == 0);
}

TEST_CASE("chat: sampling fields")
{
    const auto sampling
        = accepted(R"("temperature":0,"top_p":0.5,"top_k":40,"min_p":0.05,"presence_penalty":1.5,
                      "frequency_penalty":-1,"repetition_penalty":1.25,"seed":-7)")
              .generation.sampling;
    CHECK(sampling.temperature == 0.0F);
    CHECK(sampling.topP == 0.5F);
    CHECK(sampling.topK == 40);
    CHECK(sampling.minP == 0.05F);
    CHECK(sampling.presencePenalty == 1.5F);
    CHECK(sampling.frequencyPenalty == -1.0F);
    CHECK(sampling.repetitionPenalty == 1.25F);
    CHECK(sampling.seed == static_cast<std::uint64_t>(-7));
    CHECK(accepted(R"("top_k":-1)").generation.sampling.topK == 0);
    CHECK(accepted(R"("temperature":null)").generation.sampling.temperature == 0.6F);
    CHECK(accepted(R"("seed":3.0)").generation.sampling.seed == 3);
    for (const auto &[field, param] : { std::pair { R"("temperature":2.1)", "temperature" },
                                        { R"("temperature":-1)", "temperature" },
                                        { R"("temperature":"warm")", "temperature" },
                                        { R"("top_p":0)", "top_p" },
                                        { R"("top_p":1.5)", "top_p" },
                                        { R"("top_k":-2)", "top_k" },
                                        { R"("top_k":1.5)", "top_k" },
                                        { R"("min_p":1)", "min_p" },
                                        { R"("presence_penalty":3)", "presence_penalty" },
                                        { R"("frequency_penalty":-3)", "frequency_penalty" },
                                        { R"("repetition_penalty":0)", "repetition_penalty" },
                                        { R"("seed":"x")", "seed" } })
        refused(field, param);
}

TEST_CASE("chat: logit_bias")
{
    const auto sampling = accepted(R"("logit_bias":{"5":-100,"7":1.5})").generation.sampling;
    REQUIRE(sampling.logitBias.size() == 2);
    CHECK(sampling.logitBias[0] == std::pair<std::int32_t, float> { 5, -100.0F });
    CHECK(sampling.logitBias[1] == std::pair<std::int32_t, float> { 7, 1.5F });
    refused(R"("logit_bias":{"five":1})", "logit_bias");
    refused(R"("logit_bias":{"5":101})", "logit_bias.5");
    refused(R"("logit_bias":[1])", "logit_bias");
}

TEST_CASE("chat: max_tokens and max_completion_tokens, of which the newer wins")
{
    CHECK(accepted(R"("max_tokens":5)").generation.maxTokens == 5);
    CHECK(accepted(R"("max_completion_tokens":6)").generation.maxTokens == 6);
    CHECK(accepted(R"("max_tokens":5,"max_completion_tokens":6)").generation.maxTokens == 6);
    CHECK_FALSE(accepted(R"("max_tokens":-1)").generation.maxTokens);
    refused(R"("max_tokens":0)", "max_tokens");
    refused(R"("max_tokens":-2)", "max_tokens");
    refused(R"("max_tokens":99999999999999999999)", "max_tokens");
    refused(R"("max_completion_tokens":"many")", "max_completion_tokens");
}

TEST_CASE("chat: stop, a string or several")
{
    CHECK(accepted(R"("stop":"END")").generation.stop == std::vector<std::string> { "END" });
    CHECK(accepted(R"("stop":["a","b"])").generation.stop == std::vector<std::string> { "a", "b" });
    CHECK(accepted(R"("stop":null)").generation.stop.empty());
    refused(R"("stop":"")", "stop");
    refused(R"("stop":["a",3])", "stop");
}

TEST_CASE("chat: stream and stream_options")
{
    CHECK(accepted(R"("stream":true)").isStream);
    CHECK_FALSE(accepted(R"("stream":true)").includesUsage);
    CHECK(accepted(R"("stream":true,"stream_options":{"include_usage":true})").includesUsage);
    refused(R"("stream":1)", "stream");
    refused(R"("stream_options":"usage")", "stream_options");
}

TEST_CASE("chat: thinking, from the weakest field to the strongest")
{
    using enum engine::ReasoningEffort;
    CHECK_FALSE(accepted(R"("reasoning_effort":"none")").prompt.thinking);
    for (const auto &[name, effort] : { std::pair { "minimal", Low },
                                        { "low", Low },
                                        { "medium", High },
                                        { "high", High },
                                        { "xhigh", Max },
                                        { "max", Max } }) {
        const auto options = accepted(std::format(R"("reasoning_effort":"{}")", name)).prompt;
        CHECK(options.effort == effort);
        CHECK(options.thinking);
    }
    CHECK(accepted(R"("reasoning":{"effort":"low"})").prompt.effort == Low);
    CHECK_FALSE(accepted(R"("reasoning":{"enabled":false})").prompt.thinking);
    CHECK_FALSE(accepted(R"("enable_thinking":false)").prompt.thinking);
    CHECK(accepted(R"("chat_template_kwargs":{"clear_thinking":true})").prompt.clearThinking);
    CHECK_FALSE(accepted(R"("template_vars":{"enable_thinking":false})").prompt.thinking);
    // kwargs over the field over the object
    const auto options
        = accepted(R"("reasoning":{"effort":"max"},"reasoning_effort":"high","enable_thinking":true,
                      "chat_template_kwargs":{"enable_thinking":false,"reasoning_effort":"low"})")
              .prompt;
    CHECK_FALSE(options.thinking);
    CHECK(options.effort == Low);
    refused(R"("reasoning_effort":"enormous")", "reasoning_effort");
    refused(R"("chat_template_kwargs":{"enable_thinking":"no"})",
            "chat_template_kwargs.enable_thinking");
}

TEST_CASE("chat: a budget for thinking, by any of its names")
{
    CHECK_FALSE(accepted("").generation.thinkingBudget);
    CHECK(accepted(R"("reasoning":{"max_tokens":100})").generation.thinkingBudget == 100);
    for (const std::string name :
         { "reasoning_budget_tokens", "thinking_budget", "thinking_token_budget" }) {
        CHECK(accepted('"' + name + R"(":7)").generation.thinkingBudget == 7);
        CHECK_FALSE(accepted('"' + name + R"(":-1)").generation.thinkingBudget); // no limit
        refused('"' + name + R"(":0)", name);
        refused('"' + name + R"(":"much")", name);
    }
    CHECK(
        accepted(R"("reasoning":{"max_tokens":100},"thinking_budget":7)").generation.thinkingBudget
        == 7);
}

TEST_CASE("chat: tools and tool_choice")
{
    const std::string tools
        = R"("tools":[{"type":"function","function":{"name":"f","parameters":{"b":1,"a":2}}},
                      {"type":"web_search"}])";
    const auto request = accepted(tools);
    REQUIRE(request.tools.size() == 1); // the other is of no function: skipped
    // Key order is the client's.
    CHECK(request.tools[0].json
          == R"({"type":"function","function":{"name":"f","parameters":{"b":1,"a":2}}})");
    CHECK(accepted(tools + R"(,"tool_choice":"auto")").tools.size() == 1);
    CHECK(accepted(tools + R"(,"tool_choice":"none")").tools.empty());
    CHECK_FALSE(accepted(tools + R"(,"parallel_tool_calls":false)").allowsParallelCalls);
    CHECK(accepted(tools).generation.format.kind == AnswerFormat::Kind::Free);
    refused(tools + R"(,"tool_choice":"maybe")", "tool_choice");
    refused(R"("tools":[{"type":"function"}])", "tools[0].function");
    refused(R"("tools":{})", "tools");
    refused(R"("tools":[1])", "tools[0]");
}

TEST_CASE("chat: a call that is forced")
{
    const std::string tools = R"("tools":[{"type":"function","function":{"name":"f"}},
                                          {"type":"function","function":{"name":"g"}}])";
    const AnswerFormat any = accepted(tools + R"(,"tool_choice":"required")").generation.format;
    CHECK(any.kind == AnswerFormat::Kind::ToolCalls);
    CHECK(any.tools.size() == 2);
    CHECK(any.allowsParallelCalls);
    const AnswerFormat one
        = accepted(tools + R"(,"tool_choice":{"type":"function","function":{"name":"g"}},
                              "parallel_tool_calls":false)")
              .generation.format;
    CHECK(one.kind == AnswerFormat::Kind::ToolCalls);
    REQUIRE(one.tools.size() == 1);
    CHECK(one.tools[0].json == R"({"type":"function","function":{"name":"g"}})");
    CHECK_FALSE(one.allowsParallelCalls);
    // A call outranks a format.
    CHECK(accepted(tools + R"(,"tool_choice":"required","response_format":{"type":"json_object"})")
              .generation.format.kind
          == AnswerFormat::Kind::ToolCalls);
    refused(R"("tool_choice":"required")", "tool_choice");
    refused(tools + R"(,"tool_choice":{"type":"function","function":{"name":"h"}})", "tool_choice");
    refused(tools + R"(,"tool_choice":{"type":"function"})", "tool_choice");
}

TEST_CASE("chat: response_format")
{
    CHECK(accepted(R"("response_format":{"type":"text"})").generation.format.kind
          == AnswerFormat::Kind::Free);
    CHECK(accepted(R"("response_format":{"type":"json_object"})").generation.format.kind
          == AnswerFormat::Kind::JsonObject);
    const AnswerFormat schema = accepted(R"("response_format":{"type":"json_schema","json_schema":
                      {"name":"n","strict":true,"schema":{"required":["b","a"],"type":"object"}}})")
                                    .generation.format;
    CHECK(schema.kind == AnswerFormat::Kind::JsonSchema);
    CHECK(schema.schema == R"({"required":["b","a"],"type":"object"})"); // in the client's order
    CHECK_FALSE(schema.mayCallInstead);
    CHECK(accepted(R"("response_format":{"type":"json_object"},
                      "tools":[{"type":"function","function":{"name":"f"}}])")
              .generation.format.mayCallInstead);
    refused(R"("response_format":{"type":"regex"})", "response_format.type");
    refused(R"("response_format":{"type":"json_schema"})", "response_format.json_schema.schema");
    refused(R"("response_format":{"type":"json_schema","json_schema":{"name":"n","schema":7}})",
            "response_format.json_schema.schema");
    refused(R"("response_format":"json")", "response_format");
}

TEST_CASE("chat: what is not implemented is refused by name, never ignored")
{
    for (const char *field : { "logprobs\":true",
                               "top_logprobs\":2",
                               "prompt_logprobs\":1",
                               "n\":2",
                               "best_of\":2",
                               "min_tokens\":5",
                               "ignore_eos\":true",
                               "stop_token_ids\":[1]",
                               "functions\":[{}]",
                               "function_call\":\"auto\"",
                               "audio\":{\"voice\":\"x\"}",
                               "prediction\":{\"type\":\"content\"}",
                               "web_search_options\":{\"a\":1}",
                               "continue_final_message\":true",
                               "guided_json\":{\"a\":1}",
                               "guided_regex\":\"a\"",
                               "guided_choice\":[\"a\"]",
                               "guided_grammar\":\"root\"",
                               "structured_outputs\":{\"a\":1}",
                               "grammar\":\"root\"",
                               "json_schema\":{\"a\":1}" }) {
        const std::string text(field);
        refused('"' + text, text.substr(0, text.find('"')), "unsupported");
    }
    // Asking for nothing is no request.
    CHECK(accepted(R"("n":1,"logprobs":false,"top_logprobs":0,"functions":[],"ignore_eos":false)")
              .unknownFields
          == 0);
}

TEST_CASE("chat: bookkeeping of other services is ignored, unknown fields are counted")
{
    CHECK(accepted(R"("user":"u","metadata":{"a":1},"store":true,"service_tier":"auto",
                      "prompt_cache_key":"k","safety_identifier":"s","verbosity":"low")")
              .unknownFields
          == 0);
    CHECK(accepted(R"("frobnicate":1,"blur":[2])").unknownFields == 2);
}
