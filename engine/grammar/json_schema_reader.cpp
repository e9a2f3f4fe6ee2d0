// SPDX-License-Identifier: MIT
#include "engine/grammar/json_schema_reader.h"

#include "engine/base/printable.h"
#include "engine/grammar/text_formats.h"
#include "engine/grammar/text_pattern.h"

#include <algorithm>
#include <array>
#include <format>
#include <map>
#include <utility>

namespace firesteel::engine {

namespace {

using Kind = PromptJson::Kind;

// Keywords that describe and never restrict. "format" of numbers is one, too.
constexpr std::array<std::string_view, 15> kAnnotations {
    "title",     "description",   "default",  "examples",        "example",
    "$schema",   "$comment",      "nullable", "deprecated",      "readOnly",
    "writeOnly", "discriminator", "$defs",    "contentEncoding", "contentMediaType",
};
constexpr std::array<std::string_view, 7> kTypeNames { "null",   "boolean", "integer", "number",
                                                       "string", "array",   "object" };
constexpr std::array<JsonTypes, 7> kTypeMasks { 1, 2, 4, 12, 16, 32, 64 };

// One part of a JSON pointer as RFC 6901 writes it.
std::string escapedPart(std::string_view part)
{
    std::string escaped;
    for (const char c : part) {
        if (c == '~' || c == '/')
            escaped += c == '~' ? "~0" : "~1";
        else
            escaped += c;
    }
    return escaped;
}

// Undoes that and, in a URI fragment, percent-encoding.
std::string unescapedPart(std::string_view part)
{
    const auto hex = [](char c) {
        constexpr std::string_view kDigits = "0123456789abcdef";
        return kDigits.find(static_cast<char>(c >= 'A' && c <= 'F' ? c + ('a' - 'A') : c));
    };
    std::string text;
    for (std::size_t i = 0; i < part.size(); ++i) {
        if (part[i] == '%' && i + 2 < part.size() && hex(part[i + 1]) < 16
            && hex(part[i + 2]) < 16) {
            text += static_cast<char>(hex(part[i + 1]) << 4U | hex(part[i + 2]));
            i += 2;
        } else {
            text += part[i];
        }
    }
    std::string plain;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '~' && i + 1 < text.size() && (text[i + 1] == '0' || text[i + 1] == '1'))
            plain += text[++i] == '0' ? '~' : '/';
        else
            plain += text[i];
    }
    return plain;
}

class Reader
{
public:
    Reader(const PromptJson &document, std::string_view what)
        : m_document(document)
        , m_what(what)
    {
    }

    Result<JsonSchemas> read()
    {
        idOf(m_document, "");
        // Reading one names others; their places are known by then.
        for (std::size_t i = 0; i < m_pending.size() && m_error.empty(); ++i)
            readOne(static_cast<SchemaId>(i), *m_pending[i]);
        if (m_error.empty())
            refuseCircles();
        if (!m_error.empty())
            return fail(ErrorCode::BadRequest, std::format("{}: {}", m_what, m_error));
        return std::move(m_schemas);
    }

private:
    void refuse(const std::string &place, std::string_view why)
    {
        if (m_error.empty())
            m_error
                = place.empty() ? std::string(why) : std::format("{}: {}", printable(place), why);
    }

    SchemaId idOf(const PromptJson &json, const std::string &place)
    {
        const auto [known, isNew]
            = m_ids.try_emplace(&json, static_cast<SchemaId>(m_pending.size()));
        if (isNew) {
            m_pending.push_back(&json);
            m_schemas.all.emplace_back().place = place;
            if (m_pending.size() > kMaxSchemas)
                refuse("", std::format("more than {} schemas", kMaxSchemas));
        }
        return known->second;
    }

    void readOne(SchemaId id, const PromptJson &json)
    {
        // idOf() moves the schemas.
        JsonSchema schema { .place = m_schemas[id].place };
        if (json.kind == Kind::Boolean) {
            schema.types = json.isTruthy() ? kAllJsonTypes : JsonTypes { 0 };
            schema.restrictsNothing = json.isTruthy();
        } else if (json.kind != Kind::Object) {
            refuse(schema.place, "a schema is an object, true or false");
        } else {
            schema.restrictsNothing
                = std::ranges::all_of(json.keys, [](const std::string &keyword) {
                      return std::ranges::find(kAnnotations, keyword) != kAnnotations.end();
                  });
            for (std::size_t i = 0; i < json.keys.size() && m_error.empty(); ++i)
                readKeyword(schema, json, json.keys[i], json.items[i]);
        }
        m_schemas.all[static_cast<std::size_t>(id)] = std::move(schema);
    }

