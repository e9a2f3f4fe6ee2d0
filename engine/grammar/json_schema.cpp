// SPDX-License-Identifier: MIT
#include "engine/grammar/json_schema.h"

#include <algorithm>

namespace firesteel::engine {

namespace {

// One whose value has no other spelling but with a fraction or an exponent.
bool isPlainInteger(std::string_view number)
{
    return number != "-0" && number.find_first_of(".eE") == std::string_view::npos;
}

} // namespace

JsonType jsonTypeOf(const PromptJson &value)
{
    switch (value.kind) {
    case PromptJson::Kind::Null:
        return JsonType::Null;
    case PromptJson::Kind::Boolean:
        return JsonType::Boolean;
    case PromptJson::Kind::Number:
        return decimalOf(value.text).isInteger() ? JsonType::Integer : JsonType::Fraction;
    case PromptJson::Kind::String:
        return JsonType::String;
    case PromptJson::Kind::Array:
        return JsonType::Array;
    case PromptJson::Kind::Object:
        break;
    }
    return JsonType::Object;
}

bool isEqualJson(const PromptJson &a, const PromptJson &b)
{
    if (a.kind != b.kind || a.items.size() != b.items.size())
        return false;
    switch (a.kind) {
    case PromptJson::Kind::Null:
        return true;
    case PromptJson::Kind::Number:
        if (a.text == b.text || (isPlainInteger(a.text) && isPlainInteger(b.text)))
            return a.text == b.text;
        return decimalOf(a.text) == decimalOf(b.text);
    case PromptJson::Kind::Boolean:
    case PromptJson::Kind::String:
        return a.text == b.text;
    case PromptJson::Kind::Array:
        return std::ranges::equal(a.items, b.items, isEqualJson);
    case PromptJson::Kind::Object:
        break;
    }
    for (std::size_t i = 0; i < a.keys.size(); ++i) {
        const PromptJson *other = b.find(a.keys[i]);
        if (other == nullptr || !isEqualJson(a.items[i], *other))
            return false;
    }
    return true;
}

Conjunction JsonSchemas::expanded(const std::vector<SchemaId> &ids) const
{
    Conjunction found;
    std::vector<SchemaId> pending = ids;
    while (!pending.empty()) {
        const SchemaId id = pending.back();
        pending.pop_back();
        const auto place = std::ranges::lower_bound(found, id);
        if ((*this)[id].restrictsNothing || (place != found.end() && *place == id))
            continue;
        found.insert(place, id);
        const JsonSchema &schema = (*this)[id];
        pending.insert(pending.end(), schema.allOf.begin(), schema.allOf.end());
        if (schema.reference)
            pending.push_back(*schema.reference);
    }
    return found;
}

JsonTypes JsonSchemas::typesOf(const Conjunction &conjunction) const
{
    JsonTypes types = kAllJsonTypes;
    for (const SchemaId id : conjunction) {
        const JsonSchema &schema = (*this)[id];
        types &= schema.types;
        if (!schema.hasEnum)
            continue;
        JsonTypes ofValues = 0;
        for (const PromptJson &value : schema.enumValues)
            ofValues |= static_cast<JsonTypes>(jsonTypeOf(value));
        types &= ofValues;
    }
    return types;
}

std::vector<SchemaId> JsonSchemas::propertySchemas(const Conjunction &object,
                                                   const std::string &key) const
{
    std::vector<SchemaId> ids;
    for (const SchemaId id : object) {
        const JsonSchema &schema = (*this)[id];
        if (const auto property = schema.properties.find(key); property != schema.properties.end())
            ids.push_back(property->second);
        else if (schema.additionalProperties)
            ids.push_back(*schema.additionalProperties);
    }
    return ids;
}

std::vector<SchemaId> JsonSchemas::itemSchemas(const Conjunction &array, std::size_t index) const
{
    std::vector<SchemaId> ids;
    for (const SchemaId id : array) {
        const JsonSchema &schema = (*this)[id];
        if (index < schema.prefixItems.size())
            ids.push_back(schema.prefixItems[index]);
        else if (schema.items)
            ids.push_back(*schema.items);
    }
    return ids;
}

} // namespace firesteel::engine
