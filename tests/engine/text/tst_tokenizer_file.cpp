// SPDX-License-Identifier: MIT
#include "engine/text/tokenizer.h"
#include "tests/engine/text/text_fixture.h"
#include "tests/support/test_paths.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <doctest/doctest.h>
#include <format>
#include <functional>
#include <string>
#include <vector>

using namespace firesteel::engine;
using namespace firesteel::test;
using nlohmann::ordered_json;

namespace {

const ordered_json &goodFile()
{
    static const ordered_json file = readTestJson("tokenizer/tokenizer.json");
    return file;
}

std::string errorOf(std::string_view json)
{
    const auto tokenizer = Tokenizer::parse(json, "tokenizer.json");
    if (tokenizer)
        return "accepted";
    CHECK(tokenizer.error().code == ErrorCode::BadCheckpoint);
    CHECK(tokenizer.error().message.find('\n') == std::string::npos);
    return tokenizer.error().message;
}

std::string errorAfter(const std::function<void(ordered_json &)> &change)
{
    ordered_json file = goodFile();
    change(file);
    return errorOf(file.dump());
}

ordered_json plainAddedToken(std::string content, int id)
{
    return { { "id", id },
             { "content", std::move(content) },
             { "single_word", false },
             { "lstrip", false },
             { "rstrip", false },
             { "normalized", false },
             { "special", false } };
}

} // namespace

TEST_CASE("a missing or unreadable tokenizer file is named")
{
    const auto missing = Tokenizer::load("/nonexistent/tokenizer.json");
    REQUIRE_FALSE(missing.has_value());
    CHECK(missing.error().code == ErrorCode::NotFound);
    CHECK(missing.error().message.starts_with("/nonexistent/tokenizer.json: "));
    const auto folder = Tokenizer::load(dataPath("tokenizer"));
    REQUIRE_FALSE(folder.has_value());
    CHECK(folder.error().code == ErrorCode::Io);
}

TEST_CASE("a file that is not JSON is refused")
{
    const std::string text = goodFile().dump();
    for (const std::string &bad :
         { std::string(), std::string("{"), text.substr(0, text.size() / 2), std::string(5000, '['),
           std::string("\xFF\xFE"), text + "x", std::string("{\"model\": \"\\ud800\"}") }) {
        CHECK(errorOf(bad).starts_with("tokenizer.json: not JSON: "));
    }
    CHECK(errorOf("[]") == "tokenizer.json: model: expected an object");
    CHECK(errorOf("{\"model\": 3}") == "tokenizer.json: model.type: expected a string");
}

TEST_CASE("a tokenizer of another kind is refused by name")
{
    const auto check
        = [](std::string_view pointer, const ordered_json &value, std::string_view expected) {
              CAPTURE(pointer);
              CHECK(errorAfter([&](ordered_json &file) {
                        file[ordered_json::json_pointer(std::string(pointer))] = value;
                    })
                    == std::format("tokenizer.json: {}", expected));
          };
    check("/model/type", "Unigram", "model: type \"Unigram\" is not supported, only \"BPE\"");
    check("/model/type", nullptr, "model.type: expected a string");
    check("/model/dropout", 0.1, "model.dropout: only null is supported");
    check("/model/unk_token", "<unk>", "model.unk_token: only null is supported");
    check("/model/continuing_subword_prefix", "##",
          "model.continuing_subword_prefix: only null is supported");
    check("/model/end_of_word_suffix", 1, "model.end_of_word_suffix: only null is supported");
    check("/model/byte_fallback", true, "model.byte_fallback: only false is supported");
    check("/model/ignore_merges", "yes", "model.ignore_merges: expected true or false");
    check("/normalizer", { { "type", "NFC" } }, "normalizer: only null is supported");
    check("/decoder/type", "WordPiece",
          "decoder: type \"WordPiece\" is not supported, only \"ByteLevel\"");
    check("/decoder", nullptr, "decoder.type: expected a string");
    check("/post_processor/type", "TemplateProcessing",
          "post_processor: type \"TemplateProcessing\" is not supported, only \"ByteLevel\"");
    check("/pre_tokenizer/type", "Whitespace",
          "pre_tokenizer: type \"Whitespace\" is not supported, only \"Sequence\"");
    check("/pre_tokenizer/pretokenizers", ordered_json::array(),
          "pre_tokenizer.pretokenizers: expected a Split and a ByteLevel");
    check("/pre_tokenizer/pretokenizers/0/behavior", "Removed",
          "pre_tokenizer.pretokenizers[0].behavior: only Isolated is supported");
    check("/pre_tokenizer/pretokenizers/0/invert", true,
          "pre_tokenizer.pretokenizers[0].invert: only false is supported");
    check("/pre_tokenizer/pretokenizers/0/pattern", { { "String", " " } },
          "pre_tokenizer.pretokenizers[0].pattern.Regex: expected a string");
    check("/pre_tokenizer/pretokenizers/1/add_prefix_space", true,
          "pre_tokenizer.pretokenizers[1].add_prefix_space: only false is supported");
    check("/pre_tokenizer/pretokenizers/1/use_regex", true,
          "pre_tokenizer.pretokenizers[1].use_regex: only false is supported");
}

