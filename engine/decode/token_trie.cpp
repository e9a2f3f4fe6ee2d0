// SPDX-License-Identifier: MIT
#include "engine/decode/token_trie.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace firesteel::engine {

namespace {

std::size_t commonPrefix(std::string_view a, std::string_view b)
{
    return static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
}

} // namespace

TokenTrie::TokenTrie(const Tokenizer &tokenizer, int vocabularySize)
{
    std::vector<std::pair<std::string_view, std::int32_t>> texts;
    const int size = std::min(tokenizer.size(), vocabularySize);
    texts.reserve(static_cast<std::size_t>(size));
    for (std::int32_t id = 0; id < size; ++id) {
        if (tokenizer.isMapped(id) && !tokenizer.isAdded(id))
            texts.emplace_back(tokenizer.tokenBytes(id), id);
    }
    std::ranges::sort(texts);

    std::vector<std::size_t> path; // nodes from the root to the last one made
    const auto close = [&](std::size_t depth) {
        while (path.size() > depth) {
            m_nodes[path.back()].next = static_cast<std::uint32_t>(m_nodes.size());
            path.pop_back();
        }
    };
    std::string_view previous;
    for (const auto &[text, id] : texts) {
        close(commonPrefix(previous, text));
        while (path.size() < text.size()) {
            const auto byte = static_cast<std::uint8_t>(text[path.size()]);
            path.push_back(m_nodes.size());
            m_nodes.push_back({ .byte = byte });
        }
        m_nodes[path.back()].token = id;
        previous = text;
    }
    close(0);
    m_nodes.shrink_to_fit();
}

} // namespace firesteel::engine
