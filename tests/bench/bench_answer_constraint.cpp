// SPDX-License-Identifier: MIT
//
// Time of the token masks of structured output at the released model's vocabulary: 154,820 texts,
// grown like a byte-pair vocabulary from letters, digits, spaces and JSON's signs, since the
// released tokenizer does not come with the program.
#include "engine/decode/answer_constraint.h"
#include "engine/grammar/json_grammar.h"
#include "engine/tools/synth_tokenizer.h"

#include <benchmark/benchmark.h>
#include <bit>
#include <memory>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

using namespace firesteel::engine;

namespace {

constexpr int kBaseTokens = 154'820;
constexpr std::string_view kSchema = R"({"type":"object","properties":{
    "title":{"type":"string"},"pages":{"type":"integer","minimum":1,"maximum":5000},
    "authors":{"type":"array","items":{"type":"object","properties":{
        "name":{"type":"string","maxLength":80},"born":{"type":["integer","null"]}},
        "required":["name","born"],"additionalProperties":false}},
    "kind":{"enum":["novel","essay","poems"]}},
    "required":["title","pages","authors","kind"],"additionalProperties":false})";

// Every token adds one character to an earlier one.
Tokenizer tokenizerOfRelease()
{
    constexpr std::string_view kCharacters
        = "eeetaoinshrdlucmfwypvbgkjqxzETAOINSHRDLUCMFWYPVBGKJQXZ0123456789.,:;-_()[]{}\"'/\\";
    std::mt19937 random(1);
    std::vector<std::string> texts { "\u0120" }; // a space
    for (const char character : std::set<char>(kCharacters.begin(), kCharacters.end()))
        texts.emplace_back(1, character);
    std::set<std::string> known(texts.begin(), texts.end());
    std::vector<TokenMerge> merges;
    while (merges.size() + 256 < kBaseTokens) {
        const std::string &left = texts[random() % texts.size()];
        const std::string right(1, kCharacters[random() % kCharacters.size()]);
        if (!known.insert(left + right).second)
            continue;
        merges.emplace_back(left, right);
        texts.push_back(left + right);
    }
    auto tokenizer = Tokenizer::parse(tokenizerJson(merges), "tokenizer.json");
    if (!tokenizer)
        throw std::runtime_error(tokenizer.error().message);
    return std::move(*tokenizer);
}

struct Release
{
    Tokenizer tokenizer = tokenizerOfRelease();
    std::shared_ptr<const AnswerTokens> tokens = std::make_shared<const AnswerTokens>(
        tokenizer, tokenizer.size(), std::vector { *tokenizer.addedTokenId("<|user|>") });
    std::shared_ptr<const Grammar> grammar = jsonSchemaGrammar(kSchema).value();
};

const Release &release()
{
    static const Release made;
    return made;
}

void vocabulary(benchmark::State &state)
{
    const Tokenizer &tokenizer = release().tokenizer;
    for (auto _ : state)
        benchmark::DoNotOptimize(TokenTrie(tokenizer, tokenizer.size()));
    state.counters["nodes"] = static_cast<double>(release().tokens->trie().nodes().size());
}

void schema(benchmark::State &state)
{
    for (auto _ : state)
        benchmark::DoNotOptimize(jsonSchemaGrammar(kSchema).value());
}

// The mask after `text`. `isFirst`: in a request that has made no other yet.
void mask(benchmark::State &state, std::string_view text, bool isFirst)
{
    const std::vector<std::int32_t> read = release().tokenizer.encode(text);
    AnswerConstraint known(release().grammar, release().tokens, false);
    known.mask();
    for (auto _ : state) {
        state.PauseTiming();
        AnswerConstraint constraint
            = isFirst ? AnswerConstraint(release().grammar, release().tokens, false) : known;
        for (const std::int32_t token : read)
            constraint.accept(token);
        state.ResumeTiming();
        benchmark::DoNotOptimize(constraint.mask());
    }
    AnswerConstraint constraint(release().grammar, release().tokens, false);
    for (const std::int32_t token : read)
        constraint.accept(token);
    int allowed = 0;
    for (const std::uint64_t word : constraint.mask())
        allowed += std::popcount(word);
    state.counters["allowed"] = allowed;
}

} // namespace

BENCHMARK(vocabulary)->Unit(benchmark::kMillisecond);
BENCHMARK(schema)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(mask, start, "", true)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(mask, stringFirst, R"({"title": ")", true)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(mask, string, R"({"title": ")", false)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(mask, boundedString, R"({"title": "a", "pages": 7, "authors": [{"name": ")", true)
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(mask, number, R"({"title": "a", "pages": 4)", true)
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_MAIN();
