// SPDX-License-Identifier: MIT
//
// Messages of chat completions: roles, content, calls, results, images.
#include "app/api/message_content.h"
#include "app/api/openai_chat.h"

#include <doctest/doctest.h>
#include <string>

using namespace firesteel;
using namespace firesteel::app;

namespace {

ApiResult<ApiRequest> parse(const std::string &messages)
{
    const auto json = parseBody(R"({"messages":)" + messages + "}");
    REQUIRE(json.has_value());
    return parseChatCompletion(*json, {});
}

std::vector<engine::Message> accepted(const std::string &messages)
{
    const auto request = parse(messages);
    INFO("messages: ", messages, " -> ", request ? "" : request.error().message);
    REQUIRE(request.has_value());
    return request->messages;
}

void refused(const std::string &messages, const std::string &param, const std::string &code = "")
{
    INFO("messages: ", messages);
    const auto request = parse(messages);
    REQUIRE_FALSE(request.has_value());
    CHECK(request.error().status == 400);
    CHECK(request.error().param == param);
    CHECK(request.error().code == code);
    CHECK(request.error().message.contains(param));
}

std::string textOf(const engine::Message &message)
{
    std::string text;
    for (const engine::ContentPart &part : message.content)
        text += part.text;
    return text;
}

} // namespace

TEST_CASE("messages: roles, with developer as system")
{
    const auto messages = accepted(R"([{"role":"system","content":"s"},
        {"role":"developer","content":"d"},{"role":"user","content":"u","name":"Ann"},
        {"role":"assistant","content":"a"},{"role":"tool","content":"t","tool_call_id":"c1"}])");
    REQUIRE(messages.size() == 5);
    CHECK(messages[0].role == engine::Role::System);
    CHECK(messages[1].role == engine::Role::System);
    CHECK(messages[2].role == engine::Role::User);
    CHECK(messages[3].role == engine::Role::Assistant);
    CHECK(messages[4].role == engine::Role::Tool);
    CHECK(messages[4].toolCallId == "c1");
    CHECK(textOf(messages[2]) == "u");
    refused(R"([{"role":"function","content":"x"}])", "messages[0].role");
    refused(R"([{"content":"x"}])", "messages[0].role");
    refused(R"([{"role":5,"content":"x"}])", "messages[0].role");
}

TEST_CASE("messages: content as parts")
{
    const auto messages = accepted(
        R"([{"role":"user","content":[{"type":"text","text":"one"},
              {"type":"input_text","text":" two"}]}])");
    CHECK(textOf(messages[0]) == "one two");
    refused(R"([{"role":"user","content":[{"type":"video"}]}])", "messages[0].content[0].type");
    refused(R"([{"role":"user","content":[{"type":"text"}]}])", "messages[0].content[0].text");
    refused(R"([{"role":"user","content":7}])", "messages[0].content");
    refused(R"([{"role":"user"}])", "messages[0].content");
    refused(R"([{"role":"user","content":["x"]}])", "messages[0].content[0]");
}

TEST_CASE("messages: an assistant's calls and reasoning")
{
    const auto messages = accepted(R"([{"role":"user","content":"u"},
        {"role":"assistant","content":null,"reasoning_content":"hm",
         "tool_calls":[{"id":"c1","type":"function",
           "function":{"name":"f","arguments":"{\"b\":1,\"a\":2}"}},
                       {"id":"c2","type":"function","function":{"name":"g","arguments":""}}]},
        {"role":"assistant","content":"x","reasoning":"other name"}])");
    CHECK(messages[1].content.empty());
    CHECK(messages[1].reasoning == "hm");
    REQUIRE(messages[1].toolCalls.size() == 2);
    CHECK(messages[1].toolCalls[0].id == "c1");
    CHECK(messages[1].toolCalls[0].name == "f");
    CHECK(messages[1].toolCalls[0].argumentsJson == R"({"b":1,"a":2})");
    CHECK(messages[1].toolCalls[1].argumentsJson == "{}");
    CHECK(messages[2].reasoning == "other name");
    refused(R"([{"role":"assistant","tool_calls":[{"id":"c"}]}])",
            "messages[0].tool_calls[0].function.name");
    refused(R"([{"role":"assistant","content":"x","function_call":{"name":"f"}}])",
            "messages[0].function_call", "unsupported");
}

TEST_CASE("messages: there must be some")
{
    refused("[]", "messages");
    refused("{}", "messages");
    refused("null", "messages");
    refused("[[]]", "messages[0]");
}

TEST_CASE("messages: an image is looked at and refused, since the model has no vision")
{
    const std::string before = R"([{"role":"user","content":[{"type":"image_url","image_url":)";
    const std::string at = "messages[0].content[0]";
    refused(before + R"({"url":"data:image/png;base64,AAAA","detail":"low"}}]}])", at, "no_vision");
    refused(before + R"("data:image/jpeg;base64,AA=="}]}])", at, "no_vision");
    refused(before + R"({"url":"https://example.org/a.png"}}]}])", at);
    refused(before + R"({"url":"http://169.254.169.254/latest"}}]}])", at);
    refused(before + R"({"url":"file:///etc/passwd"}}]}])", at);
    refused(before + R"({"url":"data:image/svg+xml;base64,AAAA"}}]}])", at);
    refused(before + R"({"url":"data:image/png;base64,A"}}]}])", at);
    refused(before + R"({"url":"data:image/png;base64,****"}}]}])", at);
    refused(before + R"({}}]}])", at);
    CHECK(imageUrlProblem("data:image/webp;base64,AAA=").empty());
    CHECK(imageUrlProblem("data:image/webp;base64,").contains("base64"));
    CHECK(imageUrlProblem("https://a/b").contains("not fetched"));
}
