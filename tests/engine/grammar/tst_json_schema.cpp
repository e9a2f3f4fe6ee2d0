// SPDX-License-Identifier: MIT
#include "engine/grammar/json_grammar.h"
#include "tests/engine/grammar/grammar_walk.h"

#include <doctest/doctest.h>
#include <utility>

using namespace firesteel::engine;
using namespace firesteel::test;

namespace {

using Texts = std::vector<std::string>;

void check(const std::string &schema, const Texts &accepted, const Texts &refused)
{
    CAPTURE(schema);
    const Result<GrammarPointer> grammar = jsonSchemaGrammar(schema);
    REQUIRE_MESSAGE(grammar.has_value(), grammar.error().message);
    for (const std::string &text : accepted) {
        CAPTURE(text);
        CHECK(accepts(*grammar, text));
    }
    for (const std::string &text : refused) {
        CAPTURE(text);
        CHECK_FALSE(accepts(*grammar, text));
    }
}

void checkError(const std::string &schema, const std::string &message)
{
    CAPTURE(schema);
    const Result<GrammarPointer> grammar = jsonSchemaGrammar(schema);
    REQUIRE_FALSE(grammar.has_value());
    CHECK(grammar.error().code == ErrorCode::BadRequest);
    CHECK(grammar.error().message == "response schema: " + message);
}

} // namespace

TEST_CASE("schema: type")
{
    check(R"({"type":"null"})", { "null" }, { "0", "nul", "\"null\"" });
    check(R"({"type":"boolean"})", { "true", "false" }, { "1", "True" });
    check(R"({"type":"integer"})", { "0", "-7", "123456789012345678" },
          { "1.5", "1.0", "1e2", "01", "-", "1234567890123456789" });
    check(R"({"type":"number"})", { "0", "-1.25", "1e99", "3E-7", "0.5" },
          { "1.", ".5", "1e100", "+1", "NaN", "1" + std::string(24, '0') });
    check(R"({"type":"string"})", { "\"\"", "\"a\"", R"("\n")" }, { "a", "\"", "'a'" });
    check(R"({"type":"array"})", { "[]", "[1, [\"a\"]]", "[\n 1,\n 2\n]" },
          { "[1,]", "[,]", "{}" });
    check(R"({"type":"object"})", { "{}", R"({"a":{"b":1}})" }, { "[]", R"({"a"})" });
    check(R"({"type":["integer","null"]})", { "1", "null" }, { "1.5", "\"1\"", "nul" });
    check(R"({})", { "1.5", "null", "[{}]", "\"x\"", "{\"a\": []}" }, { "", "x", "1 " });
    check("true", { "1", "{}" }, { "" });
    checkError("false", "no text satisfies it");
    checkError(R"({"type":"any"})", "'type': 'any' is no type of JSON Schema");
}

TEST_CASE("schema: enum and const")
{
    check(R"({"enum":["a","b\"",1,2.50,null,[1,"x"],{"k":true}]})",
          { "\"a\"", R"("b\"")", "1", "2.5", "null", R"([1, "x"])", R"({"k": true})" },
          { "\"c\"", "2", "[1,\"y\"]", "{}" });
    check(R"({"const":{"a":[1]}})", { R"({"a": [1]})" }, { "{}", R"({"a": [2]})" });
    check(R"({"type":"string","enum":["a",1,"abc"],"minLength":2})", { "\"abc\"" },
          { "\"a\"", "1" });
    check(R"({"enum":[1,1.5,100,-0],"allOf":[{"enum":[1.0,1e2,1.50,0]}]})",
          { "1", "1.5", "100", "0" }, { "2" });
    check(R"({"enum":[1,2,3],"const":2})", { "2" }, { "1", "3" });
    checkError(R"({"enum":[1],"type":"string"})", "no text satisfies it");
    checkError(R"({"enum":3})", "'enum': expected an array");
}

