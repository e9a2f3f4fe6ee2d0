// SPDX-License-Identifier: MIT
#include "engine/text/output_parser.h"
#include "tests/engine/text/text_fixture.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <format>
#include <random>
#include <set>
#include <string>
#include <vector>

using namespace firesteel::engine;
using namespace firesteel::test;

namespace {

using Ids = std::vector<std::int32_t>;
using Status = OutputParser::Status;

constexpr std::int32_t kEndOfText = 6084;
constexpr std::int32_t kUser = 6091;
constexpr std::int32_t kObservation = 6093;

OutputParser::Options optionsWith(std::vector<std::string> stop = {}, bool startsInThinking = true)
{
    return { startsInThinking,
             std::move(stop),
             { kEndOfText, kUser, kObservation },
             { { "get_weather",
                 { { "city", "string" },
                   { "days", "integer" },
                   { "note", "string|null" },
                   { "any", "" } } } } };
}

// Everything a parser said, calls in writing and without their ids; text is marked where thinking
// and answer alternate.
struct Said
{
    std::string text;
    std::string thinking;
    std::string answer;
    std::vector<std::string> calls;
    int deltaTokens = 0;
    std::vector<std::int32_t> ids = {};
    int consumed = 0;
    Status status = Status::Running;

    void add(const std::vector<OutputParser::Piece> &pieces)
    {
        for (const OutputParser::Piece &piece : pieces) {
            if (const auto *delta = std::get_if<ThinkingDelta>(&piece)) {
                thinking += delta->text;
                deltaTokens += delta->tokens;
                addIds(*delta);
                append('T', delta->text);
            } else if (const auto *answerDelta = std::get_if<TextDelta>(&piece)) {
                answer += answerDelta->text;
                deltaTokens += answerDelta->tokens;
                addIds(*answerDelta);
                append('A', answerDelta->text);
            } else {
                const auto &event = std::get<ToolCallEvent>(piece);
                CHECK(event.index == static_cast<int>(calls.size()));
                calls.push_back(event.call.name + event.call.argumentsJson);
                append('C', calls.back());
            }
        }
    }

    bool operator==(const Said &) const = default;

private:
    template <typename Delta> void addIds(const Delta &delta)
    {
        CHECK(delta.ids.size() == static_cast<std::size_t>(delta.tokens));
        ids.insert(ids.end(), delta.ids.begin(), delta.ids.end());
    }

    void append(char kind, const std::string &more)
    {
        if (m_kind != kind || kind == 'C')
            text += std::format("[{}]", kind);
        m_kind = kind;
        text += more;
    }

    char m_kind = ' ';
};

// Pushes `ids` in steps of random length, or one at a time where `random` is null.
Said parse(const Ids &ids, const OutputParser::Options &options, std::mt19937 *random = nullptr)
{
    OutputParser parser(testTokenizer(), options);
    Said said;
    for (std::size_t at = 0; at < ids.size();) {
        const std::size_t count
            = random == nullptr ? 1 : std::min<std::size_t>(1 + (*random)() % 9, ids.size() - at);
        const auto outcome = parser.push(std::span(ids).subspan(at, count));
        said.add(outcome.pieces);
        said.consumed += outcome.consumed;
        said.status = outcome.status;
        if (outcome.status != Status::Running) {
            const auto after = parser.push(ids);
            CHECK(after.consumed == 0);
            CHECK(after.status == outcome.status);
            break;
        }
        CHECK(outcome.consumed == static_cast<int>(count));
        at += count;
    }
    said.add(parser.finish());
    CHECK(parser.finish().empty());
    CHECK(parser.toolCallCount() == static_cast<int>(said.calls.size()));
    return said;
}

Said parse(std::string_view text, const OutputParser::Options &options = optionsWith())
{
    return parse(testTokenizer().encode(text), options);
}

} // namespace

TEST_CASE("thinking, answer and the end of the turn")
{
    const Said said = parse("I think.</think>Hello!<|user|>invented");
    CHECK(said.thinking == "I think.");
    CHECK(said.answer == "Hello!");
    CHECK(said.status == Status::EndOfTurn);
    CHECK(said.consumed
          == static_cast<int>(testTokenizer().encode("I think.</think>Hello!<|user|>").size()));
    CHECK(said.deltaTokens == said.consumed - 1);
    std::vector<std::int32_t> ids = testTokenizer().encode("I think.</think>Hello!<|user|>");
    ids.pop_back(); // nothing is said after the end of the turn
    CHECK(said.ids == ids);
}

TEST_CASE("without </think> everything is thinking")
{
    const Said said = parse("on and on<tool_call>f</tool_call><|endoftext|>");
    CHECK(said.text == "[T]on and on<tool_call>f</tool_call>");
    CHECK(said.status == Status::EndOfTurn);
}

TEST_CASE("a leading <think> is dropped, a later one is text")
{
    CHECK(parse("<think>a<think>b</think>c").text == "[T]a<think>b[A]c");
    CHECK(parse("\n<think>a</think>c").text == "[T]\na[A]c");
}

