// SPDX-License-Identifier: MIT
//
// Puts a Grammar together from expressions. Expressions are numbers that refer to this builder and
// may be used any number of times; each use is written out again, so what is big belongs into a
// rule.
#pragma once

#include "engine/api/error.h"
#include "engine/grammar/grammar.h"

#include <initializer_list>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace firesteel::engine {

struct GrammarDraft;

class GrammarBuilder
{
public:
    using Expression = std::int32_t;
    using Rule = std::int32_t;

    static constexpr std::size_t kMaxNodes = 400'000; // some 20 MB with their edges
    static constexpr std::size_t kUnbounded = static_cast<std::size_t>(-1);

    Expression nothing() const { return kNothing; } // the empty text
    Expression never() const { return kNever; } // no text at all
    Expression symbol(Symbol symbol) { return range(symbol, symbol); }
    Expression range(Symbol first, Symbol last); // one symbol, first to last
    Expression bytes(std::string_view text);
    Expression sequence(std::vector<Expression> parts);
    Expression choice(std::vector<Expression> alternatives);
    Expression optional(Expression part) { return choice({ part, kNothing }); }
    // `part` min to max times in a row. kUnbounded: without end.
    Expression repeat(Expression part, std::size_t min, std::size_t max);

    // An automaton whose edges are labelled with expressions; state 0 starts.
    struct AutomatonEdge
    {
        std::int32_t from = 0;
        Expression label = 0;
        std::int32_t target = 0;
    };
    Expression automaton(std::int32_t stateCount, std::vector<AutomatonEdge> edges,
                         std::vector<std::int32_t> endStates);

    // A rule is declared, used, and defined once. Nesting rules count towards kMaxGrammarNesting.
    Rule declare(bool isNesting = false);
    void define(Rule rule, Expression body);
    Expression call(Rule rule);
    Expression rule(Expression body) // declared and defined in one go, to be used more than once
    {
        const Rule made = declare();
        define(made, body);
        return call(made);
    }

    bool isTooLarge() const { return m_size > kMaxNodes || m_terms.size() > 4 * kMaxNodes; }

    // Errors: BadRequest: too large, a rule that begins with itself, or no text at all.
    Result<std::shared_ptr<const Grammar>> build(Rule start);

private:
    enum class Kind { Nothing, Never, Range, Sequence, Choice, Repeat, Automaton, Call };
    static constexpr Expression kNothing = 0;
    static constexpr Expression kNever = 1;

    struct Term
    {
        Kind kind = Kind::Nothing;
        Symbol first = 0; // Range
        Symbol last = 0;
        std::size_t min = 0; // Repeat
        std::size_t max = 0;
        Rule rule = 0; // Call
        std::int32_t stateCount = 0; // Automaton
        std::vector<Expression> parts {}; // Sequence, Choice, Repeat (one)
        std::vector<AutomatonEdge> edges {};
        std::vector<std::int32_t> endStates {};
        std::size_t size = 1; // nodes when written out, about
    };
    struct RuleRecord
    {
        bool isNesting = false;
        Expression body = kNever;
    };
    class Writer;

    Expression add(Term term);
    static std::shared_ptr<const Grammar> assemble(GrammarDraft draft,
                                                   const std::vector<std::uint8_t> &needs);

    std::vector<Term> m_terms { Term {}, Term { .kind = Kind::Never } };
    std::vector<RuleRecord> m_rules;
    std::size_t m_size = 0; // nodes of all rules defined so far, about
};

} // namespace firesteel::engine
