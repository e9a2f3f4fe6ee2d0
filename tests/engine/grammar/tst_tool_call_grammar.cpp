// SPDX-License-Identifier: MIT
#include "engine/grammar/json_schema_check.h"
#include "engine/grammar/json_schema_reader.h"
#include "engine/grammar/tool_call_grammar.h"
#include "engine/text/chat_format.h"
#include "tests/engine/grammar/grammar_walk.h"

#include <algorithm>
#include <array>
#include <doctest/doctest.h>
#include <format>
#include <utility>

using namespace firesteel::engine;
using namespace firesteel::test;

namespace {

constexpr std::array<std::string_view, 6> kTags { "<tool_call>", "</tool_call>", "<arg_key>",
                                                  "</arg_key>",  "<arg_value>",  "</arg_value>" };

// Text with tags spelled out, as symbols.
std::vector<Symbol> symbolsOf(std::string_view text)
{
    std::vector<Symbol> symbols;
    while (!text.empty()) {
        const auto *tag = std::ranges::find_if(
            kTags, [text](std::string_view candidate) { return text.starts_with(candidate); });
        if (tag != kTags.end())
            symbols.push_back(static_cast<Symbol>(kFirstTag + (tag - kTags.begin())));
        else
            symbols.push_back(static_cast<unsigned char>(text.front()));
        text.remove_prefix(tag != kTags.end() ? tag->size() : 1);
    }
    return symbols;
}

bool acceptsCall(const GrammarPointer &grammar, std::string_view text)
{
    GrammarStates states(grammar);
    GrammarStates::State state = states.start();
    for (const Symbol symbol : symbolsOf(text))
        state = states.next(state, symbol);
    return states.mayEnd(state);
}

std::string argument(std::string_view key, std::string_view value)
{
    return std::format("<arg_key>{}</arg_key><arg_value>{}</arg_value>", key, value);
}

std::string called(std::string_view name, std::string_view arguments = "")
{
    return std::format("<tool_call>{}{}</tool_call>", name, arguments);
}

GrammarPointer grammarOf(const std::vector<CallableTool> &tools, bool mayRepeat = false)
{
    const auto grammar = toolCallGrammar(tools, mayRepeat);
    REQUIRE_MESSAGE(grammar.has_value(), grammar.error().message);
    return *grammar;
}

std::string errorOf(const std::vector<CallableTool> &tools)
{
    const auto grammar = toolCallGrammar(tools, false);
    return grammar ? "" : grammar.error().message;
}

const std::string kWeather = R"({"type":"object","properties":{"city":{"type":"string"},)"
                             R"("days":{"type":"integer","minimum":1,"maximum":14},)"
                             R"("unit":{"type":"string","enum":["c","f"]}},"required":["city"]})";

} // namespace

TEST_CASE("calls in the model's format")
{
    const GrammarPointer grammar = grammarOf({ { "weather", kWeather }, { "time", "" } });
    for (const std::string &good :
         { called("weather", argument("city", "Oslo")),
           called("weather", argument("city", "Oslo") + argument("days", "3")),
           called("weather", argument("city", "") + argument("unit", "f")),
           called("weather", argument("city", "<b>\n\"x\" \xE2\x82\xAC & \\u")), called("time") }) {
        CAPTURE(good);
        CHECK(acceptsCall(grammar, good));
    }
    for (const std::string &bad :
         { called("weather"), called("weath", argument("city", "Oslo")), called("other"),
           called("weather", argument("days", "3")),
           called("weather", argument("days", "3") + argument("city", "Oslo")),
           called("weather", argument("city", "Oslo") + argument("days", "0")),
           called("weather", argument("city", "Oslo") + argument("days", "\"3\"")),
           called("weather", argument("city", "Oslo") + argument("unit", "k")),
           called("weather", argument("city", "Oslo") + argument("unit", "\"c\"")),
           called("weather", argument("city", "Oslo") + argument("more", "1")),
           called("weather", argument("city", "\xC3")), called("time", argument("zone", "1")),
           called("time") + called("time"), std::string("time"), std::string() }) {
        CAPTURE(bad);
        CHECK_FALSE(acceptsCall(grammar, bad));
    }
}

