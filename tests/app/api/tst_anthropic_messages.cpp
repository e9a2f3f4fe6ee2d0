// SPDX-License-Identifier: MIT
//
// Requests in Anthropic's format.
#include "app/api/anthropic_messages.h"

#include <doctest/doctest.h>
#include <string>

using namespace firesteel;
using namespace firesteel::app;

namespace {

ApiResult<ApiRequest> parse(const std::string &body, bool counts = false)
{
    const auto json = parseBody(body);
    REQUIRE(json.has_value());
    return parseAnthropicMessages(*json, {}, counts);
}

// Around the smallest request.
ApiResult<ApiRequest> with(const std::string &fields)
{
    return parse(R"({"model":"m","max_tokens":9,"messages":[{"role":"user","content":"Hi"}])"
                 + (fields.empty() ? "" : "," + fields) + "}");
}

ApiRequest accepted(const ApiResult<ApiRequest> &request)
{
    INFO("error: ", request ? "" : request.error().message);
    REQUIRE(request.has_value());
    return *request;
}

void refused(const ApiResult<ApiRequest> &request, const std::string &param)
{
    REQUIRE_FALSE(request.has_value());
    CHECK(request.error().status == 400);
    CHECK(request.error().param == param);
}

} // namespace

TEST_CASE("anthropic: system as text or blocks, caching marks dropped")
{
    const auto request = accepted(with(R"("system":[{"type":"text","text":"Be brief.",
        "cache_control":{"type":"ephemeral"}}],"metadata":{"user_id":"u"})"));
    REQUIRE(request.messages.size() == 2);
    CHECK(request.messages[0].role == engine::Role::System);
    CHECK(request.messages[0].content[0].text == "Be brief.");
    CHECK(accepted(with(R"("system":"Short.")")).messages[0].content[0].text == "Short.");
    CHECK(request.unknownFields == 0);
}

TEST_CASE("anthropic: a turn with calls, and the results that answer them")
{
    const auto request = accepted(parse(R"({"max_tokens":9,"messages":[
        {"role":"user","content":"u"},
        {"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s"},
          {"type":"redacted_thinking","data":"x"},{"type":"text","text":"Let me see."},
          {"type":"tool_use","id":"t1","name":"f","input":{"b":1,"a":"x"}}]},
        {"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"42"},
          {"type":"tool_result","tool_use_id":"t2","is_error":true,
           "content":[{"type":"text","text":"no"}]},
          {"type":"text","text":"Go on."}]}]})"));
    REQUIRE(request.messages.size() == 4);
    const engine::Message &turn = request.messages[1];
    CHECK(turn.reasoning == "hm");
    CHECK(turn.content[0].text == "Let me see.");
    REQUIRE(turn.toolCalls.size() == 1);
    CHECK(turn.toolCalls[0].id == "t1");
    CHECK(turn.toolCalls[0].argumentsJson == R"({"b":1,"a":"x"})");
    const engine::Message &results = request.messages[2];
    CHECK(results.role == engine::Role::Tool);
    REQUIRE(results.toolOutputs.size() == 2);
    CHECK(results.toolOutputs[0].id == "t1");
    CHECK(results.toolOutputs[0].content[0].text == "42");
    CHECK(results.toolOutputs[1].content[0].text == "no");
    CHECK(request.messages[3].role == engine::Role::User);
    CHECK(request.messages[3].content[0].text == "Go on.");
}