TEST_CASE("schema: properties, required and additionalProperties")
{
    const std::string two
        = R"("type":"object","properties":{"a":{"type":"integer"},"b":{"type":"null"}})";
    check("{" + two + "}", { "{}", R"({"a":1})", R"({"a": 1, "b": null})", R"({"b":null})" },
          { R"({"b":null,"a":1})", R"({"a":1,"a":2})", R"({"c":1})", R"({"a":1,})", R"({,"a":1})",
            R"({"a":null})" });
    check("{" + two + R"(,"required":["b"]})", { R"({"b":null})", R"({"a":1,"b":null})" },
          { "{}", R"({"a":1})" });
    check("{" + two + R"(,"additionalProperties":false})", { "{}", R"({"a":1})" },
          { R"({"c":1})" });
    check("{" + two + R"(,"additionalProperties":{"type":"string"}})",
          { R"({"c":"x"})", R"({"a":1,"aa":"x","":""})", R"({"b":null,"é":"x"})" },
          { R"({"c":1})", R"({"b":"x"})", R"({"\u0061":"x"})", R"({"c":"x","a":1})",
            R"({"a":1,"b":"x"})", R"({"c":"x",})" });
    check(R"({"type":"object","additionalProperties":{"type":"integer"}})",
          { "{}", R"({"x":1})", R"({"x":1,"y":2})" }, { R"({"x":"1"})", R"({"x\n":1})" });
    check(R"({"type":"object","required":["id"],"additionalProperties":{"type":"integer"}})",
          { R"({"id":1})", R"({"id":1,"x":2})" }, { "{}", R"({"x":2})", R"({"id":"1"})" });
    check(R"({"type":"object","properties":{"a":false,"b":true},"additionalProperties":true})",
          { R"({"b":1})", R"({"c":1})" }, { R"({"a":1})" });
    check(R"({"type":"object","properties":{"q\"\n":{"const":1}},"required":["q\"\n"]})",
          { R"({"q\"\n":1})" }, { "{}" });
    checkError(R"({"type":"object","required":["a"],"additionalProperties":false})",
               "no text satisfies it");
    checkError(R"({"properties":[]})", "'properties': expected an object");
    checkError(R"({"properties":{"a":{"required":true}}})",
               "/properties/a: 'required': expected an array of strings");
}

TEST_CASE("schema: items, prefixItems, minItems and maxItems")
{
    check(R"({"type":"array","items":{"type":"integer"}})", { "[]", "[1]", "[1,2, 3]" },
          { "[null]", "[1,\"a\"]", "[1 ,2]" });
    check(R"({"type":"array","items":{"type":"integer"},"minItems":2,"maxItems":3})",
          { "[1,2]", "[1,2,3]" }, { "[]", "[1]", "[1,2,3,4]" });
    check(R"({"type":"array","items":{"type":"integer"},"minItems":2})", { "[1,2]", "[1,2,3,4,5]" },
          { "[1]" });
    check(R"({"type":"array","prefixItems":[{"type":"integer"},{"type":"null"}],)"
          R"("items":{"type":"string"}})",
          { "[]", "[1]", "[1,null]", R"([1,null,"a","b"])" }, { "[null]", "[1,2]", "[1,null,2]" });
    check(R"({"type":"array","prefixItems":[{"type":"integer"}],"items":false})", { "[]", "[1]" },
          { "[1,1]" });
    check(R"({"type":"array","maxItems":0})", { "[]", "[ ]" }, { "[1]" });
    checkError(R"({"type":"array","items":false,"minItems":1})", "no text satisfies it");
    checkError(R"({"type":"array","minItems":2,"maxItems":1})", "no text satisfies it");
    checkError(R"({"items":[{}]})", "/items: a schema is an object, true or false");
    checkError(R"({"minItems":1000000000})", "'minItems' above 4096 is not supported");
    checkError(R"({"minItems":-1})", "'minItems': expected a whole number from 0 on");
}