TEST_CASE("thinking off starts in the answer")
{
    const auto options = optionsWith({}, false);
    CHECK(parse("Hello <think> is a tag, </think> too", options).text
          == "[A]Hello <think> is a tag, </think> too");
    CHECK(parse("</think>Hello", options).text == "[A]Hello");
    CHECK(parse("<think>hm</think>Hello", options).text == "[T]hm[A]Hello");
}

TEST_CASE("reasoning tokens are counted")
{
    OutputParser parser(testTokenizer(), optionsWith());
    const Ids thinking = testTokenizer().encode("one two three</think>");
    parser.push(thinking);
    parser.push(testTokenizer().encode("answer<|user|>"));
    CHECK(parser.reasoningTokens() == static_cast<int>(thinking.size()));
}

TEST_CASE("tool calls: typed values, several calls, none of the white space between tags")
{
    const Said said
        = parse("r</think>Let me "
                "look.\n<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>12</arg_value>"
                "<arg_key>days</arg_key><arg_value>2</arg_value></tool_call>\n<tool_call>noargs</"
                "tool_call>\n"
                "<|observation|>");
    CHECK(said.thinking == "r");
    CHECK(said.answer == "Let me look.\n");
    CHECK(said.calls
          == std::vector<std::string> { R"(get_weather{"city": "12", "days": 2})", "noargs{}" });
    CHECK(said.status == Status::EndOfTurn);
}

