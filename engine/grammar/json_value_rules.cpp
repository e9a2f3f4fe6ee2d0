// SPDX-License-Identifier: MIT
#include "engine/grammar/json_value_rules.h"

#include "engine/base/printable.h"
#include "engine/grammar/json_schema_check.h"

#include <algorithm>
#include <format>
#include <iterator>
#include <set>
#include <utility>

namespace firesteel::engine {

namespace {

using Expression = GrammarBuilder::Expression;

constexpr std::size_t kMaxIndent = 32; // spaces and tabs behind a line break
constexpr std::size_t kMaxAlternativesInAll = 1024; // of one value
constexpr std::size_t kMaxWork = 100'000'000; // comparisons of schemas and values: seconds at most
constexpr std::size_t kMaxRules = 20'000;

Conjunction united(const Conjunction &a, const Conjunction &b)
{
    Conjunction both;
    std::ranges::set_union(a, b, std::back_inserter(both));
    return both;
}

} // namespace

JsonValueRules::JsonValueRules(GrammarBuilder &builder, StringRules &strings,
                               const JsonSchemas &schemas)
    : m_builder(builder)
    , m_strings(strings)
    , m_schemas(schemas)
    , m_space(builder.rule(builder.choice(
          { builder.nothing(), builder.symbol(' '),
            builder.sequence({ builder.symbol('\n'),
                               builder.repeat(builder.rule(builder.choice(
                                                  { builder.symbol(' '), builder.symbol('\t') })),
                                              0, kMaxIndent) }) })))
{
}

GrammarBuilder::Rule JsonValueRules::valueRule(const std::vector<SchemaId> &ids)
{
    Conjunction key = m_schemas.expanded(ids);
    const auto known = m_rules.find(key);
    if (known != m_rules.end())
        return known->second;
    const GrammarBuilder::Rule rule = m_builder.declare();
    m_rules.emplace(key, rule);
    m_missing.push_back(std::move(key));
    return rule;
}

Result<void> JsonValueRules::finish()
{
    for (; !m_missing.empty() && m_error.empty(); m_missing.pop_front()) {
        const Conjunction key = m_missing.front();
        std::vector<Expression> ways;
        for (const Conjunction &flat : alternatives(key)) {
            if (m_builder.isTooLarge() || !m_error.empty())
                break;
            ways.push_back(leaf(flat));
        }
        m_builder.define(m_rules.at(key), m_builder.choice(std::move(ways)));
        if (m_rules.size() > kMaxRules || m_builder.isTooLarge())
            refuse("", "the schema needs too large a grammar");
    }
    if (!m_error.empty())
        return fail(ErrorCode::BadRequest, m_error);
    return {};
}

void JsonValueRules::refuse(const std::string &place, std::string_view why)
{
    if (m_error.empty())
        m_error = place.empty() ? std::string(why) : std::format("{}: {}", printable(place), why);
}

// Counts looking `times` times at a conjunction and its enums. False: that is too much in all.
bool JsonValueRules::charge(const Conjunction &flat, std::size_t times)
{
    std::size_t size = flat.size();
    for (const SchemaId id : flat)
        size += m_schemas[id].enumValues.size();
    m_work += size * (times + 1);
    if (m_work > kMaxWork)
        refuse(flat.empty() ? "" : m_schemas[flat.front()].place,
               "its combinations take too long to compile");
    return m_work <= kMaxWork;
}

void JsonValueRules::addChoices(SchemaId id, std::vector<Choice> &choices) const
{
    if (!m_schemas[id].anyOf.empty())
        choices.push_back({ id, false });
    if (!m_schemas[id].oneOf.empty())
        choices.push_back({ id, true });
}

std::vector<Conjunction> JsonValueRules::alternatives(const std::vector<SchemaId> &ids)
{
    const Conjunction flat = m_schemas.expanded(ids);
    std::vector<Choice> choices;
    for (const SchemaId id : flat)
        addChoices(id, choices);
    std::vector<Conjunction> found;
    addAlternatives(flat, std::move(choices), found);
    std::set<Conjunction> seen;
    std::erase_if(found, [&seen](const Conjunction &item) { return !seen.insert(item).second; });
    return found;
}

void JsonValueRules::addAlternatives(const Conjunction &flat, std::vector<Choice> choices,
                                     std::vector<Conjunction> &out)
{
    if (!m_error.empty() || m_schemas.typesOf(flat) == 0)
        return;
    if (choices.empty()) {
        out.push_back(flat);
        return;
    }
    const Choice choice = choices.back();
    choices.pop_back();
    const JsonSchema &schema = m_schemas[choice.schema];
    if (choice.isExclusive)
        requireDisjoint(flat, choice.schema);
    for (const SchemaId id : choice.isExclusive ? schema.oneOf : schema.anyOf) {
        if (out.size() > kMaxAlternativesInAll || !charge(flat, flat.size())) {
            refuse(schema.place, "too many combinations of 'anyOf' and 'oneOf'");
            return;
        }
        const Conjunction added = m_schemas.expanded({ id });
        std::vector<Choice> next = choices;
        for (const SchemaId more : added) {
            if (!std::ranges::binary_search(flat, more))
                addChoices(more, next);
        }
        addAlternatives(united(flat, added), std::move(next), out);
    }
}

void JsonValueRules::requireDisjoint(const Conjunction &flat, SchemaId schema)
{
    std::vector<Conjunction> alternatives;
    for (const SchemaId id : m_schemas[schema].oneOf)
        alternatives.push_back(united(flat, m_schemas.expanded({ id })));
    for (std::size_t i = 0; i < alternatives.size(); ++i) {
        for (std::size_t j = 0; j < i && m_error.empty(); ++j) {
            if (charge(alternatives[i], alternatives[j].size())
                && !areDisjoint(m_schemas, alternatives[i], alternatives[j]))
                refuse(m_schemas[schema].place,
                       std::format("'oneOf' is supported where no value can satisfy two of its "
                                   "schemas; {} and {} have no different types and no required "
                                   "property with different values",
                                   j, i));
        }
    }
}

const std::vector<PromptJson> *JsonValueRules::enumValues(const Conjunction &flat) const
{
    for (const SchemaId id : flat) {
        if (m_schemas[id].hasEnum)
            return &m_schemas[id].enumValues;
    }
    return nullptr;
}

Expression JsonValueRules::leaf(const Conjunction &flat)
{
    if (const std::vector<PromptJson> *values = enumValues(flat))
        return enumerated(flat, *values);
    const JsonTypes types = m_schemas.typesOf(flat);
    std::vector<Expression> ways;
    if (hasType(types, JsonType::Null))
        ways.push_back(m_builder.bytes("null"));
    if (hasType(types, JsonType::Boolean)) {
        ways.push_back(m_builder.bytes("true"));
        ways.push_back(m_builder.bytes("false"));
    }
    if (hasType(types, JsonType::Integer))
        ways.push_back(number(flat, !hasType(types, JsonType::Fraction)));
    if (hasType(types, JsonType::String)) {
        const Expression quote = m_builder.symbol('"');
        ways.push_back(
            m_builder.sequence({ quote, text(flat, StringRules::Style::Json, false), quote }));
    }
    if (hasType(types, JsonType::Array))
        ways.push_back(array(flat));
    if (hasType(types, JsonType::Object))
        ways.push_back(object(flat));
    return m_builder.choice(std::move(ways));
}

Expression JsonValueRules::enumerated(const Conjunction &flat,
                                      const std::vector<PromptJson> &values)
{
    std::vector<Expression> ways;
    if (!charge(flat, values.size()))
        return m_builder.never();
    for (const PromptJson &value : values) {
        if (allowsJson(m_schemas, flat, value))
            ways.push_back(m_builder.bytes(dumpPromptJson(value)));
    }
    return m_builder.choice(std::move(ways));
}

Expression JsonValueRules::number(const Conjunction &flat, bool isInteger)
{
    NumberBounds bounds;
    for (const SchemaId id : flat) {
        const NumberBounds &own = m_schemas[id].bounds;
        if (own.min)
            bounds.raiseMin(*own.min, own.excludesMin);
        if (own.max)
            bounds.lowerMax(*own.max, own.excludesMax);
    }
    return m_builder.rule(isInteger ? integerRule(m_builder, bounds)
                                    : numberRule(m_builder, bounds));
}

Expression JsonValueRules::text(const Conjunction &flat, StringRules::Style style,
                                bool excludesNull)
{
    std::size_t min = 0;
    std::optional<std::size_t> max;
    std::vector<const TextAutomaton *> patterns;
    std::string place;
    for (const SchemaId id : flat) {
        const JsonSchema &schema = m_schemas[id];
        min = std::max(min, schema.minLength);
        if (schema.maxLength)
            max = std::min(max.value_or(*schema.maxLength), *schema.maxLength);
        for (const auto &pattern : schema.patterns) {
            place = schema.place;
            if (std::ranges::find(patterns, pattern.get()) == patterns.end())
                patterns.push_back(pattern.get());
        }
    }
    if (max && *max < min)
        return m_builder.never();
    if (patterns.empty() && !excludesNull)
        return m_strings.anyText(style, min, max.value_or(GrammarBuilder::kUnbounded));
    const auto [known, isNew]
        = m_texts.try_emplace({ patterns, min, max, style, excludesNull }, m_builder.never());
    if (!isNew)
        return known->second;
    const std::vector<std::string> null { "null" };
    std::optional<TextAutomaton> all
        = TextAutomaton::noneOf(excludesNull ? null : std::vector<std::string>());
    for (const TextAutomaton *pattern : patterns)
        all = all ? intersection(*all, *pattern) : std::nullopt;
    if (all && (min > 0 || max)) {
        // A shorter text is one, too; each length costs the states of the patterns again.
        if (max)
            max = std::min(*max, std::max(min, TextAutomaton::kMaxStates / all->states.size()));
        all = intersection(*all, TextAutomaton::ofLength(min, max));
    }
    if (!all)
        refuse(place, "'pattern' is too large together with the other constraints of the string");
    else
        known->second = m_strings.texts(style, *all);
    return known->second;
}

Expression JsonValueRules::rawString(const std::vector<SchemaId> &ids, bool mayBeNull)
{
    std::vector<Expression> ways;
    for (const Conjunction &flat : alternatives(ids)) {
        if (const std::vector<PromptJson> *values = enumValues(flat)) {
            if (!charge(flat, values->size()))
                break;
            for (const PromptJson &value : *values) {
                const bool isString = value.kind == PromptJson::Kind::String
                    && !(mayBeNull && value.text == "null");
                const bool isNull = mayBeNull && value.kind == PromptJson::Kind::Null;
                if ((isString || isNull) && allowsJson(m_schemas, flat, value))
                    ways.push_back(m_builder.bytes(value.text));
            }
            continue;
        }
        const JsonTypes types = m_schemas.typesOf(flat);
        if (hasType(types, JsonType::String))
            ways.push_back(text(flat, StringRules::Style::Raw, mayBeNull));
        if (mayBeNull && hasType(types, JsonType::Null))
            ways.push_back(m_builder.bytes("null"));
    }
    return m_builder.choice(std::move(ways));
}

Expression JsonValueRules::nesting(Expression body)
{
    const GrammarBuilder::Rule rule = m_builder.declare(true);
    m_builder.define(rule, body);
    return m_builder.call(rule);
}

// States: behind the bracket; then in turns "about to write item i" and "i items written".
Expression JsonValueRules::array(const Conjunction &flat)
{
    std::size_t prefix = 0;
    std::size_t min = 0;
    std::optional<std::size_t> max;
    for (const SchemaId id : flat) {
        const JsonSchema &schema = m_schemas[id];
        prefix = std::max(prefix, schema.prefixItems.size());
        min = std::max(min, schema.minItems);
        if (schema.maxItems)
            max = std::min(max.value_or(*schema.maxItems), *schema.maxItems);
    }
    const Expression close = m_builder.symbol(']');
    const Expression comma = m_builder.sequence({ m_builder.symbol(','), m_space });
    const std::size_t last = max.value_or(std::max(prefix, min) + 1); // where it repeats
    const auto about = [](std::size_t i) { return static_cast<std::int32_t>(2 * i + 2); };
    const auto written = [](std::size_t i) { return static_cast<std::int32_t>(2 * i + 1); };
    constexpr std::int32_t kOpen = 0;
    const std::int32_t end = about(last) + 1;

    std::vector<GrammarBuilder::AutomatonEdge> edges;
    edges.push_back({ kOpen, m_space, written(0) }); // no item written yet: no comma
    if (min == 0)
        edges.push_back({ written(0), close, end });
    for (std::size_t i = 0; i < last; ++i) {
        if (i == 0)
            edges.push_back({ written(0), m_builder.nothing(), about(0) });
        else
            edges.push_back({ written(i), comma, about(i) });
        edges.push_back({ about(i), value(m_schemas.itemSchemas(flat, i)), written(i + 1) });
        if (i + 1 >= min)
            edges.push_back({ written(i + 1), m_builder.sequence({ m_space, close }), end });
    }
    if (!max)
        edges.push_back({ written(last), comma, about(last - 1) });
    return nesting(m_builder.sequence(
        { m_builder.symbol('['), m_builder.automaton(end + 1, std::move(edges), { end }) }));
}

std::optional<std::vector<JsonValueRules::Member>>
JsonValueRules::members(const Conjunction &object)
{
    std::vector<std::string> keys;
    for (const SchemaId id : object)
        keys.insert(keys.end(), m_schemas[id].propertyNames.begin(),
                    m_schemas[id].propertyNames.end());
    for (const SchemaId id : object)
        keys.insert(keys.end(), m_schemas[id].required.begin(), m_schemas[id].required.end());
    if (!charge(object, keys.size()))
        return {};
    std::set<std::string> required;
    for (const SchemaId id : object)
        required.insert(m_schemas[id].required.begin(), m_schemas[id].required.end());
    std::vector<Member> found;
    std::set<std::string> seen;
    for (const std::string &key : keys) {
        if (!seen.insert(key).second)
            continue;
        Member member { key, m_schemas.propertySchemas(object, key), required.contains(key) };
        const bool mustNotAppear = m_schemas.typesOf(m_schemas.expanded(member.schemas)) == 0;
        if (mustNotAppear && member.isRequired)
            return {};
        if (!mustNotAppear)
            found.push_back(std::move(member));
    }
    return found;
}

// `"key": value` of a key that is not declared; never() where there is none.
Expression JsonValueRules::additionalMember(const Conjunction &flat,
                                            const std::vector<Member> &members)
{
    std::vector<std::string> declared;
    std::vector<SchemaId> schemas;
    bool isOpen = members.empty();
    for (const SchemaId id : flat) {
        const JsonSchema &schema = m_schemas[id];
        declared.insert(declared.end(), schema.propertyNames.begin(), schema.propertyNames.end());
        declared.insert(declared.end(), schema.required.begin(), schema.required.end());
        if (schema.additionalProperties) {
            isOpen = true;
            schemas.push_back(*schema.additionalProperties);
        }
    }
    if (!isOpen || m_schemas.typesOf(m_schemas.expanded(schemas)) == 0)
        return m_builder.never();
    const Expression quote = m_builder.symbol('"');
    const Expression key = declared.empty()
        ? m_strings.anyText(StringRules::Style::JsonKey, 0, GrammarBuilder::kUnbounded)
        : m_strings.texts(StringRules::Style::JsonKey, TextAutomaton::noneOf(declared));
    return m_builder.rule(
        m_builder.sequence({ quote, key, quote, m_builder.symbol(':'), m_space, value(schemas) }));
}

// States: behind the brace; then in turns "about to write a key, member i or a later one" and
// "member i - 1 written".
Expression JsonValueRules::object(const Conjunction &flat)
{
    const std::optional<std::vector<Member>> members = this->members(flat);
    if (!members)
        return m_builder.never();
    const Expression close = m_builder.symbol('}');
    const Expression spacedClose = m_builder.sequence({ m_space, close });
    const Expression comma = m_builder.sequence({ m_builder.symbol(','), m_space });
    const Expression additional = additionalMember(flat, *members);
    const std::size_t count = members->size();
    const auto about = [](std::size_t i) { return static_cast<std::int32_t>(2 * i + 2); };
    const auto written = [](std::size_t i) { return static_cast<std::int32_t>(2 * i + 3); };
    constexpr std::int32_t kOpen = 0;
    constexpr std::int32_t kSpaced = 1;
    const std::int32_t end = written(count) + 1;

    std::vector<GrammarBuilder::AutomatonEdge> edges;
    edges.push_back({ kOpen, m_space, kSpaced });
    edges.push_back({ kSpaced, m_builder.nothing(), about(0) });
    bool mayClose = true; // none of the members from i on is required
    for (std::size_t i = count + 1; i-- > 0;) {
        if (i < count) {
            const Member &member = (*members)[i];
            mayClose = mayClose && !member.isRequired;
            const PromptJson key { PromptJson::Kind::String, member.key, {}, {} };
            const Expression written1
                = m_builder.sequence({ m_builder.bytes(dumpPromptJson(key)), m_builder.symbol(':'),
                                       m_space, value(member.schemas) });
            edges.push_back({ about(i), written1, written(i + 1) });
            if (!member.isRequired)
                edges.push_back({ about(i), m_builder.nothing(), about(i + 1) });
        }
        if (i > 0 || additional != m_builder.never()) {
            edges.push_back({ written(i), comma, about(i) });
            if (mayClose)
                edges.push_back({ written(i), spacedClose, end });
        }
    }
    if (mayClose)
        edges.push_back({ kSpaced, close, end });
    edges.push_back({ about(count), additional, written(count) });
    return nesting(m_builder.sequence(
        { m_builder.symbol('{'), m_builder.automaton(end + 1, std::move(edges), { end }) }));
}

} // namespace firesteel::engine