TEST_CASE("schema: minLength and maxLength count code points")
{
    check(R"({"type":"string","minLength":2,"maxLength":3})",
          { "\"ab\"", "\"\xC3\xA9\xF0\x9F\x98\x80\"", R"("\n\uD83D\uDE00")", "\"abc\"" },
          { "\"a\"", "\"abcd\"", "\"\xF0\x9F\x98\x80\"", R"("\uD83D\uDE00")" });
    check(R"({"type":"string","maxLength":0})", { "\"\"" }, { "\"a\"" });
    check(R"({"type":"string","minLength":1,"maxLength":100000000})",
          { "\"" + std::string(8192, 'x') + "\"" }, { "\"" + std::string(8193, 'x') + "\"" });
    checkError(R"({"type":"string","minLength":8193})", "'minLength' above 8192 is not supported");
    checkError(R"({"type":"string","minLength":3,"maxLength":2})", "no text satisfies it");
}

TEST_CASE("schema: pattern")
{
    const auto quoted = [](const Texts &texts) {
        Texts json;
        for (const std::string &text : texts)
            json.push_back("\"" + text + "\"");
        return json;
    };
    const auto pattern
        = [&](const std::string &regex, const Texts &accepted, const Texts &refused) {
              std::string escaped;
              for (const char c : regex)
                  escaped += c == '\\' ? "\\\\" : std::string(1, c);
              check(R"({"type":"string","pattern":")" + escaped + "\"}", quoted(accepted),
                    quoted(refused));
          };
    pattern("^ab$", { "ab" }, { "", "a", "abc", "xab" });
    pattern("b",
            { "b", "abc",
              "\xC3\xA9"
              "b" },
            { "", "ac" });
    pattern("^a|b$", { "a", "axx", "xxb" }, { "", "xa", "bx" });
    pattern("^(?:a|bc){2,3}$", { "aa", "bca", "bcbcbc" }, { "a", "aaaa", "bcb" });
    pattern("^a*?b+c?$", { "b", "aab", "bbc" }, { "a", "ac", "bcc" });
    pattern("^[a-cx-]+$", { "a-x", "cab" }, { "", "d", "y" });
    pattern("^[^a-c]$", { "d", "\xE2\x82\xAC", R"(\")", R"(\\)", R"(\n)" }, { "a", "", "dd" });
    pattern("^\\d\\w\\s$", { "1a ", R"(9_\t)" }, { "aa ", "1- ", "1aa" });
    pattern("^\\D\\W\\S$", { "a-a" }, { "1-a", "aaa", "a- " });
    pattern("^.$", { "x", "\xF0\x9F\x98\x80" }, { "", R"(\n)", "xx" });
    pattern("^\\u00e9\\x41\\u{1F600}\\.\\/$",
            { "\xC3\xA9"
              "A\xF0\x9F\x98\x80./" },
            { "eA" });
    pattern("^\\uD83D\\uDE00$", { "\xF0\x9F\x98\x80" }, { "" });
    pattern("^(?<year>\\d{4})$", { "2026" }, { "202" });
    pattern("$^", { "" }, { "a" });
    checkError(R"({"type":"string","pattern":"a$b"})", "no text satisfies it");
}

TEST_CASE("schema: what a pattern must not hold is refused by name")
{
    const auto error = [](const std::string &regex, const std::string &why) {
        checkError(R"({"properties":{"p":{"pattern":")" + regex + R"("}}})",
                   "/properties/p: 'pattern' '" + why);
    };
    error("(?=a)b", "(?=a)b': a lookahead is not supported, at character 3");
    error("(?<!a)b", "(?<!a)b': a lookbehind is not supported, at character 4");
    error("(a)\\\\1", "(a)\\1': a reference backwards is not supported, at character 4");
    error("\\\\bword", "\\bword': a word boundary is not supported, at character 1");
    error("\\\\p{L}", "\\p{L}': a Unicode property is not supported, at character 1");
    error("a{2", "a{2': a '{' that begins no quantifier at character 3");
    error("a{3,2}", "a{3,2}': a quantifier whose maximum is below its minimum at character 6");
    error("*a", "*a': a quantifier with nothing before it at character 0");
    error("(a", "(a': a group that does not end at character 2");
    error("a)", "a)': ')' without '(' at character 1");
    error("[a", "[a': a character class that does not end at character 2");
    error("[b-a]", "[b-a]': a range that has no order in a character class, at character 4");
    error("a{9999}", "a{9999}': a count above 2000 at character 6");
    error("(a|b)*a(a|b){40}", "(a|b)*a(a|b){40}': its automaton is too large");
}

