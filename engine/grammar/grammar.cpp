// SPDX-License-Identifier: MIT
#include "engine/grammar/grammar.h"

namespace firesteel::engine {

std::span<const Grammar::SymbolEdge> Grammar::symbolEdges(Node node) const
{
    const NodeRecord &record = m_nodes[index(node)];
    return std::span(m_symbolEdges)
        .subspan(record.symbols, m_nodes[index(node) + 1].symbols - record.symbols);
}

std::span<const Grammar::Node> Grammar::silentEdges(Node node) const
{
    const NodeRecord &record = m_nodes[index(node)];
    return std::span(m_silentEdges)
        .subspan(record.silent, m_nodes[index(node) + 1].silent - record.silent);
}

std::span<const Grammar::Call> Grammar::calls(Node node) const
{
    const NodeRecord &record = m_nodes[index(node)];
    return std::span(m_calls).subspan(record.calls, m_nodes[index(node) + 1].calls - record.calls);
}

} // namespace firesteel::engine
