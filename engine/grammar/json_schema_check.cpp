// SPDX-License-Identifier: MIT
#include "engine/grammar/json_schema_check.h"

#include <algorithm>
#include <map>
#include <utility>

namespace firesteel::engine {

namespace {

constexpr int kDisjointDepth = 3; // properties of properties

class Check
{
public:
    explicit Check(const JsonSchemas &schemas)
        : m_schemas(schemas)
    {
    }

    bool allows(SchemaId id, const PromptJson &value)
    {
        // Schemas that share parts would be asked the same again and again.
        const auto key = std::pair(id, &value);
        if (const auto known = m_known.find(key); known != m_known.end())
            return known->second;
        const bool allowed = ask(m_schemas[id], value);
        m_known[key] = allowed;
        return allowed;
    }

private:
    bool ask(const JsonSchema &schema, const PromptJson &value)
    {
        if (!hasType(schema.types, jsonTypeOf(value)))
            return false;
        const auto equals = [&](const PromptJson &other) { return isEqualJson(value, other); };
        if (schema.hasEnum && std::ranges::none_of(schema.enumValues, equals))
            return false;
        const auto holds = [&](SchemaId id) { return allows(id, value); };
        if (!std::ranges::all_of(schema.allOf, holds)
            || (schema.reference && !allows(*schema.reference, value))
            || (!schema.anyOf.empty() && std::ranges::none_of(schema.anyOf, holds))
            || (!schema.oneOf.empty() && std::ranges::count_if(schema.oneOf, holds) != 1))
            return false;
        switch (value.kind) {
        case PromptJson::Kind::Null:
        case PromptJson::Kind::Boolean:
            return true;
        case PromptJson::Kind::Number:
            return schema.bounds.allows(decimalOf(value.text));
        case PromptJson::Kind::String: {
            const std::size_t length = codePointsOf(value.text).size();
            return length >= schema.minLength && length <= schema.maxLength.value_or(length)
                && std::ranges::all_of(schema.patterns, [&](const auto &pattern) {
                       return pattern->matches(value.text);
                   });
        }
        case PromptJson::Kind::Array:
            return allowsItems(schema, value);
        case PromptJson::Kind::Object:
            break;
        }
        return allowsProperties(schema, value);
    }

    bool allowsItems(const JsonSchema &schema, const PromptJson &value)
    {
        const std::size_t count = value.items.size();
        if (count < schema.minItems || count > schema.maxItems.value_or(count))
            return false;
        for (std::size_t i = 0; i < count; ++i) {
            const bool isPrefix = i < schema.prefixItems.size();
            if (isPrefix ? !allows(schema.prefixItems[i], value.items[i])
                         : schema.items && !allows(*schema.items, value.items[i]))
                return false;
        }
        return true;
    }

    bool allowsProperties(const JsonSchema &schema, const PromptJson &value)
    {
        for (const std::string &name : schema.required) {
            if (value.find(name) == nullptr)
                return false;
        }
        for (std::size_t i = 0; i < value.keys.size(); ++i) {
            const auto property = schema.properties.find(value.keys[i]);
            const bool isKnown = property != schema.properties.end();
            if (isKnown ? !allows(property->second, value.items[i])
                        : schema.additionalProperties
                        && !allows(*schema.additionalProperties, value.items[i]))
                return false;
        }
        return true;
    }

    const JsonSchemas &m_schemas;
    std::map<std::pair<SchemaId, const PromptJson *>, bool> m_known;
};

const JsonSchema *enumerated(const JsonSchemas &schemas, const Conjunction &all)
{
    const auto found = std::ranges::find_if(all, [&](SchemaId id) { return schemas[id].hasEnum; });
    return found == all.end() ? nullptr : &schemas[*found];
}

bool areDisjoint(const JsonSchemas &schemas, const Conjunction &a, const Conjunction &b, int depth)
{
    const JsonTypes common = schemas.typesOf(a) & schemas.typesOf(b);
    if (common == 0)
        return true;
    for (const JsonSchema *values : { enumerated(schemas, a), enumerated(schemas, b) }) {
        if (values != nullptr
            && std::ranges::none_of(values->enumValues, [&](const PromptJson &value) {
                   return allowsJson(schemas, a, value) && allowsJson(schemas, b, value);
               }))
            return true;
    }
    if (common != static_cast<JsonTypes>(JsonType::Object) || depth == 0)
        return false;
    for (const Conjunction *one : { &a, &b }) {
        for (const SchemaId id : *one) {
            for (const std::string &name : schemas[id].required) {
                if (areDisjoint(schemas, schemas.expanded(schemas.propertySchemas(a, name)),
                                schemas.expanded(schemas.propertySchemas(b, name)), depth - 1))
                    return true;
            }
        }
    }
    return false;
}

} // namespace

bool allowsJson(const JsonSchemas &schemas, const Conjunction &all, const PromptJson &value)
{
    Check check(schemas);
    return std::ranges::all_of(all, [&](SchemaId id) { return check.allows(id, value); });
}

bool areDisjoint(const JsonSchemas &schemas, const Conjunction &a, const Conjunction &b)
{
    return areDisjoint(schemas, a, b, kDisjointDepth);
}

} // namespace firesteel::engine