TEST_CASE("argument values by schema type")
{
    const auto value = [](std::string_view key, std::string_view text) {
        const Said said = parse(std::format("</think><tool_call>get_weather<arg_key>{}</"
                                            "arg_key><arg_value>{}</arg_value></tool_call>",
                                            key, text));
        REQUIRE(said.calls.size() == 1);
        const std::size_t prefix = std::string_view("get_weather{\"\": ").size() + key.size();
        return said.calls[0].substr(prefix, said.calls[0].size() - prefix - 1);
    };
    CHECK(value("city", " {\"a\": 1}\n") == R"(" {\"a\": 1}\n")");
    CHECK(value("city", "null") == "\"null\"");
    CHECK(value("note", "null") == "null");
    CHECK(value("note", "7") == "\"7\"");
    CHECK(value("days", "seven") == "\"seven\"");
    CHECK(value("days", "\"7\"") == "\"7\"");
    CHECK(value("any", "[1,{\"k\":null}]") == R"([1, {"k": null}])");
    CHECK(value("other", "12345678901234567890123") == "12345678901234567890123");
    CHECK(value("other", "true") == "true");
    CHECK(value("other", "True") == "\"True\"");
    CHECK(value("other", "") == "\"\"");
    CHECK(value("city", "a <arg_key> and <think>") == "\"a <arg_key> and <think>\"");
}

TEST_CASE("malformed calls")
{
    CHECK(parse("</think>a<tool_call>f<arg_key>k</arg_key><arg_value>v").text
          == "[A]a"); // unfinished
    CHECK(parse("</think><tool_call>f<arg_key>k<|observation|>").text.empty());
    CHECK(parse("</think><tool_call> \n</tool_call>x").text == "[A]x"); // no name
    CHECK(parse("</think><tool_call>f<tool_call>g</tool_call>").text == "[C]g{}");
    CHECK(parse("</think><tool_call>f<arg_key>k</arg_key><arg_value>1</tool_call>b").text
          == "[C]f{\"k\": 1}[A]b");
    CHECK(parse("</think><tool_call>f<arg_key>k<arg_value>1</arg_value></tool_call>").text
          == "[C]f{\"k\": 1}");
    CHECK(parse("</think><tool_call>f<arg_value>1</arg_value></tool_call>").text == "[C]f{}");
    CHECK(parse("</think><tool_call>f<arg_key>k</arg_key></tool_call>").text == "[C]f{}");
    CHECK(parse("</think><tool_call>f<arg_key>k</arg_key><arg_value>1</arg_value><arg_key>j</"
                "arg_key><arg_value>2</arg_value>"
                "<arg_key>k</arg_key><arg_value>3</arg_value></tool_call>")
              .text
          == "[C]f{\"k\": 3, \"j\": 2}");
    CHECK(parse("</think>x</tool_call>y</arg_value>").text == "[A]x</tool_call>y</arg_value>");
}

TEST_CASE("stop strings cross token borders and end the output")
{
    for (const std::string_view stop : { "END", "<|begin_of_box|>", "o w", "\u4E16\u754C" }) {
        CAPTURE(stop);
        const std::string text = std::format("hm</think>Hello w{}orld and more", stop);
        const Said said = parse(text, optionsWith({ "never", std::string(stop) }));
        CHECK(said.status == Status::StopString);
        CHECK(said.thinking == "hm");
        CHECK(said.answer == text.substr(10, text.find(stop) - 10));
    }
}

TEST_CASE("stop strings are not looked for inside thinking or calls, nor across them")
{
    const auto options = optionsWith({ "STOP" });
    CHECK(parse("STOP</think>a<tool_call>STOP<arg_key>STOP</arg_key><arg_value>STOP</arg_value></"
                "tool_call>b",
                options)
              .text
          == "[T]STOP[A]a[C]STOP{\"STOP\": \"STOP\"}[A]b");
    CHECK(parse("x</think>ST<tool_call>f</tool_call>OP", options).text == "[T]x[A]ST[C]f{}[A]OP");
}

TEST_CASE("special tokens are no text, other added tokens are")
{
    CHECK(parse("a[MASK]b</think>c<sop>d<|begin_of_box|>e").text == "[T]ab[A]cd<|begin_of_box|>e");
    Ids unmapped = testTokenizer().encode("a</think>b");
    unmapped.insert(unmapped.end(), { -1, 6143, 1 << 30 });
    const Said said = parse(unmapped, optionsWith());
    CHECK(said.text == "[T]a[A]b");
    CHECK(said.consumed == static_cast<int>(unmapped.size()));
}

TEST_CASE("an incomplete character is held back and becomes U+FFFD at the end or before a tag")
{
    Ids ids = testTokenizer().encode("\u9F98");
    REQUIRE(ids.size() == 3);
    ids.pop_back();
    OutputParser parser(testTokenizer(), optionsWith());
    CHECK(parser.push(ids).pieces.empty());
    const auto outcome = parser.push(testTokenizer().encode("</think>"));
    REQUIRE(outcome.pieces.size() == 1);
    CHECK(std::get<ThinkingDelta>(outcome.pieces[0]).text == "\uFFFD");
    CHECK(parser.push(ids).pieces.empty());
    const auto rest = parser.finish();
    REQUIRE(rest.size() == 1);
    CHECK(std::get<TextDelta>(rest[0]).text == "\uFFFD");
}

TEST_CASE("call ids differ")
{
    std::set<std::string> ids;
    for (int i = 0; i < 3; ++i) {
        OutputParser parser(testTokenizer(), optionsWith());
        for (const auto &piece :
             parser
                 .push(testTokenizer().encode(
                     "</think><tool_call>f</tool_call><tool_call>f</tool_call>"))
                 .pieces)
            ids.insert(std::get<ToolCallEvent>(piece).call.id);
    }
    CHECK(ids.size() == 6);
}

// A text that is no conversation may go on with an empty line, or with tags that it is about: none
// of it may be waited for or lost.
TEST_CASE("plain text comes as it is, at once")
{
    auto options = optionsWith({ "END" });
    options.isPlainText = true;
    OutputParser parser(testTokenizer(), options);
    const auto said = [&parser](std::string_view text) {
        std::string pieces;
        for (const auto &piece : parser.push(testTokenizer().encode(text)).pieces)
            pieces += std::get<TextDelta>(piece).text;
        return pieces;
    };
    CHECK(said("\n \n") == "\n \n");
    const std::string_view tags = "<think>a</think><tool_call>f<arg_key>k</arg_key></tool_call>";
    CHECK(said(tags) == tags);
    CHECK(said("[MASK]").empty()); // special tokens are no text
    CHECK(said("xEND more") == "x");
    CHECK(parser.finish().empty());
    CHECK(parser.toolCallCount() == 0);
    CHECK(parser.reasoningTokens() == 0);
}

// Streams of words, raw bytes and every control tag, parsed one id at a time and in random steps.
TEST_CASE("any split of a token stream gives the same output")
{
    std::mt19937 random(3);
    const Ids tags = testTokenizer().encode(
        "<think></think><tool_call></tool_call><arg_key></arg_key><arg_value></arg_value>"
        "</think><tool_call></tool_call><arg_key></arg_key><arg_value></arg_value>[MASK]<sop>");
    const Ids words = testTokenizer().encode(
        "get_weather city days 42 null [1, 2] \"x\" END the\n\n \n\u9F98\U0001F600\u00FC");
    int calls = 0;
    int stops = 0;
    for (int round = 0; round < 4000; ++round) {
        Ids ids(random() % 60);
        for (auto &id : ids) {
            const auto kind = random() % 10;
            id = kind < 4   ? tags[random() % tags.size()]
                : kind < 8  ? words[random() % words.size()]
                : kind == 8 ? static_cast<std::int32_t>(random() % 256)
                            : static_cast<std::int32_t>(random() % 6200);
        }
        const auto options
            = optionsWith({ "END", " the", "\n\n\n", "\uFFFD\uFFFD" }, random() % 2 == 0);
        const Said one = parse(ids, options);
        CHECK(parse(ids, options, &random) == one);
        CHECK(parse(ids, options, &random) == one);
        calls += static_cast<int>(one.calls.size());
        stops += one.status == Status::StopString ? 1 : 0;
    }
    CHECK(calls > 100);
    CHECK(stops > 100);
}
