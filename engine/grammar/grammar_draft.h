// SPDX-License-Identifier: MIT
//
// A network while GrammarBuilder writes it: edges in lists, and the analyses that need all of them
// (what can end, what begins with itself). Private to the builder.
#pragma once

#include "engine/grammar/grammar.h"

#include <vector>

namespace firesteel::engine {

struct GrammarDraft
{
    using Node = Grammar::Node;

    struct SymbolEdge
    {
        Node from = 0;
        Grammar::SymbolEdge edge;
    };
    struct SilentEdge
    {
        Node from = 0;
        Node target = 0;
    };
    struct Call
    {
        Node from = 0;
        std::int32_t rule = 0;
        Node target = 0;
    };
    struct Rule
    {
        Node start = 0;
        Node end = 0;
        bool isNesting = false;
    };

    Node nodeCount = 0;
    std::vector<SymbolEdge> symbols;
    std::vector<SilentEdge> silent;
    std::vector<Call> calls;
    std::vector<Rule> rules;

    Node addNode() { return nodeCount++; }

    // Per node, the nesting that the shortest way to the end of its rule opens
    // (Grammar::kNeverEnds: no way within kMaxGrammarNesting). `withSymbols` false: ways that read
    // nothing.
    std::vector<std::uint8_t> needs(bool withSymbols) const;

    // A rule that can reach itself before it reads anything would go on calling for ever.
    bool hasLeftRecursion() const;
};

} // namespace firesteel::engine
