// SPDX-License-Identifier: MIT
//
// 351 schemas: what the JSON Schema Test Suite calls invalid is never in the grammar, and what
// random walks write satisfies the schema (here by this project's own check, in "schema walks" by
// another implementation).
#include "engine/grammar/json_grammar.h"
#include "engine/grammar/json_schema_check.h"
#include "engine/grammar/json_schema_reader.h"
#include "tests/engine/grammar/grammar_walk.h"
#include "tests/engine/grammar/schema_data.h"

#include <doctest/doctest.h>

using namespace firesteel::engine;
using namespace firesteel::test;

TEST_CASE("the test suite's invalid values are not in the grammar")
{
    int supported = 0;
    int refused = 0;
    int valid = 0;
    int accepted = 0;
    int invalid = 0;
    for (const SchemaSample &sample : schemaSamples()) {
        CAPTURE(sample.name);
        const Result<GrammarPointer> grammar = jsonSchemaGrammar(sample.schema);
        ++(grammar ? supported : refused);
        if (!grammar) {
            CHECK(grammar.error().message.starts_with("response schema: "));
            continue;
        }
        for (const PromptJson &value : sample.invalid) {
            const std::string text = dumpPromptJson(value);
            CAPTURE(text);
            CHECK_FALSE(accepts(*grammar, text));
            ++invalid;
        }
        for (const PromptJson &value : sample.valid) {
            accepted += accepts(*grammar, dumpPromptJson(value)) ? 1 : 0;
            ++valid;
        }
    }
    MESSAGE(supported, " schemas supported, ", refused, " refused; ", invalid,
            " invalid values, none accepted; ", accepted, " of ", valid, " valid ones accepted");
    CHECK(supported == 232);
    CHECK(refused == 119);
    CHECK(accepted == 369);
}

TEST_CASE("random walks satisfy their schemas")
{
    std::mt19937 random(11);
    int walks = 0;
    int ended = 0;
    for (const SchemaSample &sample : schemaSamples()) {
        const Result<GrammarPointer> grammar = jsonSchemaGrammar(sample.schema);
        if (!grammar)
            continue;
        CAPTURE(sample.name);
        const Result<JsonSchemas> schemas = readJsonSchema(sample.schema, "schema");
        REQUIRE(schemas.has_value());
        GrammarStates states(*grammar);
        for (int i = 0; i < 10; ++i) {
            const Walk walk = randomWalk(states, random, random() % 150);
            CHECK_FALSE(walk.wasStuck);
            ++walks;
            if (!walk.hasEnded)
                continue;
            ++ended;
            const std::string text = walk.text();
            CAPTURE(text);
            const Result<PromptJson> value = parsePromptJson(text, "walk");
            REQUIRE_MESSAGE(value.has_value(), value.error().message);
            CHECK(allowsJson(*schemas, { 0 }, *value));
        }
    }
    MESSAGE(ended, " of ", walks, " walks ended");
    CHECK(ended * 20 > walks * 19);
}
