// SPDX-License-Identifier: MIT
//
// Tokens per second of the whole engine on the model of FIRESTEEL_MODEL: prefill of a prompt, and
// decoding one sequence, as Finished::timings tells them. Without a model it reports an error and
// measures nothing.
#include "engine/api/engine.h"
#include "tests/support/test_paths.h"

#include <benchmark/benchmark.h>
#include <future>
#include <memory>
#include <stdexcept>
#include <utility>
#include <variant>

using namespace firesteel::engine;

namespace {

constexpr int kDecodedTokens = 128;

std::unique_ptr<Engine> loadedEngine()
{
    const auto directory = firesteel::test::modelDirectory();
    if (!directory)
        return nullptr;
    auto engine = createEngine({});
    std::promise<Result<void>> loaded;
    LoadOptions options;
    options.modelDirectory = *directory;
    engine->load(options, [&](const LoadEvent &event) {
        if (const auto *error = std::get_if<Error>(&event))
            loaded.set_value(std::unexpected(*error));
        else if (std::holds_alternative<ModelInfo>(event))
            loaded.set_value({});
    });
    if (const auto result = loaded.get_future().get(); !result)
        throw std::runtime_error(result.error().message);
    return engine;
}

// A prompt of `length` tokens and an answer of `maxTokens`: at the temperature of noise nothing
// ends it early.
Timings run(Engine &engine, int length, int maxTokens)
{
    const std::vector<Message> messages
        = { Message::text(Role::User, "Tell me a story about a fox and a bell.") };
    GenerationRequest request;
    request.prompt = engine.prepare(messages, {}, {}).value();
    for (int i = 0; std::cmp_less(request.prompt.tokens.size(), length); ++i)
        request.prompt.tokens.push_back(request.prompt.tokens[static_cast<std::size_t>(i)]);
    request.sampling.temperature = 100.0F;
    request.sampling.seed = 1;
    request.maxTokens = maxTokens;
    std::promise<Finished> finished;
    const auto id = engine.submit(std::move(request), [&](RequestId, const GenerationEvent &event) {
        if (const auto *end = std::get_if<Finished>(&event))
            finished.set_value(*end);
    });
    if (!id)
        throw std::runtime_error(id.error().message);
    const Finished end = finished.get_future().get();
    if (std::cmp_not_equal(end.tokens.size(), maxTokens))
        throw std::runtime_error("the answer ended early: choose another seed");
    return end.timings;
}

void measure(benchmark::State &state, int promptTokens, int answerTokens)
{
    static const std::unique_ptr<Engine> engine = loadedEngine();
    if (!engine) {
        state.SkipWithError("FIRESTEEL_MODEL is not set");
        return;
    }
    const bool decodes = answerTokens > 1;
    for (auto _ : state) {
        const Timings timings = run(*engine, promptTokens, answerTokens);
        state.SetIterationTime(decodes ? timings.decodeSeconds : timings.prefillSeconds);
    }
    const int tokens = decodes ? answerTokens - 1 : promptTokens; // the first one is the prefill's
    state.counters["tokens/s"] = benchmark::Counter(
        static_cast<double>(state.iterations()) * tokens, benchmark::Counter::kIsRate);
}

} // namespace

BENCHMARK_CAPTURE(measure, decode, 32, kDecodedTokens)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(measure, decodeAfter2048, 2048, kDecodedTokens)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(measure, prefill1024, 1024, 1)->UseManualTime()->Unit(benchmark::kMillisecond);

BENCHMARK_MAIN();
