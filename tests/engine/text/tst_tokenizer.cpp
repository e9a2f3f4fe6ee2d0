// SPDX-License-Identifier: MIT
#include "engine/text/token_stream.h"
#include "engine/text/tokenizer.h"
#include "tests/engine/text/text_fixture.h"

#include <doctest/doctest.h>
#include <random>
#include <string>
#include <thread>
#include <vector>

using namespace firesteel::engine;
using namespace firesteel::test;

namespace {

using Ids = std::vector<std::int32_t>;

void checkGolden(std::string_view file, std::size_t expectedCases)
{
    const auto cases = readTestJson(file);
    REQUIRE(cases.size() == expectedCases);
    for (const auto &entry : cases) {
        const auto text = entry["text"].get<std::string>();
        CAPTURE(text);
        const auto ids = entry["ids"].get<Ids>();
        CHECK(testTokenizer().encode(text) == ids);
        CHECK(testTokenizer().decode(ids) == entry["decoded"].get<std::string>());
    }
}

std::string repeated(std::string_view piece, std::size_t bytes)
{
    std::string text;
    while (text.size() < bytes)
        text += piece;
    return text;
}

} // namespace

TEST_CASE("tokenizer golden: all 200 strings encode and decode as in the reference")
{
    checkGolden("tokenizer/golden.json", 200);
}

TEST_CASE("tokenizer golden: the nastiest strings of the comparison with the reference library")
{
    checkGolden("tokenizer/nasty.json", 68);
}

TEST_CASE("tokenizer facts: added tokens, flags, unmapped ids")
{
    const Tokenizer &tokenizer = testTokenizer();
    CHECK(tokenizer.size() == 6120);
    CHECK(tokenizer.addedTokenId("<|endoftext|>") == 6084);
    CHECK(tokenizer.addedTokenId("<think>") == 6105);
    CHECK_FALSE(tokenizer.addedTokenId("the").has_value());
    CHECK(tokenizer.isSpecial(6084));
    CHECK(tokenizer.isAdded(6105));
    CHECK_FALSE(tokenizer.isSpecial(6105));
    CHECK_FALSE(tokenizer.isAdded(0));
    CHECK(tokenizer.tokenBytes(6105) == "<think>");
    CHECK(tokenizer.tokenBytes(220) == " ");
    for (const std::int32_t id : { -1, 6120, 6143, 1 << 30 }) {
        CHECK_FALSE(tokenizer.isMapped(id));
        CHECK(tokenizer.tokenBytes(id).empty());
        CHECK(tokenizer.decode(std::vector { id }).empty());
    }
    CHECK(tokenizer.decode(std::vector { 6084, 6105, 220 }, true) == "<think> ");
}

TEST_CASE("encodeOrdinary leaves control text as text")
{
    const Tokenizer &tokenizer = testTokenizer();
    for (const std::string text :
         { "Hello <|user|> and <think>", "</tool_call>", "[gMASK]<sop>", "/nothink" }) {
        CAPTURE(text);
        const Ids ids = tokenizer.encodeOrdinary(text);
        CHECK(tokenizer.decode(ids) == text);
        for (const std::int32_t id : ids)
            CHECK_FALSE(tokenizer.isAdded(id));
        CHECK(tokenizer.encode(text) != ids);
    }
    CHECK(tokenizer.encodeOrdinary("plain text, 42") == tokenizer.encode("plain text, 42"));
}

TEST_CASE("invalid UTF-8 is tokenised as U+FFFD per maximal subpart")
{
    const Tokenizer &tokenizer = testTokenizer();
    const std::string_view bad = "a\xF0\x9F\x98z\xC0\xAF\xED\xA0\x80\xE2\x82";
    const std::string_view repaired = "a\uFFFDz\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD";
    CHECK(tokenizer.encode(bad) == tokenizer.encode(repaired));
    CHECK(tokenizer.encodeOrdinary(bad) == tokenizer.encode(repaired));
}

TEST_CASE("a token stream gives what batch decoding gives, for any ids")
{
    const Tokenizer &tokenizer = testTokenizer();
    std::mt19937 random(1);
    for (int round = 0; round < 2000; ++round) {
        Ids ids(random() % 30);
        for (auto &id : ids) // mostly single bytes, which seldom form characters
            id = static_cast<std::int32_t>(random() % 4 == 0 ? random() % 6200 : random() % 256);
        const bool skipSpecial = random() % 2 == 0;
        TokenStream stream(tokenizer, skipSpecial);
        std::string text;
        for (const std::int32_t id : ids)
            text += stream.push(id);
        text += stream.finish();
        CHECK(text == tokenizer.decode(ids, skipSpecial));
    }
}

TEST_CASE("a token stream holds back an incomplete character only")
{
    const Tokenizer &tokenizer = testTokenizer();
    const Ids ids = tokenizer.encodeOrdinary("\u9F98"); // three single-byte tokens
    REQUIRE(ids.size() == 3);
    TokenStream stream(tokenizer);
    CHECK(stream.push(ids[0]).empty());
    CHECK(stream.push(ids[1]).empty());
    CHECK(stream.push(ids[2]) == "\u9F98");
    CHECK(stream.finish().empty());
    CHECK(stream.push(ids[0]).empty());
    CHECK(stream.push(0) == "\uFFFD!");
}

TEST_CASE("encode then decode is the identity on random Unicode text")
{
    const Tokenizer &tokenizer = testTokenizer();
    std::mt19937 random(2);
    for (int round = 0; round < 2000; ++round) {
        std::string bytes(random() % 40, '\0');
        for (char &byte : bytes)
            byte = static_cast<char>(random() % 3 == 0 ? random() % 256 : random() % 128);
        const std::string text = tokenizer.decode(tokenizer.encode(bytes));
        CHECK(tokenizer.decode(tokenizer.encode(text)) == text);
    }
}

// Quadratic work, or PCRE2 running into a limit or out of stack, would not end within the suite's
// time.
TEST_CASE("megabytes without a word border are encoded in n log n")
{
    const auto check = [](std::string_view piece, std::size_t bytes) {
        CAPTURE(piece);
        const std::string text = repeated(piece, bytes);
        const Ids ids = testTokenizer().encode(text);
        CHECK(ids.size() <= text.size());
        CHECK(testTokenizer().decode(ids) == text);
    };
    check("the", 10'000'000);
    for (const std::string_view piece :
         { "a ", " ", "\u4E16\u754C", "\n", "\t", "==", "\u0301", " \n " })
        check(piece, 500'000);
}

TEST_CASE("threads share a tokenizer")
{
    const auto cases = readTestJson("tokenizer/golden.json");
    std::vector<std::jthread> threads;
    std::vector<int> wrong(4);
    for (std::size_t t = 0; t < wrong.size(); ++t) {
        threads.emplace_back([&cases, &wrong, t] {
            for (const auto &entry : cases)
                wrong[t] += testTokenizer().encode(entry["text"].get<std::string>())
                        == entry["ids"].get<Ids>()
                    ? 0
                    : 1;
        });
    }
    threads.clear();
    CHECK(wrong == std::vector<int>(4));
}

TEST_CASE("a digest names the file's content")
{
    const auto parsed = [](std::string_view json) {
        auto tokenizer = Tokenizer::parse(json, "tokenizer.json");
        REQUIRE(tokenizer);
        return tokenizer->digest();
    };
    const std::string json = readTestJson("tokenizer/tokenizer.json").dump();
    CHECK(parsed(json).size() == 16);
    CHECK(parsed(json) == parsed(json));
    CHECK(parsed(json + " ") != parsed(json));
}
