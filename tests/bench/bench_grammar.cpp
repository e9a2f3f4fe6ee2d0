// SPDX-License-Identifier: MIT
//
// Grammars of structured output: time to compile a schema, and time of a step that was taken before
// and of one that was not.
#include "engine/grammar/grammar_states.h"
#include "engine/grammar/json_grammar.h"

#include <benchmark/benchmark.h>
#include <string>

using namespace firesteel::engine;

namespace {

const std::string kSchema = R"({"type":"object","properties":{
"number":{"type":"string","pattern":"^INV-[0-9]{4,8}$"},"date":{"type":"string","format":"date"},
"currency":{"type":"string","enum":["EUR","USD","GBP"]},
"lines":{"type":"array","items":{"type":"object","properties":{
"text":{"type":"string","minLength":1,"maxLength":80},
"quantity":{"type":"integer","minimum":1,"maximum":9999},"price":{"type":"number","minimum":0}},
"required":["text","quantity","price"],"additionalProperties":false},"minItems":1,"maxItems":40},
"total":{"type":"number","minimum":0}},
"required":["number","date","currency","lines","total"],"additionalProperties":false})";

// An answer of 2 KiB
std::string document()
{
    std::string text
        = R"({"number": "INV-20261", "date": "2026-12-01", "currency": "EUR", "lines": [)";
    for (int line = 0; line < 30; ++line)
        text += std::string(line > 0 ? ", " : "") + R"({"text": "Stone and steel", "quantity": )"
            + std::to_string(3 + 37 * line) + R"(, "price": 12.5})";
    return text + R"(], "total": 4711.25})";
}

GrammarStates::State follow(GrammarStates &states, const std::string &text)
{
    GrammarStates::State state = states.start();
    for (const char c : text)
        state = states.next(state, static_cast<unsigned char>(c));
    return state;
}

void compile(benchmark::State &bench)
{
    for (auto _ : bench)
        benchmark::DoNotOptimize(jsonSchemaGrammar(kSchema));
    bench.counters["nodes"] = static_cast<double>((*jsonSchemaGrammar(kSchema))->nodeCount());
}

void coldSteps(benchmark::State &bench)
{
    const auto grammar = jsonSchemaGrammar(kSchema).value();
    const std::string text = document();
    std::size_t made = 0;
    for (auto _ : bench) {
        GrammarStates states(grammar);
        if (!states.mayEnd(follow(states, text)))
            bench.SkipWithError("the document is not in the grammar");
        made = states.size();
    }
    bench.counters["states"] = static_cast<double>(made);
    bench.SetItemsProcessed(bench.iterations() * static_cast<std::int64_t>(text.size()));
}

void warmSteps(benchmark::State &bench)
{
    GrammarStates states(jsonSchemaGrammar(kSchema).value());
    const std::string text = document();
    follow(states, text);
    for (auto _ : bench)
        benchmark::DoNotOptimize(follow(states, text));
    bench.SetItemsProcessed(bench.iterations() * static_cast<std::int64_t>(text.size()));
}

// Every byte from every state of the document: what a walk over a vocabulary asks for at most.
void everyByte(benchmark::State &bench)
{
    const auto grammar = jsonSchemaGrammar(kSchema).value();
    const std::string text = document();
    std::size_t made = 0;
    std::int64_t steps = 0;
    for (auto _ : bench) {
        GrammarStates states(grammar);
        follow(states, text);
        const auto count = static_cast<GrammarStates::State>(states.size());
        for (GrammarStates::State state = 0; state < count; ++state) {
            for (Symbol symbol = 0; symbol < kFirstTag; ++symbol)
                benchmark::DoNotOptimize(states.next(state, symbol));
        }
        steps += std::int64_t { count } * kFirstTag;
        made = states.size();
    }
    bench.counters["states"] = static_cast<double>(made);
    bench.SetItemsProcessed(steps);
}

BENCHMARK(compile);
BENCHMARK(coldSteps);
BENCHMARK(warmSteps);
BENCHMARK(everyByte);

} // namespace

BENCHMARK_MAIN();
