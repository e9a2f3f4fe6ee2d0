// SPDX-License-Identifier: MIT
//
// Bytes per second of Tokenizer::encode on one core, for prose, code, JSON and their mixture, and
// for text without word borders. Takes the tokenizer of FIRESTEEL_MODEL, else the one of
// tests/data.
#include "engine/text/tokenizer.h"
#include "tests/support/test_paths.h"

#include <array>
#include <benchmark/benchmark.h>
#include <format>
#include <random>
#include <stdexcept>
#include <string>

using namespace firesteel::engine;

namespace {

constexpr std::size_t kTextBytes = 1U << 20;

const Tokenizer &tokenizer()
{
    static const Tokenizer loaded = [] {
        const auto model = firesteel::test::modelDirectory();
        auto result
            = Tokenizer::load(model ? *model / "tokenizer.json"
                                    : firesteel::test::dataPath("tokenizer/tokenizer.json"));
        if (!result)
            throw std::runtime_error(result.error().message);
        return std::move(*result);
    }();
    return loaded;
}

// A made-up word of one to four syllables; few are tokens of their own, so merges do their work.
std::string word(std::mt19937 &random)
{
    static constexpr auto kSyllables = std::to_array<std::string_view>(
        { "ver", "lo", "tion", "re", "an", "mi", "the", "con", "st", "er", "pa", "ing", "o", "qui",
          "b\u00F6", "dal" });
    std::string text;
    for (std::size_t n = 1 + random() % 4; n > 0; --n)
        text += kSyllables[random() % kSyllables.size()];
    return text;
}

std::string prose(std::mt19937 &random)
{
    std::string text;
    for (std::size_t n = 5 + random() % 12; n > 0; --n)
        text += word(random) + (random() % 9 == 0 ? ", " : " ");
    return text + "It's the end of it, isn't it? " + (random() % 5 == 0 ? "\n\n" : "");
}

std::string code(std::mt19937 &random)
{
    return std::format("    for (int {0} = 0; {0} < {1}; ++{0}) {{\n        m_{2}[{0}] += {3}({0}, "
                       "\"{4}\") * 0x{5:X};\n    }}\n",
                       word(random), random() % 5000, word(random), word(random), word(random),
                       random());
}

std::string json(std::mt19937 &random)
{
    return std::format("{{\"{}\": {}, \"{}\": [{}.{}, true, null], \"{}\": \"{} {}\"}},\n",
                       word(random), random(), word(random), random() % 100, random() % 1000,
                       word(random), word(random), word(random));
}

std::string mixed(std::mt19937 &random)
{
    const auto kind = random() % 3;
    return kind == 0 ? prose(random) : kind == 1 ? code(random) : json(random);
}

void encode(benchmark::State &state, std::string (*piece)(std::mt19937 &))
{
    std::mt19937 random(1);
    std::string text;
    while (text.size() < kTextBytes)
        text += piece(random);
    std::size_t tokens = 0;
    for (auto _ : state) {
        const auto ids = tokenizer().encode(text);
        tokens = ids.size();
        benchmark::DoNotOptimize(ids.data());
    }
    state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
    state.counters["bytes/token"] = static_cast<double>(text.size()) / static_cast<double>(tokens);
}

} // namespace

BENCHMARK_CAPTURE(encode, mixed, mixed)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(encode, prose, prose)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(encode, code, code)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(encode, json, json)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(encode, chinese, [](std::mt19937 &) {
    return std::string("\u4E16\u754C\u4F60\u597D\u6211");
})->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(encode, spaces, [](std::mt19937 &) {
    return std::string("        ");
})->Unit(benchmark::kMillisecond);

BENCHMARK_MAIN();
