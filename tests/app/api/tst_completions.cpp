// SPDX-License-Identifier: MIT
//
// Fields of text completions.
#include "app/api/openai_completions.h"

#include <doctest/doctest.h>
#include <string>

using namespace firesteel;
using namespace firesteel::app;

namespace {

ApiResult<ApiRequest> parse(const std::string &body)
{
    const auto json = parseBody(body);
    REQUIRE(json.has_value());
    return parseTextCompletion(*json, {});
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

TEST_CASE("completions: a prompt is text or token ids, one or several, without the template")
{
    const auto one = parse(R"({"prompt":"Once"})");
    REQUIRE(one.has_value());
    CHECK_FALSE(one->prompt.applyTemplate);
    REQUIRE(one->messages.size() == 1);
    CHECK(one->messages[0].content[0].text == "Once");
    CHECK(one->generation.maxTokens == 16); // OpenAI's default
    CHECK(parse(R"({"prompt":["a","b","c"]})")->messages.size() == 3);
    const auto tokens = parse(R"({"prompt":[1,2,3]})");
    REQUIRE(tokens.has_value());
    REQUIRE(tokens->tokenPrompts.size() == 1);
    CHECK(tokens->tokenPrompts[0] == std::vector<std::int32_t> { 1, 2, 3 });
    CHECK(parse(R"({"prompt":[[1],[2,3]]})")->tokenPrompts.size() == 2);
    CHECK_FALSE(parse(R"({"prompt":"x","max_tokens":-1})")->generation.maxTokens);
    for (const char *prompt : { "[]", "[1,\"a\"]", "[\"a\",1]", "[-1]", "[1.5]", "[99999999999]",
                                "7", "{}", "[[]]", "null" })
        refused(R"({"prompt":)" + std::string(prompt) + "}", "prompt");
    refused("{}", "prompt");
}

TEST_CASE("completions: what is not implemented is refused by name")
{
    refused(R"({"prompt":"x","echo":true})", "echo");
    refused(R"({"prompt":"x","thinking_budget":5})", "thinking_budget");
    refused(R"({"prompt":"x","suffix":"end"})", "suffix");
    refused(R"({"prompt":"x","logprobs":5})", "logprobs");
    refused(R"({"prompt":"x","best_of":2})", "best_of");
    refused(R"({"prompt":"x","n":3})", "n");
    CHECK(parse(R"({"prompt":"x","echo":false,"suffix":null,"user":"u"})")->unknownFields == 0);
}
