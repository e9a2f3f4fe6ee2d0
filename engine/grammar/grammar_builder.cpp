// SPDX-License-Identifier: MIT
#include "engine/grammar/grammar_builder.h"

#include "engine/grammar/grammar_draft.h"

#include <algorithm>
#include <format>
#include <utility>

namespace firesteel::engine {

namespace {

using Node = Grammar::Node;

std::size_t at(std::int32_t index) { return static_cast<std::size_t>(index); }

std::size_t timesAtMost(std::size_t a, std::size_t b, std::size_t limit)
{
    return b != 0 && a > limit / b ? limit : std::min(a * b, limit);
}

} // namespace

// Writes the rules that the start rule reaches.
class GrammarBuilder::Writer
{
public:
    Writer(const std::vector<Term> &terms, const std::vector<RuleRecord> &rules)
        : m_terms(terms)
        , m_rules(rules)
        , m_numbers(rules.size(), -1)
    {
    }

    GrammarDraft write(Rule start)
    {
        number(start);
        for (std::size_t i = 0; i < m_draft.rules.size(); ++i) {
            const GrammarDraft::Rule rule = m_draft.rules[i];
            write(m_rules[at(m_order[i])].body, rule.start, rule.end);
        }
        return std::move(m_draft);
    }

private:
    std::int32_t number(Rule rule)
    {
        std::int32_t &number = m_numbers[at(rule)];
        if (number < 0) {
            number = static_cast<std::int32_t>(m_draft.rules.size());
            const Node start = m_draft.addNode();
            m_draft.rules.push_back({ start, m_draft.addNode(), m_rules[at(rule)].isNesting });
            m_order.push_back(rule);
        }
        return number;
    }

    void write(Expression expression, Node from, Node to)
    {
        const Term &term = m_terms[at(expression)];
        switch (term.kind) {
        case Kind::Nothing:
            m_draft.silent.push_back({ from, to });
            break;
        case Kind::Never:
            break;
        case Kind::Range:
            m_draft.symbols.push_back({ from, { term.first, term.last, to } });
            break;
        case Kind::Sequence:
            for (std::size_t i = 0; i + 1 < term.parts.size(); ++i) {
                const Node between = m_draft.addNode();
                write(term.parts[i], from, between);
                from = between;
            }
            write(term.parts.back(), from, to);
            break;
        case Kind::Choice:
            for (const Expression part : term.parts)
                write(part, from, to);
            break;
        case Kind::Repeat:
            writeRepeat(term, from, to);
            break;
        case Kind::Automaton:
            writeAutomaton(term, from, to);
            break;
        case Kind::Call:
            m_draft.calls.push_back({ from, number(term.rule), to });
            break;
        }
    }

    void writeRepeat(const Term &term, Node from, Node to)
    {
        const Expression part = term.parts.front();
        for (std::size_t i = 0; i < term.min; ++i) {
            const Node next = m_draft.addNode();
            write(part, from, next);
            from = next;
        }
        if (term.max == kUnbounded) {
            const Node loop = m_draft.addNode(); // a node that nobody else enters or leaves
            m_draft.silent.push_back({ from, loop });
            write(part, loop, loop);
            m_draft.silent.push_back({ loop, to });
            return;
        }
        m_draft.silent.push_back({ from, to });
        for (std::size_t i = term.min; i < term.max; ++i) {
            const Node next = m_draft.addNode();
            write(part, from, next);
            m_draft.silent.push_back({ next, to });
            from = next;
        }
    }

    void writeAutomaton(const Term &term, Node from, Node to)
    {
        const Node first = m_draft.nodeCount;
        m_draft.nodeCount += term.stateCount;
        m_draft.silent.push_back({ from, first });
        for (const AutomatonEdge &edge : term.edges)
            write(edge.label, first + edge.from, first + edge.target);
        for (const std::int32_t end : term.endStates)
            m_draft.silent.push_back({ first + end, to });
    }