TEST_CASE("schema: pattern, format and lengths hold together")
{
    check(R"({"type":"string","pattern":"^[ab]*$","minLength":2,"maxLength":3})",
          { "\"ab\"", "\"bbb\"" }, { "\"a\"", "\"abab\"", "\"ac\"" });
    check(R"({"type":"string","allOf":[{"pattern":"^a"},{"pattern":"b$"}],"minLength":3})",
          { "\"aab\"", "\"a b\"" }, { "\"ab\"", "\"aba\"" });
    check(R"({"type":"string","pattern":"^a*$","maxLength":1000000})",
          { "\"" + std::string(4000, 'a') + "\"" }, { "\"b\"" });
}

TEST_CASE("schema: format")
{
    const auto format = [](const std::string &name, const Texts &accepted, const Texts &refused) {
        Texts good;
        Texts bad;
        for (const std::string &text : accepted)
            good.push_back("\"" + text + "\"");
        for (const std::string &text : refused)
            bad.push_back("\"" + text + "\"");
        check(R"({"type":"string","format":")" + name + "\"}", good, bad);
    };
    format("date", { "2024-02-29", "2026-12-01", "2000-02-29", "1999-06-30" },
           { "2023-02-29", "1900-02-29", "2026-13-01", "2026-04-31", "2026-1-1", "20261-01-01" });
    format("time", { "23:59:59Z", "08:30:06.283185+01:00" },
           { "24:00:00Z", "12:00:60Z", "12:00:00", "12:00Z" });
    format("date-time", { "2026-12-01T10:00:00Z", "2026-12-01T10:00:00.5-08:00" },
           { "2026-12-01", "2026-12-01 10:00:00Z", "2026-02-30T10:00:00Z" });
    format("uuid", { "2EB8AA08-aa98-11ea-b4aa-73b441d16380" },
           { "2eb8aa08aa9811eab4aa73b441d16380", "2eb8aa08-aa98-11ea-b4aa-73b441d1638" });
    format("email", { "joe.bloggs@example.com", "a+b@x.y" },
           { "2962", "@x.y", ".a@x.y", "a..b@x.y", "a@-x.y", "a@x" });
    format("hostname", { "www.example.com", "localhost", "a" + std::string(62, 'b') },
           { "-a.com", "a-.com", "a_b", "", "a." + std::string(64, 'b') });
    format("ipv4", { "192.168.0.1", "255.255.255.255", "0.0.0.0" },
           { "256.0.0.1", "01.2.3.4", "1.2.3", "1.2.3.4.5" });
    format("ipv6", { "2001:db8:0:0:0:0:0:1" }, { "::1", "1:2:3:4:5:6:7", "12345:2:3:4:5:6:7:8" });
    format("uri", { "https://example.com/a/b?c=d%20e#f", "http://a.bc:8080" },
           { "example.com", "ftp://a.bc", "http://a.bc/ x", "http://a.bc/%zz" });
    check(R"({"type":"integer","format":"int32"})", { "5" }, { "\"5\"" });
    checkError(R"({"type":"string","format":"duration"})", "'format' 'duration' is not supported");
}

