// SPDX-License-Identifier: MIT
#include "engine/decode/answer_constraint.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace firesteel::engine {

namespace {

constexpr std::int32_t kBits = 64;
constexpr std::size_t kMostMasks = 256; // 20 KB each for 155 thousand tokens
constexpr std::array<std::string_view, kToolTags.size()> kTagTexts {
    "<tool_call>", "</tool_call>", "<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>"
};

} // namespace

AnswerTokens::AnswerTokens(const Tokenizer &tokenizer, int vocabularySize,
                           std::vector<std::int32_t> endOfTurn)
    : m_tokenizer(tokenizer)
    , m_trie(tokenizer, vocabularySize)
    , m_endOfTurn(std::move(endOfTurn))
    , m_notEndOfTurn(static_cast<std::size_t>((vocabularySize + kBits - 1) / kBits),
                     ~std::uint64_t { 0 })
{
    for (const std::int32_t id : m_endOfTurn)
        m_notEndOfTurn[static_cast<std::size_t>(id / kBits)]
            &= ~(std::uint64_t { 1 } << (id % kBits));
    std::ranges::transform(kTagTexts, m_tags.begin(),
                           [&](std::string_view text) { return tokenizer.addedTokenId(text); });
}

std::optional<ToolTag> AnswerTokens::tagOf(std::int32_t token) const
{
    const auto found = std::ranges::find(m_tags, std::optional(token));
    if (found == m_tags.end())
        return std::nullopt;
    return kToolTags.at(static_cast<std::size_t>(found - m_tags.begin()));
}

bool AnswerTokens::hasEveryTag() const
{
    return std::ranges::all_of(m_tags, [](const auto &id) { return id.has_value(); });
}

AnswerConstraint::AnswerConstraint(std::shared_ptr<const Grammar> grammar,
                                   std::shared_ptr<const AnswerTokens> tokens, bool mayCallInstead)
    : m_states(std::move(grammar))
    , m_tokens(std::move(tokens))
    , m_mayCallInstead(mayCallInstead)
    , m_state(m_states.start())
{
}

void AnswerConstraint::allow(Mask &mask, std::int32_t token) const
{
    mask[static_cast<std::size_t>(token / kBits)] |= std::uint64_t { 1 } << (token % kBits);
}

AnswerConstraint::Mask AnswerConstraint::made()
{
    Mask mask(m_tokens->maskWords(), 0);
    const std::span<const TokenTrie::Node> nodes = m_tokens->trie().nodes();
    const auto end = static_cast<std::uint32_t>(nodes.size());
    m_path.assign(1, { end, m_state });
    for (std::uint32_t at = 0; at < end;) {
        while (m_path.back().end <= at)
            m_path.pop_back();
        const TokenTrie::Node &node = nodes[at];
        const GrammarStates::State state = m_states.next(m_path.back().state, node.byte);
        if (state == GrammarStates::kDead) {
            at = node.next;
            continue;
        }
        if (node.token != TokenTrie::kNone)
            allow(mask, node.token);
        m_path.push_back({ node.next, state });
        ++at;
    }
    for (const ToolTag tag : kToolTags) {
        const auto id = m_tokens->token(tag);
        if (id && m_states.next(m_state, static_cast<Symbol>(tag)) != GrammarStates::kDead)
            allow(mask, *id);
    }
    if (m_states.mayEnd(m_state)) {
        for (const std::int32_t id : m_tokens->endOfTurn())
            allow(mask, id);
    }
    const auto call = m_tokens->token(ToolTag::Call);
    if (m_mayCallInstead && call && m_state == m_states.start())
        allow(mask, *call);
    return mask;
}

TokenMask AnswerConstraint::mask()
{
    if (m_isFree)
        return {};
    GrammarStates::State *const live = &m_state;
    if (m_states.trim({ &live, 1 }))
        m_masks.clear();
    const auto found = m_masks.find(m_state);
    if (found != m_masks.end())
        return found->second;
    if (m_masks.size() >= kMostMasks)
        m_masks.clear();
    return m_masks.emplace(m_state, made()).first->second;
}

void AnswerConstraint::accept(std::int32_t token)
{
    if (m_isFree || std::ranges::contains(m_tokens->endOfTurn(), token))
        return;
    if (const auto tag = m_tokens->tagOf(token)) {
        const GrammarStates::State next = m_states.next(m_state, static_cast<Symbol>(*tag));
        m_isFree = next == GrammarStates::kDead; // a call instead of the text
        m_state = m_isFree ? m_state : next;
        return;
    }
    for (const char byte : m_tokens->tokenizer().tokenBytes(token))
        m_state = m_states.next(m_state, static_cast<std::uint8_t>(byte));
}

} // namespace firesteel::engine