    void readKeyword(JsonSchema &schema, const PromptJson &json, const std::string &keyword,
                     const PromptJson &value)
    {
        using Read = void (Reader::*)(JsonSchema &, const std::string &, const PromptJson &);
        static const std::map<std::string_view, Read> kKeywords {
            { "type", &Reader::readType },
            { "enum", &Reader::readEnum },
            { "const", &Reader::readEnum },
            { "minLength", &Reader::readMinimum },
            { "minItems", &Reader::readMinimum },
            { "maxLength", &Reader::readMaximum },
            { "maxItems", &Reader::readMaximum },
            { "pattern", &Reader::readPattern },
            { "minimum", &Reader::readBound },
            { "maximum", &Reader::readBound },
            { "exclusiveMinimum", &Reader::readBound },
            { "exclusiveMaximum", &Reader::readBound },
            { "items", &Reader::readOneSchema },
            { "additionalProperties", &Reader::readOneSchema },
            { "prefixItems", &Reader::readSchemaList },
            { "allOf", &Reader::readSchemaList },
            { "anyOf", &Reader::readSchemaList },
            { "oneOf", &Reader::readSchemaList },
            { "properties", &Reader::readProperties },
            { "required", &Reader::readRequired },
            { "$ref", &Reader::readReference },
        };
        if (const auto known = kKeywords.find(keyword); known != kKeywords.end()) {
            (this->*known->second)(schema, keyword, value);
            return;
        }
        if (keyword == "format") {
            readFormat(schema, json, value);
            return;
        }
        const bool restrictsNothing = std::ranges::find(kAnnotations, keyword) != kAnnotations.end()
            || keyword == "definitions" || (keyword == "$id" && schema.place.empty())
            || (keyword == "uniqueItems" && value.kind == Kind::Boolean && !value.isTruthy())
            || (keyword == "minProperties" && value.text == "0")
            || (keyword == "propertyNames" && allowsEveryString(value));
        if (!restrictsNothing)
            refuse(schema.place,
                   keyword == "$id" ? "'$id' is supported only where the schema begins"
                                    : std::format("'{}' is not supported", printable(keyword)));
    }

    // As generators of schemas write it for maps: true, {} or {"type": "string"}.
    static bool allowsEveryString(const PromptJson &schema)
    {
        if (schema.kind == Kind::Boolean)
            return schema.isTruthy();
        return schema.kind == Kind::Object
            && (schema.keys.empty()
                || (schema.keys.size() == 1 && schema.keys.front() == "type"
                    && schema.items.front().text == "string"));
    }

    void readType(JsonSchema &schema, const std::string & /*keyword*/, const PromptJson &value)
    {
        JsonTypes types = 0;
        const auto add = [&](const PromptJson &name) {
            const auto *known = std::ranges::find(kTypeNames, name.text);
            if (name.kind != Kind::String || known == kTypeNames.end())
                refuse(schema.place,
                       std::format("'type': '{}' is no type of JSON Schema", printable(name.text)));
            else
                types |= kTypeMasks[static_cast<std::size_t>(known - kTypeNames.begin())];
        };
        if (value.kind == Kind::Array)
            std::ranges::for_each(value.items, add);
        else
            add(value);
        schema.types &= types;
    }

    void readEnum(JsonSchema &schema, const std::string &keyword, const PromptJson &value)
    {
        const bool isConst = keyword == "const";
        if (!isConst && value.kind != Kind::Array) {
            refuse(schema.place, "'enum': expected an array");
            return;
        }
        if (value.items.size() > kMaxEnumValues) {
            refuse(schema.place,
                   std::format("'{}' has more than {} values", keyword, kMaxEnumValues));
            return;
        }
        std::vector<PromptJson> values = isConst ? std::vector { value } : value.items;
        if (schema.hasEnum) // the other of the two keywords
            std::erase_if(values, [&schema](const PromptJson &candidate) {
                return std::ranges::none_of(schema.enumValues, [&](const PromptJson &other) {
                    return isEqualJson(candidate, other);
                });
            });
        if (std::ranges::any_of(values,
                                [](const PromptJson &v) { return depthOf(v) > kMaxValueDepth; }))
            refuse(schema.place,
                   std::format("'{}' has a value nested deeper than {} levels", keyword,
                               kMaxValueDepth));
        schema.hasEnum = true;
        schema.enumValues = std::move(values);
    }

    static std::size_t depthOf(const PromptJson &value)
    {
        std::size_t depth = 0;
        for (const PromptJson &item : value.items)
            depth = std::max(depth, depthOf(item));
        return depth + 1;
    }

    // A count that is at least 0; beyond 9 digits it is as good as any.
    std::optional<std::size_t> countOf(const JsonSchema &schema, const std::string &keyword,
                                       const PromptJson &value)
    {
        const Decimal number = value.kind == Kind::Number ? decimalOf(value.text) : Decimal {};
        if (value.kind != Kind::Number || number.isNegative || !number.isInteger()) {
            refuse(schema.place, std::format("'{}': expected a whole number from 0 on", keyword));
            return {};
        }
        if (number.whole.size() > 9)
            return 999'999'999;
        return number.whole.empty() ? 0 : std::stoul(number.whole);
    }