    const std::vector<Term> &m_terms;
    const std::vector<RuleRecord> &m_rules;
    std::vector<std::int32_t> m_numbers; // by rule of the builder
    std::vector<Rule> m_order;
    GrammarDraft m_draft;
};

GrammarBuilder::Expression GrammarBuilder::add(Term term)
{
    term.size = std::min(term.size, kMaxNodes + 1);
    m_terms.push_back(std::move(term));
    return static_cast<Expression>(m_terms.size() - 1);
}

GrammarBuilder::Expression GrammarBuilder::range(Symbol first, Symbol last)
{
    return add({ .kind = Kind::Range, .first = first, .last = last });
}

GrammarBuilder::Expression GrammarBuilder::bytes(std::string_view text)
{
    std::vector<Expression> parts;
    for (const char c : text)
        parts.push_back(symbol(static_cast<unsigned char>(c)));
    return sequence(std::move(parts));
}

GrammarBuilder::Expression GrammarBuilder::sequence(std::vector<Expression> parts)
{
    std::erase(parts, kNothing);
    if (std::ranges::find(parts, kNever) != parts.end())
        return kNever;
    if (parts.size() < 2)
        return parts.empty() ? kNothing : parts.front();
    std::size_t size = 0;
    for (const Expression part : parts)
        size += m_terms[at(part)].size;
    return add({ .kind = Kind::Sequence, .parts = std::move(parts), .size = size });
}

GrammarBuilder::Expression GrammarBuilder::choice(std::vector<Expression> alternatives)
{
    std::erase(alternatives, kNever);
    if (alternatives.size() < 2)
        return alternatives.empty() ? kNever : alternatives.front();
    std::size_t size = 0;
    for (const Expression part : alternatives)
        size += m_terms[at(part)].size;
    return add({ .kind = Kind::Choice, .parts = std::move(alternatives), .size = size });
}

GrammarBuilder::Expression GrammarBuilder::repeat(Expression part, std::size_t min, std::size_t max)
{
    if (part == kNothing || max == 0)
        return kNothing;
    if (part == kNever)
        return min == 0 ? kNothing : kNever;
    const std::size_t copies = max == kUnbounded ? min + 1 : max;
    const Kind kind = m_terms[at(part)].kind;
    if (copies > 1 && kind != Kind::Range && kind != Kind::Call)
        part = rule(part);
    const std::size_t size = timesAtMost(copies, m_terms[at(part)].size, kMaxNodes + 1);
    return add({ .kind = Kind::Repeat, .min = min, .max = max, .parts = { part }, .size = size });
}

GrammarBuilder::Expression GrammarBuilder::automaton(std::int32_t stateCount,
                                                     std::vector<AutomatonEdge> edges,
                                                     std::vector<std::int32_t> endStates)
{
    std::size_t size = at(stateCount) + endStates.size();
    for (const AutomatonEdge &edge : edges)
        size += m_terms[at(edge.label)].size;
    return add({ .kind = Kind::Automaton,
                 .stateCount = stateCount,
                 .edges = std::move(edges),
                 .endStates = std::move(endStates),
                 .size = size });
}

GrammarBuilder::Rule GrammarBuilder::declare(bool isNesting)
{
    m_rules.push_back({ .isNesting = isNesting });
    return static_cast<Rule>(m_rules.size() - 1);
}

void GrammarBuilder::define(Rule rule, Expression body)
{
    m_rules[at(rule)].body = body;
    m_size += m_terms[at(body)].size + 2;
}

GrammarBuilder::Expression GrammarBuilder::call(Rule rule)
{
    return add({ .kind = Kind::Call, .rule = rule });
}

Result<std::shared_ptr<const Grammar>> GrammarBuilder::build(Rule start)
{
    if (isTooLarge())
        return fail(ErrorCode::BadRequest,
                    std::format("the grammar is too large, more than {} nodes", kMaxNodes));
    GrammarDraft draft = Writer(m_terms, m_rules).write(start);
    if (draft.hasLeftRecursion())
        return fail(ErrorCode::BadRequest, "refers to itself without a value between");
    const std::vector<std::uint8_t> needs = draft.needs(true);
    if (needs[at(draft.rules.front().start)] == Grammar::kNeverEnds)
        return fail(ErrorCode::BadRequest, "no text satisfies it");
    return assemble(std::move(draft), needs);
}

// Leaves out what cannot end.
std::shared_ptr<const Grammar> GrammarBuilder::assemble(GrammarDraft draft,
                                                        const std::vector<std::uint8_t> &needs)
{
    const auto ends = [&needs](Node node) { return needs[at(node)] != Grammar::kNeverEnds; };
    std::erase_if(draft.symbols, [&](const auto &item) { return !ends(item.edge.target); });
    std::erase_if(draft.silent, [&](const auto &item) { return !ends(item.target); });
    std::erase_if(draft.calls, [&](const auto &item) {
        return !ends(item.target) || !ends(draft.rules[at(item.rule)].start);
    });
    const auto byNode = [](const auto &item) { return item.from; };
    std::ranges::stable_sort(draft.symbols, {}, byNode);
    std::ranges::stable_sort(draft.silent, {}, byNode);
    std::ranges::stable_sort(draft.calls, {}, byNode);

    auto grammar = std::make_shared<Grammar>();
    grammar->m_start = draft.rules.front().start;
    grammar->m_nodes.resize(at(draft.nodeCount) + 1);
    for (const GrammarDraft::Rule &rule : draft.rules)
        grammar->m_nodes[at(rule.end)].endsRule = true;
    for (Node node = 0; node <= draft.nodeCount; ++node) {
        Grammar::NodeRecord &record = grammar->m_nodes[at(node)];
        if (node < draft.nodeCount)
            record.need = needs[at(node)];
        const auto begin = [&](const auto &items) {
            return static_cast<std::uint32_t>(std::ranges::lower_bound(items, node, {}, byNode)
                                              - items.begin());
        };
        record.symbols = begin(draft.symbols);
        record.silent = begin(draft.silent);
        record.calls = begin(draft.calls);
    }

    std::vector<bool> begins(kSymbolCount + 1); // of a class
    begins[0] = true;
    for (const auto &[from, edge] : draft.symbols) {
        grammar->m_symbolEdges.push_back(edge);
        begins[edge.first] = true;
        begins[edge.last + 1U] = true;
    }
    for (const auto &[from, target] : draft.silent)
        grammar->m_silentEdges.push_back(target);
    for (const auto &[from, rule, target] : draft.calls)
        grammar->m_calls.push_back(
            { draft.rules[at(rule)].start, target, draft.rules[at(rule)].isNesting });
    for (Symbol symbol = 0; symbol < kSymbolCount; ++symbol) {
        if (begins[symbol])
            grammar->m_representatives.push_back(symbol);
        grammar->m_classes.push_back(
            static_cast<std::uint16_t>(grammar->m_representatives.size() - 1));
    }
    grammar->m_classCount = static_cast<int>(grammar->m_representatives.size());
    return grammar;
}

} // namespace firesteel::engine
