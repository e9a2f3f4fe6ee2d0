// SPDX-License-Identifier: MIT
#include "engine/text/added_tokens.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace firesteel::engine {

namespace {

unsigned char firstByte(const AddedToken &token)
{
    return static_cast<unsigned char>(token.content.front());
}

} // namespace

AddedTokenMatcher::AddedTokenMatcher(std::vector<AddedToken> tokens)
    : m_tokens(std::move(tokens))
{
    std::ranges::sort(m_tokens, [](const AddedToken &a, const AddedToken &b) {
        return std::tuple(firstByte(a), b.content.size())
            < std::tuple(firstByte(b), a.content.size());
    });
    for (std::uint32_t i = 0; i < m_tokens.size(); ++i) {
        auto &[begin, end] = m_byFirstByte[firstByte(m_tokens[i])];
        if (begin == end)
            begin = i;
        end = i + 1;
    }
}

std::optional<AddedTokenMatcher::Found> AddedTokenMatcher::findFirst(std::string_view text) const
{
    for (std::size_t position = 0; position < text.size(); ++position) {
        const auto [begin, end] = m_byFirstByte[static_cast<unsigned char>(text[position])];
        for (std::uint32_t i = begin; i < end; ++i) {
            if (text.substr(position).starts_with(m_tokens[i].content))
                return Found { position, m_tokens[i].content.size(), m_tokens[i].id };
        }
    }
    return std::nullopt;
}

} // namespace firesteel::engine
