// SPDX-License-Identifier: MIT
//
// A JSON schema as it was read: the keywords that are honoured, references resolved to numbers.
// What combines schemas works on conjunctions: sets of schemas that must all hold.
#pragma once

#include "engine/grammar/number_rules.h"
#include "engine/grammar/text_automaton.h"
#include "engine/text/prompt_json.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace firesteel::engine {

// A set of these is a mask. JSON Schema's "number" is both kinds of numbers.
enum class JsonType : std::uint8_t {
    Null = 1,
    Boolean = 2,
    Integer = 4,
    Fraction = 8,
    String = 16,
    Array = 32,
    Object = 64,
};
using JsonTypes = std::uint8_t;
inline constexpr JsonTypes kAllJsonTypes = 127;

constexpr bool hasType(JsonTypes types, JsonType type)
{
    return (types & static_cast<JsonTypes>(type)) != 0;
}

JsonType jsonTypeOf(const PromptJson &value);
// JSON Schema's equality: numbers by value, objects in any order.
bool isEqualJson(const PromptJson &a, const PromptJson &b);

using SchemaId = std::int32_t;
using Conjunction = std::vector<SchemaId>; // sorted, each once; empty: anything

struct JsonSchema
{
    std::string place {}; // JSON pointer
    JsonTypes types = kAllJsonTypes; // none: the schema `false`
    bool hasEnum = false;
    std::vector<PromptJson> enumValues {}; // of "enum", or the one of "const"

    std::size_t minLength = 0;
    std::optional<std::size_t> maxLength {};
    std::vector<std::shared_ptr<const TextAutomaton>> patterns {}; // of "pattern" and "format"

    NumberBounds bounds {};

    std::vector<SchemaId> prefixItems {};
    std::optional<SchemaId> items {};
    std::size_t minItems = 0;
    std::optional<std::size_t> maxItems {};

    std::vector<std::string> propertyNames {}; // in the order declared
    std::unordered_map<std::string, SchemaId> properties {};
    std::vector<std::string> required {};
    std::optional<SchemaId> additionalProperties {};

    std::optional<SchemaId> reference {};
    std::vector<SchemaId> allOf {};
    std::vector<SchemaId> anyOf {};
    std::vector<SchemaId> oneOf {};

    bool restrictsNothing = false; // {}, true, or annotations alone
};

struct JsonSchemas
{
    std::vector<JsonSchema> all; // the first one is the whole

    const JsonSchema &operator[](SchemaId id) const { return all[static_cast<std::size_t>(id)]; }

    // The schemas named, with what they refer to and their "allOf"; without those that restrict
    // nothing.
    Conjunction expanded(const std::vector<SchemaId> &ids) const;
    JsonTypes typesOf(const Conjunction &conjunction) const; // at most these
    // What an object's value of `key` has to satisfy, and an array's item; not expanded.
    std::vector<SchemaId> propertySchemas(const Conjunction &object, const std::string &key) const;
    std::vector<SchemaId> itemSchemas(const Conjunction &array, std::size_t index) const;
};

} // namespace firesteel::engine
