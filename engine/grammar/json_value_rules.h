// SPDX-License-Identifier: MIT
//
// Writes the values that a schema allows into a grammar: as JSON, or a string's raw text. Works on
// conjunctions, so that $ref, allOf and what stands beside them are one thing.
#pragma once

#include "engine/grammar/grammar_builder.h"
#include "engine/grammar/json_schema.h"
#include "engine/grammar/string_rules.h"

#include <deque>
#include <functional>
#include <map>
#include <string>

namespace firesteel::engine {

class JsonValueRules
{
public:
    using Expression = GrammarBuilder::Expression;

    // All three outlive this.
    JsonValueRules(GrammarBuilder &builder, StringRules &strings, const JsonSchemas &schemas);

    // The rule of the values that satisfy all these schemas; they may be used before finish().
    GrammarBuilder::Rule valueRule(const std::vector<SchemaId> &ids);
    Expression value(const std::vector<SchemaId> &ids) { return m_builder.call(valueRule(ids)); }

    // The strings among them without quotes or escapes; with `mayBeNull` the text null stands for
    // null and for no string.
    Expression rawString(const std::vector<SchemaId> &ids, bool mayBeNull);

    // Objects that satisfy all these: per alternative a conjunction without anyOf and oneOf.
    std::vector<Conjunction> alternatives(const std::vector<SchemaId> &ids);
    // The keys that a conjunction names, those that must not appear left out.
    struct Member
    {
        std::string key;
        std::vector<SchemaId> schemas;
        bool isRequired = false;
    };
    // Empty: a key is required that must not appear.
    std::optional<std::vector<Member>> members(const Conjunction &object);

    // Writes the rules still missing. Errors: BadRequest, place and reason.
    Result<void> finish();

private:
    struct Choice // an anyOf or oneOf still to be made
    {
        SchemaId schema = 0;
        bool isExclusive = false;
    };

    void addAlternatives(const Conjunction &flat, std::vector<Choice> choices,
                         std::vector<Conjunction> &out);
    void addChoices(SchemaId id, std::vector<Choice> &choices) const;
    void requireDisjoint(const Conjunction &flat, SchemaId schema);
    bool charge(const Conjunction &flat, std::size_t times);
    void refuse(const std::string &place, std::string_view why);

    Expression leaf(const Conjunction &flat);
    Expression enumerated(const Conjunction &flat, const std::vector<PromptJson> &values);
    Expression number(const Conjunction &flat, bool isInteger);
    Expression text(const Conjunction &flat, StringRules::Style style, bool excludesNull);
    Expression array(const Conjunction &flat);
    Expression object(const Conjunction &flat);
    Expression additionalMember(const Conjunction &flat, const std::vector<Member> &members);
    Expression nesting(Expression body);
    const std::vector<PromptJson> *enumValues(const Conjunction &flat) const;

    GrammarBuilder &m_builder;
    StringRules &m_strings;
    const JsonSchemas &m_schemas;
    Expression m_space; // between structural elements
    std::map<Conjunction, GrammarBuilder::Rule> m_rules;
    std::deque<Conjunction> m_missing;
    using TextKey = std::tuple<std::vector<const TextAutomaton *>, std::size_t,
                               std::optional<std::size_t>, StringRules::Style, bool>;
    std::map<TextKey, Expression> m_texts;
    std::size_t m_work = 0;
    std::string m_error;
};

} // namespace firesteel::engine
