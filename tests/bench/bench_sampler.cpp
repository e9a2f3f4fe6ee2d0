// SPDX-License-Identifier: MIT
//
// Time of one Sampler::sample at the released model's vocabulary, on logits shaped like a language
// model's: a few likely ids above a normal tail. The copy of the row that sample() uses up is not
// counted.
#include "engine/decode/sampler.h"

#include <benchmark/benchmark.h>
#include <random>

using namespace firesteel::engine;

namespace {

constexpr std::size_t kVocabulary = 154880;

std::vector<float> typicalLogits()
{
    std::mt19937 random(1);
    std::normal_distribution<float> tail(0.0F, 2.0F);
    std::vector<float> logits(kVocabulary);
    for (float &logit : logits)
        logit = tail(random);
    for (int i = 0; i < 20; ++i)
        logits[random() % kVocabulary] = 12.0F + static_cast<float>(i) * 0.2F;
    return logits;
}

void sampleRow(benchmark::State &state, const SamplingParams &params)
{
    const std::vector<float> logits = typicalLogits();
    std::vector<std::uint64_t> mapped((kVocabulary + 63) / 64, ~std::uint64_t { 0 });
    mapped.back() = 0;
    Sampler sampler(params, mapped, 1);
    std::vector<float> row;
    std::uint64_t position = 0;
    for (auto _ : state) {
        state.PauseTiming();
        row = logits;
        state.ResumeTiming();
        benchmark::DoNotOptimize(sampler.sample(row, position++));
    }
}

SamplingParams with(float temperature, int topK, float topP, float minP)
{
    SamplingParams params;
    params.temperature = temperature;
    params.topK = topK;
    params.topP = topP;
    params.minP = minP;
    return params;
}

} // namespace

BENCHMARK_CAPTURE(sampleRow, greedy, with(0, 0, 1, 0))->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(sampleRow, temperature1, with(1, 0, 1, 0))->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(sampleRow, topP95, with(1, 0, 0.95F, 0))->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(sampleRow, topP95OfAFlatRow, with(20, 0, 0.95F, 0))
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(sampleRow, topK40TopP95, with(1, 40, 0.95F, 0))->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(sampleRow, minP05, with(1, 0, 1, 0.05F))->Unit(benchmark::kMicrosecond);

BENCHMARK_MAIN();
