// SPDX-License-Identifier: MIT
//
// Holds an answer to a grammar: which tokens may come next, as a mask for the sampler. A token may
// if all of its bytes go on with a text of the grammar; the end of the turn may where the text is
// complete. The mask of a place depends on the place alone, so a verifier that asks row by row gets
// what plain decoding would have got.
#pragma once

#include "engine/decode/sampler.h"
#include "engine/decode/token_trie.h"
#include "engine/grammar/grammar.h"
#include "engine/grammar/grammar_states.h"
#include "engine/grammar/tool_call_grammar.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

namespace firesteel::engine {

inline constexpr std::array kToolTags { ToolTag::Call,   ToolTag::EndCall, ToolTag::Key,
                                        ToolTag::EndKey, ToolTag::Value,   ToolTag::EndValue };

// What a grammar meets in a vocabulary. Immutable; one for all requests to a model.
class AnswerTokens
{
public:
    // `tokenizer` must outlive this.
    AnswerTokens(const Tokenizer &tokenizer, int vocabularySize,
                 std::vector<std::int32_t> endOfTurn);

    const Tokenizer &tokenizer() const { return m_tokenizer; }
    const TokenTrie &trie() const { return m_trie; }
    const std::vector<std::int32_t> &endOfTurn() const { return m_endOfTurn; }
    std::optional<std::int32_t> token(ToolTag tag) const { return m_tags.at(indexOf(tag)); }
    std::optional<ToolTag> tagOf(std::int32_t token) const;
    bool hasEveryTag() const;
    std::size_t maskWords() const { return m_notEndOfTurn.size(); }
    TokenMask notEndOfTurn() const { return m_notEndOfTurn; } // everything else

private:
    static std::size_t indexOf(ToolTag tag) { return static_cast<std::size_t>(tag) - kFirstTag; }

    const Tokenizer &m_tokenizer;
    TokenTrie m_trie;
    std::vector<std::int32_t> m_endOfTurn;
    std::vector<std::uint64_t> m_notEndOfTurn;
    std::array<std::optional<std::int32_t>, kToolTags.size()> m_tags; // by ToolTag
};

class AnswerConstraint
{
public:
    // `mayCallInstead`: the answer may begin with a call of a tool and is free from there.
    AnswerConstraint(std::shared_ptr<const Grammar> grammar,
                     std::shared_ptr<const AnswerTokens> tokens, bool mayCallInstead);

    // For the answer's next token; valid until the next call. Of no id where the vocabulary has no
    // token that goes on (one without a token for every byte).
    TokenMask mask();
    // For a token of the thinking before the answer, which the end of the turn may not cut short.
    TokenMask thinkingMask() const { return m_tokens->notEndOfTurn(); }
    void accept(std::int32_t token); // of the answer, allowed by mask()

private:
    using Mask = std::vector<std::uint64_t>;

    Mask made();
    void allow(Mask &mask, std::int32_t token) const;

    GrammarStates m_states;
    std::shared_ptr<const AnswerTokens> m_tokens;
    bool m_mayCallInstead = false;
    bool m_isFree = false; // a call was begun instead
    GrammarStates::State m_state = 0;
    std::unordered_map<GrammarStates::State, Mask> m_masks; // by state
    struct Level
    {
        std::uint32_t end = 0; // of the subtree
        GrammarStates::State state = 0;
    };
    std::vector<Level> m_path; // of the walk through the trie
};

} // namespace firesteel::engine
