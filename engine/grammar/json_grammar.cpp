// SPDX-License-Identifier: MIT
#include "engine/grammar/json_grammar.h"

#include "engine/grammar/json_schema_reader.h"
#include "engine/grammar/json_value_rules.h"

#include <format>
#include <stdexcept>
#include <utility>

namespace firesteel::engine {

namespace {

Result<std::shared_ptr<const Grammar>> grammarOf(const JsonSchemas &schemas)
{
    GrammarBuilder builder;
    StringRules strings(builder);
    JsonValueRules values(builder, strings, schemas);
    const GrammarBuilder::Rule start = values.valueRule({ 0 });
    if (const Result<void> finished = values.finish(); !finished)
        return std::unexpected(finished.error());
    return builder.build(start);
}

} // namespace

std::shared_ptr<const Grammar> jsonObjectGrammar()
{
    static const std::shared_ptr<const Grammar> made = [] {
        JsonSchemas schemas;
        schemas.all.push_back({ .types = static_cast<JsonTypes>(JsonType::Object) });
        Result<std::shared_ptr<const Grammar>> grammar = grammarOf(schemas);
        if (!grammar)
            throw std::logic_error("the grammar of JSON: " + grammar.error().message);
        return std::move(*grammar);
    }();
    return made;
}

Result<std::shared_ptr<const Grammar>> jsonSchemaGrammar(std::string_view schema)
{
    constexpr std::string_view kWhat = "response schema";
    const Result<JsonSchemas> schemas = readJsonSchema(schema, kWhat);
    if (!schemas)
        return std::unexpected(schemas.error());
    Result<std::shared_ptr<const Grammar>> grammar = grammarOf(*schemas);
    if (!grammar)
        return fail(grammar.error().code, std::format("{}: {}", kWhat, grammar.error().message));
    return grammar;
}

} // namespace firesteel::engine
