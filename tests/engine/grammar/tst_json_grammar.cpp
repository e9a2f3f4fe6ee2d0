// SPDX-License-Identifier: MIT
#include "engine/grammar/json_grammar.h"
#include "tests/engine/grammar/grammar_walk.h"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

using namespace firesteel::engine;
using namespace firesteel::test;

namespace {

void checkAccepts(const GrammarPointer &grammar, const std::vector<std::string> &texts)
{
    for (const std::string &text : texts) {
        CAPTURE(text);
        CHECK(accepts(grammar, text));
    }
}

void checkRefuses(const GrammarPointer &grammar, const std::vector<std::string> &texts)
{
    for (const std::string &text : texts) {
        CAPTURE(text);
        CHECK_FALSE(accepts(grammar, text));
    }
}

} // namespace

TEST_CASE("any JSON object, and nothing else")
{
    const GrammarPointer grammar = jsonObjectGrammar();
    checkAccepts(grammar,
                 { "{}", "{ }", "{\n}", R"({"a":1})", R"({"a": [1, -2.5e+10, "x", null, true]})",
                   "{\n  \"a\": {\n    \"b\": []\n  },\n\t\"c\": false\n}", R"({"": ""})",
                   R"({"a":"\"\\\/\b\f\n\r\t\u00e9"})", R"({"a":"\uD83D\uDE00"})",
                   "{\"a\":\"\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\"}" });
    checkRefuses(grammar,
                 { "",
                   " {}",
                   "{} ",
                   "[]",
                   "1",
                   "{",
                   "{\"a\"}",
                   "{\"a\":}",
                   "{\"a\":1,}",
                   "{,}",
                   "{\"a\" :1}",
                   "{a:1}",
                   "{\"a\":01}",
                   "{\"a\":+1}",
                   "{\"a\":1.}",
                   "{\"a\":.5}",
                   "{\"a\":1e}",
                   "{\"a\":nul}",
                   "{\"a\":'b'}",
                   "{}{}",
                   "{\"a\":1 ,\"b\":2}" });
}

TEST_CASE("strings are well-formed UTF-8, byte by byte")
{
    const GrammarPointer grammar = jsonObjectGrammar();
    const std::string begin = "{\"a\":\"";
    const auto goesOn = [&](const std::string &bytes) {
        return followed(grammar, begin + bytes) == begin.size() + bytes.size();
    };
    for (const char *good :
         { "\x7F", "\xC2\x80", "\xDF\xBF", "\xE0\xA0\x80", "\xED\x9F\xBF", "\xEE\x80\x80",
           "\xEF\xBF\xBF", "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF", "\xE2\x82", "\xF0\x9F" }) {
        CAPTURE(good);
        CHECK(goesOn(good));
    }
    for (const char *bad :
         { "\x80", "\xC0\x80", "\xC1\xBF", "\xE0\x9F\xBF", "\xED\xA0\x80", "\xF0\x8F\xBF\xBF",
           "\xF4\x90\x80\x80", "\xF5", "\xFF", "\xE2\x82\"", "\n", "\x1F", "\\x", "\\uD83D\"",
           "\\uD83D\\n", "\\uD83D\\u0041", "\\uDE00", "\\u12g" }) {
        CAPTURE(bad);
        CHECK_FALSE(goesOn(bad));
    }
    CHECK(accepts(grammar, begin + "\xC2\x80\"}"));
    CHECK_FALSE(accepts(grammar, begin + "\xC2\"}"));
}

TEST_CASE("space between structural elements is bounded")
{
    const GrammarPointer grammar = jsonObjectGrammar();
    CHECK(accepts(grammar, "{\n" + std::string(32, ' ') + "}"));
    CHECK_FALSE(accepts(grammar, "{\n" + std::string(33, ' ') + "}"));
    checkRefuses(grammar, { "{  }", "{\n\n}", "{ \n}", "{\t}", "{\r\n}" });
}

TEST_CASE("objects and arrays nest 64 levels deep")
{
    const GrammarPointer grammar = jsonObjectGrammar();
    const auto nested = [](int levels) {
        std::string text = "{\"a\":";
        for (int i = 1; i < levels; ++i)
            text += '[';
        return text;
    };
    const std::string closed = std::string(63, ']') + "}";
    CHECK(accepts(grammar, nested(64) + closed));
    CHECK(followed(grammar, nested(65)) == nested(64).size());
}

TEST_CASE("random walks through any object are JSON")
{
    GrammarStates states(jsonObjectGrammar());
    std::mt19937 random(3);
    int ended = 0;
    for (int i = 0; i < 300; ++i) {
        const Walk walk = randomWalk(states, random, random() % 200);
        CHECK_FALSE(walk.wasStuck);
        if (!walk.hasEnded)
            continue;
        ++ended;
        const std::string text = walk.text();
        CAPTURE(text);
        const auto value = nlohmann::json::parse(text, nullptr, false);
        CHECK(value.is_object());
    }
    CHECK(ended > 250);
}
