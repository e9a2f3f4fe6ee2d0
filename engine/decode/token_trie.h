// SPDX-License-Identifier: MIT
//
// The texts of a vocabulary as one prefix tree, laid out in the order of a depth-first walk: the
// children of a node follow it, and what does not match is passed over in one step. What a token
// mask is made from. Added tokens are tags, not text, and are not in it.
#pragma once

#include "engine/text/tokenizer.h"

#include <cstdint>
#include <span>
#include <vector>

namespace firesteel::engine {

class TokenTrie
{
public:
    static constexpr std::int32_t kNone = -1;

    struct Node
    {
        std::uint32_t next = 0; // the first node that is not below this one
        std::int32_t token = kNone; // whose text ends here
        std::uint8_t byte = 0; // its last
    };

    // `vocabularySize`: of the model; tokens beyond it are left out.
    TokenTrie(const Tokenizer &tokenizer, int vocabularySize);

    std::span<const Node> nodes() const { return m_nodes; }

private:
    std::vector<Node> m_nodes;
};

} // namespace firesteel::engine