TEST_CASE("schema: bounds of integers")
{
    for (const auto &[min, max] :
         { std::pair(-12, 7), { 0, 0 }, { 5, 123 }, { 99, 101 }, { -250, -31 }, { 1, 999 } }) {
        const std::string schema = R"({"type":"integer","minimum":)" + std::to_string(min)
            + R"(,"maximum":)" + std::to_string(max) + "}";
        CAPTURE(schema);
        const Result<GrammarPointer> grammar = jsonSchemaGrammar(schema);
        REQUIRE(grammar.has_value());
        for (int value = -1100; value <= 1100; ++value) {
            CAPTURE(value);
            CHECK(accepts(*grammar, std::to_string(value)) == (value >= min && value <= max));
        }
    }
    check(R"({"type":"integer","exclusiveMinimum":1,"exclusiveMaximum":4})", { "2", "3" },
          { "1", "4", "2.5", "-2", "02" });
    check(R"({"type":"integer","minimum":1.5,"maximum":3.5})", { "2", "3" }, { "1", "4" });
    check(R"({"type":"integer","minimum":0})", { "0", "999999999999999999" }, { "-1", "-0" });
    check(R"({"type":"integer","maximum":-1e3})", { "-1000", "-99999" }, { "-999", "0", "1" });
    check(R"({"minimum":2})", { "\"a\"", "2", "null" }, { "1" });
    checkError(R"({"type":"integer","minimum":3,"maximum":2})", "no text satisfies it");
    checkError(R"({"type":"integer","exclusiveMinimum":3,"exclusiveMaximum":4})",
               "no text satisfies it");
    checkError(R"({"minimum":"3"})", "'minimum': expected a number");
    checkError(R"({"minimum":3,"exclusiveMinimum":true})", "'exclusiveMinimum': expected a number");
}

TEST_CASE("schema: bounds of numbers")
{
    check(R"({"type":"number","minimum":0,"maximum":1})",
          { "0", "1", "0.5", "0.000001", "1.0", "0.0", "0.999999", "1.000" },
          { "-0.5", "1.1", "1.000001", "2", "0.0000001", "-0", "5e-1" });
    check(R"({"type":"number","exclusiveMinimum":0,"exclusiveMaximum":1})",
          { "0.1", "0.000001", "0.99" }, { "0", "1", "0.0", "0.000000", "1.0" });
    check(R"({"type":"number","minimum":-12.5,"maximum":-0.25})",
          { "-12.5", "-12.4", "-12.50", "-0.25", "-1", "-12", "-0.3" },
          { "-12.51", "-13", "-0.24", "0", "-0", "1" });
    check(R"({"type":"number","minimum":2.75,"maximum":2.8})", { "2.75", "2.76", "2.8", "2.80" },
          { "2.7", "2.81", "2", "3" });
    check(R"({"type":"number","minimum":0.01})", { "0.01", "1", "0.1", "123456789.25" },
          { "0.001", "0", "-1", "0.00" });
    check(R"({"type":"number","maximum":1e-3,"minimum":1e-6})", { "0.001", "0.000001", "0.0005" },
          { "0.0011", "0", "1" });
    check(R"({"type":"number","minimum":-1})", { "-1", "-0.5", "-1.0", "0.5", "7" },
          { "-1.1", "-2" });
}

