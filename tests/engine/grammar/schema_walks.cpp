// SPDX-License-Identifier: MIT
//
// Writes random texts of every supported schema of tests/data/schemas, for check_schema_walks.py:
// one JSON object a line, {"name", "schema", "error"} or {"name", "schema", "texts"}.
#include "engine/grammar/json_grammar.h"
#include "tests/engine/grammar/grammar_walk.h"
#include "tests/engine/grammar/schema_data.h"

#include <cstdlib>
#include <iostream>
#include <utility>

using namespace firesteel::engine;
using namespace firesteel::test;

namespace {

std::string quoted(const std::string &text)
{
    return dumpPromptJson({ PromptJson::Kind::String, text, {}, {} });
}

} // namespace

int main(int argc, char **argv)
{
    const int walks = argc > 1 ? std::atoi(argv[1]) : 20;
    std::mt19937 random(23);
    for (const SchemaSample &sample : schemaSamples()) {
        std::cout << "{\"name\": " << quoted(sample.name) << ", \"schema\": " << sample.schema;
        const Result<GrammarPointer> grammar = jsonSchemaGrammar(sample.schema);
        if (!grammar) {
            std::cout << ", \"error\": " << quoted(grammar.error().message) << "}\n";
            continue;
        }
        std::cout << ", \"texts\": [";
        GrammarStates states(*grammar);
        const char *separator = "";
        for (int i = 0; i < walks; ++i) {
            const Walk walk = randomWalk(states, random, random() % 200);
            if (walk.hasEnded)
                std::cout << std::exchange(separator, ", ") << quoted(walk.text());
        }
        std::cout << "]}\n";
    }
    return std::cout.good() ? 0 : 1;
}