TEST_CASE("anthropic: tools become functions, those of Anthropic's servers are skipped")
{
    const std::string tools
        = R"("tools":[{"name":"f","description":"d","input_schema":{"type":"object"}},
        {"type":"web_search_20250305","name":"web_search"}])";
    const auto request = accepted(with(tools));
    REQUIRE(request.tools.size() == 1);
    CHECK(request.tools[0].json
          == R"({"type":"function","function":{"name":"f","description":"d",)"
             R"("parameters":{"type":"object"}}})");
    CHECK(accepted(with(tools + R"(,"tool_choice":{"type":"none"})")).tools.empty());
    CHECK_FALSE(
        accepted(with(tools + R"(,"tool_choice":{"type":"auto","disable_parallel_tool_use":true})"))
            .allowsParallelCalls);
    using Kind = engine::AnswerFormat::Kind;
    CHECK(accepted(with(tools + R"(,"tool_choice":{"type":"any"})")).generation.format.kind
          == Kind::ToolCalls);
    CHECK(accepted(with(tools + R"(,"tool_choice":{"type":"tool","name":"f"})"))
              .generation.format.tools.size()
          == 1);
    refused(with(tools + R"(,"tool_choice":{"type":"tool","name":"h"})"), "tool_choice");
    refused(with(tools + R"(,"tool_choice":{"type":"x"})"), "tool_choice.type");
    refused(with(R"("tools":[{"input_schema":{}}])"), "tools[0].name");
}

TEST_CASE("anthropic: thinking is off unless asked for, a budget is a limit and an effort")
{
    using enum engine::ReasoningEffort;
    CHECK_FALSE(accepted(with("")).prompt.thinking);
    const auto effortOf = [](const std::string &thinking) {
        const auto options = accepted(with(R"("thinking":)" + thinking)).prompt;
        CHECK(options.thinking);
        return options.effort;
    };
    CHECK(effortOf(R"({"type":"enabled","budget_tokens":1024})") == Low);
    CHECK(effortOf(R"({"type":"enabled","budget_tokens":10000})") == High);
    CHECK(effortOf(R"({"type":"enabled","budget_tokens":31999})") == Max);
    CHECK(accepted(with(R"("thinking":{"type":"enabled","budget_tokens":1024})"))
              .generation.thinkingBudget
          == 1024);
    CHECK(effortOf(R"({"type":"adaptive"},"output_config":{"effort":"low"})") == Low);
    CHECK_FALSE(accepted(with(R"("thinking":{"type":"disabled"})")).prompt.thinking);
    refused(with(R"("thinking":{"type":"deep"})"), "thinking.type");
}

TEST_CASE("anthropic: limits, stop sequences, sampling")
{
    const auto request
        = accepted(with(R"("stop_sequences":["a","b"],"temperature":0.5,"top_k":3,"stream":true)"));
    CHECK(request.model == "m");
    CHECK(request.generation.maxTokens == 9);
    CHECK(request.generation.stop == std::vector<std::string> { "a", "b" });
    CHECK(request.generation.sampling.topK == 3);
    CHECK(request.isStream);
    refused(parse(R"({"messages":[{"role":"user","content":"x"}]})"), "max_tokens");
    refused(with(R"("max_tokens":0)"), "max_tokens");
    CHECK(accepted(parse(R"({"messages":[{"role":"user","content":"x"}]})", true)).messages.size()
          == 1); // only counted
}

TEST_CASE("anthropic: what is refused")
{
    refused(parse(R"({"max_tokens":9,"messages":[{"role":"user","content":"u"},
        {"role":"assistant","content":"The answer is"}]})"),
            "messages"); // an answer begun for the model
    refused(parse(R"({"max_tokens":9,"messages":[{"role":"user","content":[{"type":"image",
        "source":{"type":"base64","media_type":"image/png","data":"AAAA"}}]}]})"),
            "messages[0].content[0]");
    refused(
        parse(R"({"max_tokens":9,"messages":[{"role":"user","content":[{"type":"document"}]}]})"),
        "messages[0].content[0].type");
    refused(parse(R"({"max_tokens":9,"messages":[{"role":"robot","content":"x"}]})"),
            "messages[0].role");
    refused(with(R"("mcp_servers":[{"url":"x"}])"), "mcp_servers");
    refused(with(R"("output_format":{"type":"json_schema"})"), "output_format.schema");
}