TEST_CASE("schema: anyOf, oneOf and allOf")
{
    check(R"({"anyOf":[{"type":"integer"},{"type":"string","maxLength":1}]})", { "1", "\"a\"" },
          { "\"ab\"", "null" });
    check(R"({"type":"object","properties":{"a":true,"b":true},"additionalProperties":false,)"
          R"("anyOf":[{"required":["a"]},{"required":["b"]}]})",
          { R"({"a":1})", R"({"b":1})", R"({"a":1,"b":2})" }, { "{}" });
    check(R"({"oneOf":[{"type":"null"},{"type":"array"}]})", { "null", "[]" }, { "1" });
    check(R"({"oneOf":[{"const":"a"},{"const":"b"}]})", { "\"a\"", "\"b\"" }, { "\"c\"" });
    check(R"({"oneOf":[)"
          R"({"type":"object","properties":{"k":{"const":1},"x":{"type":"null"}},)"
          R"("required":["k","x"]},)"
          R"({"type":"object","properties":{"k":{"enum":[2,3]}},"required":["k"]}]})",
          { R"({"k":1,"x":null})", R"({"k":2})" }, { R"({"k":1})", "{}" });
    check(
        R"({"oneOf":[)"
        R"({"type":"object","properties":{"a":{}},"required":["a"],"additionalProperties":false},)"
        R"({"type":"object","properties":{"b":{}},"required":["b"],)"
        R"("additionalProperties":false}]})",
        { R"({"a":1})", R"({"b":1})" }, { R"({"a":1,"b":1})" });
    checkError(R"({"oneOf":[{"type":"integer"},{"type":"number"}]})",
               "'oneOf' is supported where no value can satisfy two of its schemas; 0 and 1 have "
               "no different types and no required property with different values");
    check(R"({"allOf":[{"type":"integer","minimum":3},{"maximum":5}],"minimum":4})", { "4", "5" },
          { "3", "6" });
    check(R"({"allOf":[{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"]},)"
          R"({"type":"object","properties":{"a":{"minimum":5},"b":{"type":"null"}}}]})",
          { R"({"a":5})", R"({"a":7,"b":null})" }, { R"({"a":4})", "{}", R"({"b":null})" });
    check(R"({"allOf":[{"anyOf":[{"type":"integer"},{"type":"null"}]},)"
          R"({"anyOf":[{"type":"null"},{"type":"string"}]}]})",
          { "null" }, { "1", "\"a\"" });
    checkError(R"({"allOf":[{"type":"integer"},{"type":"string"}]})", "no text satisfies it");
    checkError(R"({"anyOf":[]})", "'anyOf': expected an array of schemas");
}

