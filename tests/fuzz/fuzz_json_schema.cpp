// SPDX-License-Identifier: MIT
//
// Input: a seed for the walks, then a JSON schema. A schema that is taken writes only JSON that
// satisfies it, never gets stuck, and says the same after old states were dropped; the same bytes
// as the parameters of a tool must not crash either.
#include "engine/grammar/grammar_states.h"
#include "engine/grammar/json_grammar.h"
#include "engine/grammar/json_schema_check.h"
#include "engine/grammar/json_schema_reader.h"
#include "engine/grammar/tool_call_grammar.h"

#include <array>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

using namespace firesteel::engine;

namespace {

constexpr int kWalks = 4;
constexpr std::size_t kMaxLength = 400;

void require(bool claim)
{
    if (!claim)
        std::abort();
}

// A walk that after kMaxLength symbols just stops: whether it ends is not the question here.
void walk(GrammarStates &states, std::minstd_rand &random, const JsonSchemas *schemas)
{
    GrammarStates::State state = states.start();
    std::string text;
    for (std::size_t length = 0; length < kMaxLength; ++length) {
        std::vector<Symbol> next;
        for (Symbol symbol = 0; symbol < kSymbolCount; ++symbol) {
            if (states.next(state, symbol) != GrammarStates::kDead)
                next.push_back(symbol);
        }
        require(states.hasNext(state) == !next.empty());
        require(states.mayEnd(state) || !next.empty());
        if (states.mayEnd(state) && schemas != nullptr) {
            const Result<PromptJson> value = parsePromptJson(text, "walk");
            require(value.has_value() && allowsJson(*schemas, { 0 }, *value));
        }
        if (next.empty())
            return;
        // What closes comes first now and then; otherwise strings would never end.
        Symbol chosen = next[random() % next.size()];
        for (const char c : { '"', '}', ']', ',', ':' }) {
            if (random() % 3 == 0 && states.next(state, static_cast<Symbol>(c)) >= 0)
                chosen = static_cast<Symbol>(c);
        }
        if (chosen < kFirstTag)
            text += static_cast<char>(chosen);
        state = states.next(state, chosen);
        const std::array<GrammarStates::State *, 1> live { &state };
        states.trim(live);
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
    if (size == 0)
        return 0;
    std::minstd_rand random(data[0] + 1U);
    const std::string schema(reinterpret_cast<const char *>(data) + 1, size - 1);
    if (const auto grammar = jsonSchemaGrammar(schema)) {
        const auto schemas = readJsonSchema(schema, "schema");
        require(schemas.has_value());
        GrammarStates states(*grammar);
        for (int i = 0; i < kWalks; ++i)
            walk(states, random, &*schemas);
    } else {
        require(grammar.error().code == ErrorCode::BadRequest && !grammar.error().message.empty());
    }
    const std::array<CallableTool, 1> tools { { { "f", schema } } };
    if (const auto grammar = toolCallGrammar(tools, true)) {
        GrammarStates states(*grammar);
        walk(states, random, nullptr);
    }
    return 0;
}
