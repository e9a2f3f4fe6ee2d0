// SPDX-License-Identifier: MIT
#include "engine/grammar/grammar_draft.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace firesteel::engine {

namespace {

using Node = GrammarDraft::Node;

std::size_t at(std::int32_t index) { return static_cast<std::size_t>(index); }

// For each key, the positions of the items that have it.
class Index
{
public:
    template <typename Item, typename Key>
    Index(const std::vector<Item> &items, Node keyCount, Key key)
        : m_begins(at(keyCount) + 1)
        , m_positions(items.size())
    {
        for (const Item &item : items)
            ++m_begins[at(key(item)) + 1];
        for (std::size_t i = 1; i < m_begins.size(); ++i)
            m_begins[i] += m_begins[i - 1];
        std::vector<std::size_t> next = m_begins;
        for (std::size_t i = 0; i < items.size(); ++i)
            m_positions[next[at(key(items[i]))]++] = i;
    }

    std::span<const std::size_t> of(Node key) const
    {
        return std::span(m_positions)
            .subspan(m_begins[at(key)], m_begins[at(key) + 1] - m_begins[at(key)]);
    }

private:
    std::vector<std::size_t> m_begins;
    std::vector<std::size_t> m_positions;
};

} // namespace

// Knuth's generalisation of Dijkstra's algorithm (1977): nodes are settled in the order of their
// need, which never falls along an edge.
std::vector<std::uint8_t> GrammarDraft::needs(bool withSymbols) const
{
    const Index symbolsInto(withSymbols ? symbols : std::vector<SymbolEdge>(), nodeCount,
                            [](const SymbolEdge &item) { return item.edge.target; });
    const Index silentInto(silent, nodeCount, [](const SilentEdge &item) { return item.target; });
    const Index callsInto(calls, nodeCount, [](const Call &item) { return item.target; });
    const Index callsOf(calls, nodeCount,
                        [this](const Call &item) { return rules[at(item.rule)].start; });

    std::vector<std::uint8_t> settled(at(nodeCount), Grammar::kNeverEnds);
    std::array<std::vector<Node>, kMaxGrammarNesting + 1> waiting;
    for (const Rule &rule : rules)
        waiting[0].push_back(rule.end);
    const auto settleCall = [&](const Call &call) {
        const Rule &rule = rules[at(call.rule)];
        const std::uint8_t inside = settled[at(rule.start)];
        const std::uint8_t behind = settled[at(call.target)];
        if (inside == Grammar::kNeverEnds || behind == Grammar::kNeverEnds)
            return;
        const int need = std::max<int>(inside + (rule.isNesting ? 1 : 0), behind);
        if (need <= kMaxGrammarNesting)
            waiting[at(need)].push_back(call.from);
    };
    for (std::size_t need = 0; need < waiting.size(); ++need) {
        while (!waiting[need].empty()) {
            const Node node = waiting[need].back();
            waiting[need].pop_back();
            if (settled[at(node)] != Grammar::kNeverEnds)
                continue;
            settled[at(node)] = static_cast<std::uint8_t>(need);
            if (withSymbols) {
                for (const std::size_t i : symbolsInto.of(node))
                    waiting[need].push_back(symbols[i].from);
            }
            for (const std::size_t i : silentInto.of(node))
                waiting[need].push_back(silent[i].from);
            for (const std::size_t i : callsInto.of(node))
                settleCall(calls[i]);
            for (const std::size_t i : callsOf.of(node))
                settleCall(calls[i]);
        }
    }
    return settled;
}

bool GrammarDraft::hasLeftRecursion() const
{
    const std::vector<std::uint8_t> readsNothing = needs(false);
    const Index silentFrom(silent, nodeCount, [](const SilentEdge &item) { return item.from; });
    const Index callsFrom(calls, nodeCount, [](const Call &item) { return item.from; });

    // The rules that each rule can call first. A node belongs to one rule.
    std::vector<std::vector<std::int32_t>> calledFirst(rules.size());
    std::vector<bool> isSeen(at(nodeCount));
    std::vector<Node> pending;
    for (std::size_t rule = 0; rule < rules.size(); ++rule) {
        pending.push_back(rules[rule].start);
        while (!pending.empty()) {
            const Node node = pending.back();
            pending.pop_back();
            if (isSeen[at(node)])
                continue;
            isSeen[at(node)] = true;
            for (const std::size_t i : silentFrom.of(node))
                pending.push_back(silent[i].target);
            for (const std::size_t i : callsFrom.of(node)) {
                calledFirst[rule].push_back(calls[i].rule);
                if (readsNothing[at(rules[at(calls[i].rule)].start)] != Grammar::kNeverEnds)
                    pending.push_back(calls[i].target);
            }
        }
    }

    // Rules that call nothing first are done, then those that call only such; a rest is a cycle.
    std::vector<std::vector<std::size_t>> callers(rules.size());
    std::vector<std::size_t> openCalls(rules.size());
    std::vector<std::size_t> done;
    for (std::size_t rule = 0; rule < rules.size(); ++rule) {
        openCalls[rule] = calledFirst[rule].size();
        for (const std::int32_t called : calledFirst[rule])
            callers[at(called)].push_back(rule);
        if (openCalls[rule] == 0)
            done.push_back(rule);
    }
    for (std::size_t i = 0; i < done.size(); ++i) {
        for (const std::size_t caller : callers[done[i]]) {
            if (--openCalls[caller] == 0)
                done.push_back(caller);
        }
    }
    return done.size() < rules.size();
}

} // namespace firesteel::engine