    void readMinimum(JsonSchema &schema, const std::string &keyword, const PromptJson &value)
    {
        const bool isLength = keyword == "minLength";
        const std::size_t limit = isLength ? kMaxStringLength : kMaxArrayItems;
        const std::optional<std::size_t> count = countOf(schema, keyword, value);
        if (count && *count > limit)
            refuse(schema.place, std::format("'{}' above {} is not supported", keyword, limit));
        else if (count)
            (isLength ? schema.minLength : schema.minItems) = *count;
    }

    void readMaximum(JsonSchema &schema, const std::string &keyword, const PromptJson &value)
    {
        const bool isLength = keyword == "maxLength";
        const std::optional<std::size_t> count = countOf(schema, keyword, value);
        if (count)
            (isLength ? schema.maxLength : schema.maxItems)
                = std::min(*count, isLength ? kMaxStringLength : kMaxArrayItems);
    }

    void readPattern(JsonSchema &schema, const std::string & /*keyword*/, const PromptJson &value)
    {
        if (value.kind != Kind::String)
            refuse(schema.place, "'pattern': expected a string");
        else
            addPattern(schema, "pattern", value.text);
    }

    void addPattern(JsonSchema &schema, std::string_view keyword, std::string_view pattern)
    {
        std::shared_ptr<const TextAutomaton> &automaton = m_patterns[std::string(pattern)];
        if (automaton == nullptr) {
            if (m_patterns.size() > kMaxPatterns) {
                refuse("", std::format("more than {} patterns", kMaxPatterns));
                return;
            }
            Result<TextAutomaton> made = textPattern(pattern);
            if (!made) {
                refuse(schema.place,
                       std::format("'{}' '{}': {}", keyword, printable(pattern.substr(0, 200)),
                                   made.error().message));
                return;
            }
            automaton = std::make_shared<const TextAutomaton>(std::move(*made));
        }
        schema.patterns.push_back(automaton);
    }

    // A format says nothing of a value that is no string.
    void readFormat(JsonSchema &schema, const PromptJson &json, const PromptJson &value)
    {
        const PromptJson *type = json.find("type");
        const bool mayBeString = type == nullptr || type->text == "string"
            || std::ranges::any_of(type->items,
                                   [](const PromptJson &item) { return item.text == "string"; });
        if (value.kind != Kind::String) {
            refuse(schema.place, "'format': expected a string");
        } else if (mayBeString) {
            const std::string_view pattern = formatPattern(value.text);
            if (pattern.empty())
                refuse(schema.place,
                       std::format("'format' '{}' is not supported", printable(value.text)));
            else
                addPattern(schema, "format", pattern);
        }
    }

    void readBound(JsonSchema &schema, const std::string &keyword, const PromptJson &value)
    {
        if (value.kind != Kind::Number) {
            refuse(schema.place, std::format("'{}': expected a number", keyword));
            return;
        }
        const bool isExcluded = keyword.starts_with("exclusive");
        if (keyword.ends_with("inimum"))
            schema.bounds.raiseMin(decimalOf(value.text), isExcluded);
        else
            schema.bounds.lowerMax(decimalOf(value.text), isExcluded);
    }

    void readOneSchema(JsonSchema &schema, const std::string &keyword, const PromptJson &value)
    {
        const SchemaId id = idOf(value, std::format("{}/{}", schema.place, keyword));
        (keyword == "items" ? schema.items : schema.additionalProperties) = id;
    }

    void readSchemaList(JsonSchema &schema, const std::string &keyword, const PromptJson &value)
    {
        if (value.kind != Kind::Array || value.items.empty()) {
            refuse(schema.place, std::format("'{}': expected an array of schemas", keyword));
            return;
        }
        if (value.items.size() > kMaxAlternatives) {
            refuse(schema.place,
                   std::format("'{}' has more than {} schemas", keyword, kMaxAlternatives));
            return;
        }
        std::vector<SchemaId> &list = keyword == "prefixItems" ? schema.prefixItems
            : keyword == "allOf"                               ? schema.allOf
            : keyword == "anyOf"                               ? schema.anyOf
                                                               : schema.oneOf;
        for (std::size_t i = 0; i < value.items.size(); ++i)
            list.push_back(idOf(value.items[i], std::format("{}/{}/{}", schema.place, keyword, i)));
    }

