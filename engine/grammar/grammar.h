// SPDX-License-Identifier: MIT
//
// What text a model may write: a recursive transition network over bytes and tags. Made by
// GrammarBuilder, walked by GrammarStates; knows nothing of JSON or of tokens.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace firesteel::engine {

// 0 to 255 are bytes; 256 + i is the i-th tag, a token of its own such as <arg_key>.
using Symbol = std::uint16_t;
inline constexpr Symbol kFirstTag = 256;
inline constexpr Symbol kSymbolCount = kFirstTag + 16;

// How many nesting rules (arrays and objects) may be open at once.
inline constexpr std::uint8_t kMaxGrammarNesting = 64;

// Immutable; shared by the states of many requests.
class Grammar
{
public:
    using Node = std::int32_t;
    static constexpr std::uint8_t kNeverEnds = 255;

    struct SymbolEdge
    {
        Symbol first = 0; // first to last, both included
        Symbol last = 0;
        Node target = 0;
    };
    struct Call
    {
        Node start = 0; // of the rule called
        Node target = 0; // where the caller goes on
        bool isNesting = false;
    };

    Node start() const { return m_start; }
    bool endsRule(Node node) const { return m_nodes[index(node)].endsRule; }
    // Nesting that the shortest way from `node` to the end of its rule opens; kNeverEnds: no way.
    std::uint8_t need(Node node) const { return m_nodes[index(node)].need; }
    std::span<const SymbolEdge> symbolEdges(Node node) const;
    std::span<const Node> silentEdges(Node node) const;
    std::span<const Call> calls(Node node) const;

    // Symbols that no edge tells apart share a class.
    int classCount() const { return m_classCount; }
    std::uint16_t symbolClass(Symbol symbol) const { return m_classes[symbol]; }
    Symbol anySymbolOf(int symbolClass) const { return m_representatives[index(symbolClass)]; }

    std::size_t nodeCount() const { return m_nodes.size() - 1; }

private:
    friend class GrammarBuilder;
    struct NodeRecord // edges end where the next node's begin
    {
        std::uint32_t symbols = 0;
        std::uint32_t silent = 0;
        std::uint32_t calls = 0;
        std::uint8_t need = kNeverEnds;
        bool endsRule = false;
    };
    static std::size_t index(int value) { return static_cast<std::size_t>(value); }

    Node m_start = 0;
    std::vector<NodeRecord> m_nodes; // and one behind the last
    std::vector<SymbolEdge> m_symbolEdges;
    std::vector<Node> m_silentEdges;
    std::vector<Call> m_calls;
    std::vector<std::uint16_t> m_classes; // [kSymbolCount]
    std::vector<Symbol> m_representatives; // [m_classCount]
    int m_classCount = 0;
};

} // namespace firesteel::engine
