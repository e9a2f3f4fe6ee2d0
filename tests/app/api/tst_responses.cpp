// SPDX-License-Identifier: MIT
//
// Requests of OpenAI's Responses API.
#include "app/api/openai_responses.h"

#include <doctest/doctest.h>
#include <string>

using namespace firesteel;
using namespace firesteel::app;

namespace {

ApiResult<ApiRequest> parse(const std::string &body)
{
    const auto json = parseBody(body);
    REQUIRE(json.has_value());
    return parseResponses(*json, {});
}

ApiRequest accepted(const std::string &body)
{
    const auto request = parse(body);
    INFO("error: ", request ? "" : request.error().message);
    REQUIRE(request.has_value());
    return *request;
}

void refused(const std::string &body, const std::string &param)
{
    INFO("body: ", body);
    const auto request = parse(body);
    REQUIRE_FALSE(request.has_value());
    CHECK(request.error().status == 400);
    CHECK(request.error().param == param);
}

} // namespace

TEST_CASE("responses: input as text, instructions as the system's")
{
    const auto request = accepted(
        R"({"input":"Hi","instructions":"Be brief.","max_output_tokens":7,"store":false,
            "include":["reasoning.encrypted_content"],"truncation":"disabled"})");
    REQUIRE(request.messages.size() == 2);
    CHECK(request.messages[0].role == engine::Role::System);
    CHECK(request.messages[1].content[0].text == "Hi");
    CHECK(request.generation.maxTokens == 7);
    CHECK(request.unknownFields == 0);
}

TEST_CASE("responses: items of one turn become one message")
{
    const auto request = accepted(R"({"input":[
        {"role":"developer","content":[{"type":"input_text","text":"d"}]},
        {"type":"message","role":"user","content":"u"},
        {"type":"reasoning","summary":[],"content":[{"type":"reasoning_text","text":"hm"}]},
        {"type":"message","role":"assistant",
          "content":[{"type":"output_text","text":"Let me see."}]},
        {"type":"function_call","call_id":"c1","name":"f","arguments":"{\"a\":1}"},
        {"type":"function_call","call_id":"c2","name":"g","arguments":""},
        {"type":"function_call_output","call_id":"c1","output":"one"},
        {"type":"function_call_output","call_id":"c2",
          "output":[{"type":"input_text","text":"two"}]},
        {"type":"reasoning","summary":[{"type":"summary_text","text":"again"}]},
        {"type":"message","role":"assistant","content":"Done."},
        {"type":"message","role":"user","content":"Thanks."}]})");
    REQUIRE(request.messages.size() == 7);
    CHECK(request.messages[0].role == engine::Role::System);
    const engine::Message &turn = request.messages[2];
    CHECK(turn.role == engine::Role::Assistant);
    CHECK(turn.reasoning == "hm");
    CHECK(turn.content[0].text == "Let me see.");
    REQUIRE(turn.toolCalls.size() == 2);
    CHECK(turn.toolCalls[0].id == "c1");
    CHECK(turn.toolCalls[1].argumentsJson == "{}");
    CHECK(request.messages[3].toolCallId == "c1");
    CHECK(request.messages[4].content[0].text == "two");
    CHECK(request.messages[5].reasoning == "again");
    CHECK(request.messages[5].content[0].text == "Done.");
    CHECK(request.messages[6].role == engine::Role::User);
}

TEST_CASE("responses: tools of other kinds are skipped")
{
    const auto request = accepted(R"({"input":"x","tools":[
        {"type":"function","name":"f","description":"d","strict":true,
          "parameters":{"type":"object"}},
        {"type":"local_shell"},{"type":"web_search"}],"parallel_tool_calls":false})");
    REQUIRE(request.tools.size() == 1);
    CHECK(request.tools[0].json
          == R"({"type":"function","function":{"name":"f","description":"d",)"
             R"("parameters":{"type":"object"}}})");
    CHECK_FALSE(request.allowsParallelCalls);
    refused(R"({"input":"x","tools":[{"type":"function"}]})", "tools[0].name");
    refused(R"({"input":"x","tool_choice":"required"})", "tool_choice"); // of which tools
}

TEST_CASE("responses: reasoning effort")
{
    CHECK(accepted(R"({"input":"x","reasoning":{"effort":"low","summary":"auto"}})").prompt.effort
          == engine::ReasoningEffort::Low);
    CHECK_FALSE(accepted(R"({"input":"x","reasoning":{"effort":"none"}})").prompt.thinking);
}

TEST_CASE("responses: what is refused")
{
    refused(R"({"input":"x","previous_response_id":"r"})", "previous_response_id");
    refused(R"({"input":"x","conversation":{"id":"c"}})", "conversation");
    refused(R"({"input":"x","background":true})", "background");
    refused(R"({"input":"x","prompt":{"id":"p"}})", "prompt");
    refused(R"({"input":"x","top_logprobs":1})", "top_logprobs");
    refused(R"({"input":"x","text":{"format":{"type":"json_schema"}}})", "text.format.schema");
    refused(R"({"input":"x","text":{"format":{"type":"yaml"}}})", "text.format.type");
    refused(R"({"input":[]})", "input");
    refused(R"({})", "input");
    refused(R"({"input":[{"type":"computer_call"}]})", "input[0].type");
    refused(R"({"input":[{"type":"message","role":"robot","content":"x"}]})", "input[0].role");
    refused(
        R"({"input":[{"type":"message","role":"user","content":[
              {"type":"input_image","image_url":"data:image/png;base64,AAAA"}]}]})",
        "input[0].content[0]");
}