    void readProperties(JsonSchema &schema, const std::string & /*keyword*/,
                        const PromptJson &value)
    {
        if (value.kind != Kind::Object) {
            refuse(schema.place, "'properties': expected an object");
            return;
        }
        schema.propertyNames = value.keys;
        for (std::size_t i = 0; i < value.items.size(); ++i)
            schema.properties[value.keys[i]]
                = idOf(value.items[i],
                       std::format("{}/properties/{}", schema.place, escapedPart(value.keys[i])));
    }

    void readRequired(JsonSchema &schema, const std::string & /*keyword*/, const PromptJson &value)
    {
        if (value.kind != Kind::Array
            || std::ranges::any_of(
                value.items, [](const PromptJson &name) { return name.kind != Kind::String; })) {
            refuse(schema.place, "'required': expected an array of strings");
            return;
        }
        for (const PromptJson &name : value.items)
            schema.required.push_back(name.text);
    }

    void readReference(JsonSchema &schema, const std::string & /*keyword*/, const PromptJson &value)
    {
        if (value.kind != Kind::String || !value.text.starts_with('#')
            || (value.text.size() > 1 && value.text[1] != '/')) {
            refuse(schema.place,
                   std::format("'$ref' '{}' is not supported, only '#' and '#/...'",
                               printable(value.text)));
            return;
        }
        const PromptJson *target = &m_document;
        std::string place;
        std::string_view rest = std::string_view(value.text).substr(1);
        while (target != nullptr && !rest.empty()) {
            rest.remove_prefix(1);
            const std::string part = unescapedPart(rest.substr(0, rest.find('/')));
            rest.remove_prefix(std::min(rest.find('/'), rest.size()));
            place += "/" + escapedPart(part);
            target = childOf(*target, part);
        }
        if (target == nullptr)
            refuse(schema.place, std::format("'$ref' '{}' leads nowhere", printable(value.text)));
        else
            schema.reference = idOf(*target, place);
    }

    static const PromptJson *childOf(const PromptJson &json, const std::string &part)
    {
        if (json.kind == Kind::Object)
            return json.find(part);
        const bool isIndex = json.kind == Kind::Array && !part.empty() && part.size() < 6
            && part.find_first_not_of("0123456789") == std::string::npos;
        const std::size_t index = isIndex ? std::stoul(part) : json.items.size();
        return index < json.items.size() ? &json.items[index] : nullptr;
    }

    // Schemas of one and the same value must not come back to themselves.
    void refuseCircles()
    {
        enum class Mark : std::uint8_t { New, Open, Done };
        std::vector<Mark> marks(m_schemas.all.size());
        std::vector<SchemaId> path;
        std::size_t openCount = 0;
        const auto visit = [&](SchemaId id) {
            Mark &mark = marks[static_cast<std::size_t>(id)];
            if (mark == Mark::Open)
                refuse(m_schemas[id].place, "refers to itself without a value between");
            if (mark == Mark::New)
                path.push_back(id);
        };
        for (SchemaId first = 0; std::cmp_less(first, marks.size()); ++first) {
            visit(first);
            while (!path.empty() && m_error.empty()) {
                const SchemaId id = path.back();
                Mark &mark = marks[static_cast<std::size_t>(id)];
                if (mark != Mark::New) {
                    openCount -= mark == Mark::Open ? 1 : 0;
                    mark = Mark::Done;
                    path.pop_back();
                    continue;
                }
                mark = Mark::Open;
                const JsonSchema &schema = m_schemas[id];
                if (++openCount > kMaxReferenceDepth)
                    refuse(schema.place,
                           std::format("refers through more than {} schemas", kMaxReferenceDepth));
                for (const auto *list : { &schema.allOf, &schema.anyOf, &schema.oneOf })
                    std::ranges::for_each(*list, visit);
                if (schema.reference)
                    visit(*schema.reference);
            }
        }
    }

    static constexpr std::size_t kMaxPatterns = 100;
    static constexpr std::size_t kMaxReferenceDepth = 32; // of $ref and allOf, anyOf, oneOf
    static constexpr std::size_t kMaxValueDepth = 32;

    const PromptJson &m_document;
    std::string_view m_what;
    std::string m_error;
    JsonSchemas m_schemas;
    std::vector<const PromptJson *> m_pending; // by number; m_schemas has as many
    std::unordered_map<const PromptJson *, SchemaId> m_ids;
    std::map<std::string, std::shared_ptr<const TextAutomaton>> m_patterns;
};

} // namespace

Result<JsonSchemas> readJsonSchema(std::string_view schema, std::string_view what)
{
    if (schema.size() > kMaxSchemaBytes)
        return fail(ErrorCode::BadRequest,
                    std::format("{}: larger than {} KiB", what, kMaxSchemaBytes / 1024));
    const Result<PromptJson> document = parsePromptJson(schema, what);
    if (!document)
        return std::unexpected(document.error());
    return Reader(*document, what).read();
}

} // namespace firesteel::engine