TEST_CASE("a bad pattern is refused")
{
    const auto errorOfPattern = [](std::string pattern) {
        const std::string error = errorAfter([&pattern](ordered_json &file) {
            file["pre_tokenizer"]["pretokenizers"][0]["pattern"]["Regex"] = pattern;
        });
        const std::string_view prefix
            = "tokenizer.json: pre_tokenizer.pretokenizers[0].pattern.Regex: ";
        CHECK(error.starts_with(prefix));
        return error.substr(std::min(prefix.size(), error.size()));
    };
    CHECK(errorOfPattern("(a").starts_with(
        "not a regular expression: missing closing parenthesis at byte 2"));
    CHECK(errorOfPattern("\\p{Nonsense}+").starts_with("not a regular expression: "));
    CHECK(errorOfPattern("a*") == "the pattern must not match the empty string");
    CHECK(errorOfPattern("").starts_with("the pattern must not match the empty string"));
    CHECK(errorOfPattern(std::string(20'000, 'a')) == "the pattern is longer than 16384 bytes");
}

TEST_CASE("a pattern with runaway backtracking ends and loses no text")
{
    ordered_json file = goodFile();
    file["pre_tokenizer"]["pretokenizers"][0]["pattern"]["Regex"] = "(?:a|aa|aaa)+b|c+";
    const auto tokenizer = Tokenizer::parse(file.dump(), "tokenizer.json");
    REQUIRE(tokenizer.has_value());
    for (const std::string &text :
         { std::string(2000, 'a') + "\u00FCccx", std::string("xcc aab ccab") })
        CHECK(tokenizer->decode(tokenizer->encode(text)) == text);
}

TEST_CASE("a bad vocabulary, merge or added token is refused by place")
{
    const auto check
        = [](const std::function<void(ordered_json &)> &change, std::string_view expected) {
              CHECK(errorAfter(change) == std::format("tokenizer.json: {}", expected));
          };
    check([](auto &f) { f["model"].erase("vocab"); }, "model.vocab: expected an object");
    check([](auto &f) { f["model"]["vocab"]["zz"] = -1; },
          "model.vocab[\"zz\"]: expected an id from 0 to 1048575");
    check([](auto &f) { f["model"]["vocab"]["zz"] = 1 << 20; },
          "model.vocab[\"zz\"]: expected an id from 0 to 1048575");
    check([](auto &f) { f["model"]["vocab"]["zz"] = 1.5; },
          "model.vocab[\"zz\"]: expected an id from 0 to 1048575");
    check([](auto &f) { f["model"]["vocab"]["zzq"] = 5; },
          "model.vocab[\"zzq\"]: the token or its id 5 occurs twice");
    check([](auto &f) { f["model"]["vocab"]["a b"] = 6200; },
          "model.vocab[\"a b\"]: not a byte-level token");
    check([](auto &f) { f["model"]["vocab"][""] = 6200; },
          "model.vocab[\"\"]: not a byte-level token");
    check([](auto &f) { f["model"]["vocab"].erase("!"); },
          "model.vocab: no token for the single byte 0x21");
    check([](auto &f) { f["model"].erase("merges"); }, "model.merges: expected an array");
    check([](auto &f) { f["model"]["merges"][7] = { "q", "zzzz" }; },
          "model.merges[7]: \"qzzzz\" is not in the vocabulary");
    for (const ordered_json &entry :
         { ordered_json("ab"), ordered_json("a b c"), ordered_json({ "a" }),
           ordered_json({ "a", 1 }), ordered_json(nullptr) })
        check([&entry](auto &f) { f["model"]["merges"][7] = entry; },
              "model.merges[7]: expected [\"a\", \"b\"] or \"a b\"");
    check([](auto &f) { f["added_tokens"] = 1; }, "added_tokens: expected an array");
    check([](auto &f) { f["added_tokens"][2]["id"] = "x"; },
          "added_tokens[2].id: expected an id from 0 to 1048575");
    check([](auto &f) { f["added_tokens"][2]["content"] = ""; },
          "added_tokens[2].content: must not be empty");
    check([](auto &f) { f["added_tokens"][2]["lstrip"] = true; },
          "added_tokens[2] \"[gMASK]\".lstrip: only false is supported");
    check([](auto &f) { f["added_tokens"][2]["single_word"] = true; },
          "added_tokens[2] \"[gMASK]\".single_word: only false is supported");
    check([](auto &f) { f["added_tokens"][2].erase("special"); },
          "added_tokens[2].special: expected true or false");
    check([](auto &f) { f["added_tokens"].push_back(plainAddedToken("<think>", 7000)); },
          "added_tokens[36]: \"<think>\" or its id 7000 occurs twice");
    check([](auto &f) { f["added_tokens"].push_back(plainAddedToken("new", 6105)); },
          "added_tokens[36]: \"new\" or its id 6105 occurs twice");
    check([](auto &f) { f["added_tokens"].push_back(plainAddedToken("new", 5)); },
          "added_tokens[36]: \"new\" with id 5 contradicts model.vocab");
    check([](auto &f) { f["added_tokens"].push_back(plainAddedToken("!", 7000)); },
          "added_tokens[36]: \"!\" with id 7000 contradicts model.vocab");
}

TEST_CASE("both spellings of merges read alike")
{
    ordered_json file = goodFile();
    for (ordered_json &merge : file["model"]["merges"])
        merge = merge[0].get<std::string>() + " " + merge[1].get<std::string>();
    const auto tokenizer = Tokenizer::parse(file.dump(), "tokenizer.json");
    REQUIRE(tokenizer.has_value());
    for (const auto &entry : readTestJson("tokenizer/golden.json"))
        CHECK(tokenizer->encode(entry["text"].get<std::string>())
              == entry["ids"].get<std::vector<std::int32_t>>());
}

TEST_CASE("added tokens: the longest at the leftmost place, normalized ones after the others")
{
    ordered_json file = goodFile();
    file["added_tokens"].push_back(plainAddedToken("<|user|>x", 7000));
    file["added_tokens"].push_back(plainAddedToken("abc", 7001));
    file["added_tokens"].back()["normalized"] = true;
    file["added_tokens"].push_back(plainAddedToken("bc", 7002));
    const auto tokenizer = Tokenizer::parse(file.dump(), "tokenizer.json");
    REQUIRE(tokenizer.has_value());
    using Ids = std::vector<std::int32_t>;
    CHECK(tokenizer->encode("<|user|>x<|user|><think>") == Ids { 7000, 6091, 6105 });
    CHECK(tokenizer->encode("abc") == Ids { 64, 7002 }); // "bc" is taken first
    CHECK(tokenizer->size() == 7003);
    CHECK_FALSE(tokenizer->isMapped(6999));
}

// As many tokens and merges as GLM-5.3-Flash has, made alike: every word of letters in turn, with a
// merge for each way to cut it in two.
TEST_CASE("a vocabulary of the released size loads")
{
    constexpr std::size_t kTokens = 154'820;
    constexpr std::size_t kMerges = 321'649;
    ordered_json file = goodFile();
    std::vector<std::string> words;
    for (char letter = 'a'; letter <= 'z'; ++letter)
        words.emplace_back(1, letter);
    std::string vocabText;
    for (const auto &[token, id] : file["model"]["vocab"].items()) {
        if (id < 256)
            vocabText += std::format("{}:{},", ordered_json(token).dump(), id.get<int>());
    }
    std::string mergeText;
    std::size_t merges = 0;
    for (std::size_t id = 256, parent = 0; id < kTokens; ++parent) {
        for (char letter = 'a'; letter <= 'z' && id < kTokens; ++letter, ++id) {
            const std::string word = words[parent] + letter;
            vocabText += std::format("\"{}\":{},", word, id);
            for (std::size_t cut = 1; cut < word.size() && merges < kMerges; ++cut, ++merges)
                mergeText += std::format("[\"{}\",\"{}\"],", word.substr(0, cut), word.substr(cut));
            words.push_back(word);
        }
    }
    vocabText.pop_back();
    mergeText.pop_back();
    REQUIRE(merges == kMerges);
    file["added_tokens"] = ordered_json::array();
    file["model"]["vocab"] = "VOCAB";
    file["model"]["merges"] = "MERGES";
    std::string json = file.dump();
    json.replace(json.find("\"VOCAB\""), 7, "{" + vocabText + "}");
    json.replace(json.find("\"MERGES\""), 8, "[" + mergeText + "]");

    const auto begin = std::chrono::steady_clock::now();
    const auto tokenizer = Tokenizer::parse(json, "tokenizer.json");
    const double seconds
        = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    REQUIRE_MESSAGE(tokenizer.has_value(), (tokenizer ? "" : tokenizer.error().message));
    MESSAGE("loaded in " << seconds << " s"); // no bound: test machines are busy or emulated
    CHECK(tokenizer->size() == static_cast<int>(kTokens));
    CHECK(tokenizer->encode("zz zz").size() == 3);
}