TEST_CASE("schema: $ref")
{
    check(R"({"$ref":"#/$defs/a~1b","$defs":{"a/b":{"type":"integer"}}})", { "1" }, { "null" });
    check(R"({"$ref":"#/definitions/x%20y","definitions":{"x y":{"type":"null"}}})", { "null" },
          { "1" });
    check(R"({"$ref":"#/$defs/n","minimum":3,"$defs":{"n":{"type":"integer","maximum":4}}})",
          { "3", "4" }, { "2", "5" });
    const std::string list = R"({"type":"object","properties":{"v":{"type":"integer"},)"
                             R"("next":{"anyOf":[{"$ref":"#"},{"type":"null"}]}},)"
                             R"("required":["v","next"],"additionalProperties":false})";
    check(list, { R"({"v":1,"next":null})", R"({"v":1,"next":{"v":2,"next":null}})" },
          { R"({"v":1})", R"({"v":1,"next":{}})" });
    checkError(R"({"$ref":"#"})", "refers to itself without a value between");
    checkError(R"({"anyOf":[{"type":"null"},{"$ref":"#/$defs/a"}],)"
               R"("$defs":{"a":{"allOf":[{"$ref":"#"}]}}})",
               "refers to itself without a value between");
    checkError(R"({"type":"object","properties":{"a":{"$ref":"#"}},"required":["a"]})",
               "no text satisfies it");
    checkError(R"({"$ref":"#/$defs/none"})", "'$ref' '#/$defs/none' leads nowhere");
    checkError(R"({"$ref":"https://example.com/s.json"})",
               "'$ref' 'https://example.com/s.json' is not supported, only '#' and '#/...'");
}

TEST_CASE("schema: annotations restrict nothing")
{
    check(R"({"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"x","title":"t",)"
          R"("description":"d","default":1,"examples":[2],"$comment":"c","deprecated":true,)"
          R"("readOnly":true,"writeOnly":true,"nullable":true,"type":"integer",)"
          R"("uniqueItems":false,"minProperties":0,"$defs":{"unused":{"not":{}}}})",
          { "1" }, { "null" });
    check(R"({"type":"object","propertyNames":{"type":"string"},)"
          R"("additionalProperties":{"type":"integer"}})",
          { R"({"a":1})" }, { R"({"a":null})" });
    checkError(R"({"propertyNames":{"type":"string","maxLength":3}})",
               "'propertyNames' is not supported");
}

TEST_CASE("schema: what could restrict and is not honoured is refused by name")
{
    for (const char *keyword : { "not",
                                 "if",
                                 "then",
                                 "else",
                                 "patternProperties",
                                 "uniqueItems",
                                 "multipleOf",
                                 "minProperties",
                                 "maxProperties",
                                 "dependentRequired",
                                 "dependentSchemas",
                                 "dependencies",
                                 "unevaluatedProperties",
                                 "unevaluatedItems",
                                 "contains",
                                 "minContains",
                                 "maxContains",
                                 "additionalItems",
                                 "contentSchema",
                                 "$anchor",
                                 "$dynamicRef",
                                 "$recursiveRef",
                                 "$vocabulary",
                                 "x-unknown" }) {
        const std::string name = keyword;
        checkError(R"({"properties":{"a/b":{")" + name + R"(":{}}}})",
                   "/properties/a~1b: '" + name + "' is not supported");
    }
    checkError(R"({"items":{"$id":"x"}})",
               "/items: '$id' is supported only where the schema begins");
}

TEST_CASE("schema: hostile ones get an error")
{
    checkError("", "not JSON, at byte 1");
    checkError("{\"type\":", "not JSON, at byte 9");
    checkError("3", "a schema is an object, true or false");
    checkError(std::string(300'000, ' '), "larger than 256 KiB");
    std::string deep;
    for (int i = 0; i < 300; ++i)
        deep += R"({"items":)";
    checkError(deep, "nested deeper than 256 levels");

    // Any two of these sets of 20 objects differ in the combinations of their members.
    std::string combinations = R"({"allOf":[)";
    for (int i = 0; i < 20; ++i)
        combinations += std::string(i > 0 ? "," : "")
            + R"({"anyOf":[{"type":["object","null"],"minLength":)" + std::to_string(i)
            + R"(},{"type":["object","string"],"maxLength":)" + std::to_string(i) + "}]}";
    checkError(combinations + "]}", "/allOf/0: too many combinations of 'anyOf' and 'oneOf'");

    // Each of 30 properties compares the same 2 x 4,000 values.
    std::string values = "0";
    for (int i = 1; i < 4000; ++i)
        values += "," + std::to_string(i);
    std::string slow = R"({"$defs":{"a":{"enum":[)" + values + R"(]},"b":{"enum":[)" + values
        + R"(]}},"properties":{)";
    for (int i = 0; i < 30; ++i)
        slow += std::string(i > 0 ? "," : "") + "\"p" + std::to_string(i)
            + R"(":{"allOf":[{"$ref":"#/$defs/a"},{"$ref":"#/$defs/b"}]})";
    checkError(slow + "}}", "/properties/p26: its combinations take too long to compile");

    // Shared parts, each twice in the next: 2^30 when followed one by one.
    std::string doubling = R"({"const":[[[]]],"$ref":"#/$defs/d0","$defs":{)";
    for (int i = 0; i < 30; ++i) {
        const std::string next = R"({"$ref":"#/$defs/d)" + std::to_string(i + 1) + "\"}";
        doubling
            += "\"d" + std::to_string(i) + R"(":{"items":{"allOf":[)" + next + "," + next + "]}},";
    }
    check(doubling + R"("d30":{}}})", { "[[[]]]" }, { "[]" });

    std::string chain = R"({"$ref":"#/$defs/d0","$defs":{)";
    for (int i = 0; i < 40; ++i)
        chain += "\"d" + std::to_string(i) + R"(":{"$ref":"#/$defs/d)" + std::to_string(i + 1)
            + "\"},";
    checkError(chain + R"("d40":{}}})", "/$defs/d31: refers through more than 32 schemas");
}