TEST_CASE("one call, or one and more")
{
    const GrammarPointer grammar = grammarOf({ { "time", "{}" }, { "now", "{}" } }, true);
    CHECK(acceptsCall(grammar, called("time")));
    CHECK(acceptsCall(grammar, called("time") + called("now") + called("time")));
    CHECK_FALSE(acceptsCall(grammar, ""));
    CHECK_FALSE(acceptsCall(grammar, called("time") + "\n" + called("now")));
}

TEST_CASE("a value is written as the parser will read it")
{
    const auto takes = [](const std::string &schema, const std::string &value) {
        const GrammarPointer grammar = grammarOf(
            { { "f",
                R"({"type":"object","properties":{"v":)" + schema
                    + R"(},"required":["v"],"$defs":{"s":{"type":"string","maxLength":2}}})" } });
        return acceptsCall(grammar, called("f", argument("v", value)));
    };
    CHECK(takes(R"({"type":"string","minLength":2,"maxLength":3})",
                "\xC3\xA9"
                "b"));
    CHECK_FALSE(takes(R"({"type":"string","minLength":2,"maxLength":3})", "a"));
    CHECK(takes(R"({"type":"string","pattern":"^[a\"\\\\]+$"})", "a\"\\"));
    CHECK_FALSE(takes(R"({"type":"string","pattern":"^[a\"\\\\]+$"})",
                      "\\\""
                      "b"));
    CHECK(takes(R"({"type":"string","format":"date"})", "2026-12-01"));
    CHECK(takes(R"({"type":"string","const":"x y"})", "x y"));
    // A parameter that may be null: the word null is null, and no string.
    CHECK(takes(R"({"type":["string","null"],"maxLength":4})", "null"));
    CHECK(takes(R"({"type":["string","null"],"maxLength":4})", "nul"));
    CHECK_FALSE(takes(R"({"type":["string","null"],"pattern":"^n"})", "xull"));
    CHECK(takes(R"({"anyOf":[{"type":"string","maxLength":1},{"type":"null"}]})", "null"));
    CHECK_FALSE(takes(R"({"anyOf":[{"type":"string","maxLength":1},{"type":"null"}]})", "ab"));
    // Everything else is JSON: what may be more than a string, and what the parser cannot see.
    CHECK(takes(R"({"type":["string","integer"]})", "\"5\""));
    CHECK(takes(R"({"type":["string","integer"]})", "5"));
    CHECK_FALSE(takes(R"({"type":["string","integer"]})", "abc"));
    CHECK(takes(R"({"$ref":"#/$defs/s"})", "\"ab\""));
    CHECK_FALSE(takes(R"({"$ref":"#/$defs/s"})", "ab"));
    CHECK(takes(R"({"type":"array","items":{"type":"string"}})", R"(["a", "b"])"));
    CHECK(takes(R"({})", R"({"a": [1]})"));
    CHECK(takes(R"({"type":"boolean"})", "true"));
}

TEST_CASE("arguments that no schema names")
{
    const GrammarPointer open
        = grammarOf({ { "f", R"({"type":"object","additionalProperties":{"type":"integer"}})" } });
    CHECK(acceptsCall(open, called("f")));
    CHECK(acceptsCall(open, called("f", argument("a_1", "5") + argument("b", "6"))));
    CHECK_FALSE(acceptsCall(open, called("f", argument("a", "x"))));
    CHECK_FALSE(acceptsCall(open, called("f", argument(" a", "5"))));
    CHECK_FALSE(acceptsCall(open, called("f", argument("", "5"))));
    const GrammarPointer closed = grammarOf({ { "f", R"({"type":"object"})" } });
    CHECK_FALSE(acceptsCall(closed, called("f", argument("a", "5"))));
    const GrammarPointer named = grammarOf(
        { { "f", R"({"type":"object","properties":{"a":{}},"additionalProperties":true})" } });
    CHECK(acceptsCall(named, called("f", argument("a", "5"))));
    CHECK_FALSE(acceptsCall(named, called("f", argument("b", "5"))));
}

TEST_CASE("parameters with alternatives")
{
    const GrammarPointer grammar = grammarOf(
        { { "find",
            R"({"type":"object","properties":{"id":{"type":"integer"},"name":{"type":"string"}},)"
            R"("anyOf":[{"required":["id"]},{"required":["name"]}]})" } });
    CHECK(acceptsCall(grammar, called("find", argument("id", "5"))));
    CHECK(acceptsCall(grammar, called("find", argument("name", "x"))));
    CHECK_FALSE(acceptsCall(grammar, called("find")));
}

TEST_CASE("tools that cannot be called are refused")
{
    CHECK(errorOf({}) == "a call needs 1 to 512 tools to choose from");
    CHECK(errorOf({ { "", "{}" } }) == "tool '': a name is a word without space and '<'");
    CHECK(errorOf({ { "a b", "{}" } }) == "tool 'a b': a name is a word without space and '<'");
    CHECK(errorOf({ { "a", "{}" }, { "a", "{}" } }) == "tool 'a': two tools of this name");
    CHECK(errorOf({ { "a", "{" } }) == "tool 'a': not JSON, at byte 2");
    CHECK(errorOf({ { "a", R"({"properties":{"x":{"not":{}}}})" } })
          == "tool 'a': /properties/x: 'not' is not supported");
    CHECK(errorOf({ { "a", R"({"properties":{" x":{}}})" } })
          == "tool 'a': a parameter's name ' x' is empty or has space around");
    CHECK(errorOf({ { "a", R"({"type":"string"})" } })
          == "the tools' parameters: no text satisfies it");
    CHECK(errorOf({ { "a", R"({"const":{}})" } })
          == "tool 'a': 'enum' and 'const' of all arguments together are not supported");
}

TEST_CASE("random calls satisfy their schemas as the parser reads them")
{
    const std::vector<CallableTool> tools {
        { "weather", kWeather },
        { "free", R"({"additionalProperties":{"type":["string","number"]}})" },
        { "mixed",
          R"({"type":"object","properties":{"s":{"type":["string","null"],"maxLength":5},)"
          R"("p":{"type":"string","pattern":"^[a-z]+$"},"n":{"type":"number","minimum":0,)"
          R"("maximum":1},"o":{"type":"object","properties":{"x":{"type":"boolean"}},)"
          R"("required":["x"]},"l":{"type":"array","items":{"type":"string"},"maxItems":3}},)"
          R"("required":["p","n","o"]})" },
    };
    std::vector<Tool> asGiven;
    std::vector<JsonSchemas> schemas;
    for (const CallableTool &tool : tools) {
        asGiven.push_back(
            { std::format(R"({{"name":"{}","parameters":{}}})", tool.name, tool.parameters) });
        schemas.push_back(*readJsonSchema(tool.parameters, "tool"));
    }
    const auto types = toolParameterTypes(asGiven).value();
    GrammarStates states(grammarOf(tools));
    std::mt19937 random(5);
    int ended = 0;
    for (int i = 0; i < 400; ++i) {
        const Walk walk = randomWalk(states, random, random() % 100);
        CHECK_FALSE(walk.wasStuck);
        if (!walk.hasEnded)
            continue;
        ++ended;
        std::vector<std::string> parts { "" }; // cut at tags
        for (const Symbol symbol : walk.symbols) {
            if (symbol >= kFirstTag)
                parts.emplace_back();
            else
                parts.back() += static_cast<char>(symbol);
        }
        const std::string &name = parts[1];
        PromptJson arguments { PromptJson::Kind::Object, "", {}, {} };
        for (std::size_t part = 2; part + 3 < parts.size(); part += 4) {
            const std::string &key = parts[part];
            const std::string &text = parts[part + 2];
            const auto type = types.at(name).find(key);
            const std::string readAs = type == types.at(name).end() ? "" : type->second;
            const PromptJson string { PromptJson::Kind::String, text, {}, {} };
            const bool isString = readAs == "string" || (readAs == "string|null" && text != "null");
            const auto json = parsePromptJson(text, "value");
            CHECK((isString || json.has_value()));
            arguments.keys.push_back(key);
            arguments.items.push_back(isString ? string : json.value_or(string));
        }
        const auto tool = std::ranges::find(tools, name, &CallableTool::name);
        REQUIRE(tool != tools.end());
        const std::string written = dumpPromptJson(arguments);
        CAPTURE(name);
        CAPTURE(written);
        CHECK(
            allowsJson(schemas[static_cast<std::size_t>(tool - tools.begin())], { 0 }, arguments));
    }
    CHECK(ended > 350);
}
