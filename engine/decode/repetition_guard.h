// SPDX-License-Identifier: MIT
//
// Sees that a model has begun to say the same again and again. Tokens repeat with period p while
// each equals the one p before it; a loop is a tail that has done so for kRepeatedTokens tokens and
// kRepeats periods. Long tables and lists repeat much, hardly ever every token for so long.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace firesteel::engine {

class RepetitionGuard
{
public:
    static constexpr std::size_t kLongestPeriod = 128; // tokens
    static constexpr std::size_t kRepeatedTokens = 512;
    static constexpr std::size_t kRepeats = 8;

    // The next token of an answer. Returns whether it closes a loop.
    bool push(std::int32_t token);

private:
    std::array<std::int32_t, kLongestPeriod> m_tokens = {}; // a ring of the newest
    std::size_t m_count = 0; // of all tokens
    std::array<std::size_t, kLongestPeriod + 1> m_repeated = {}; // by period: tokens that repeat
};

} // namespace firesteel::engine
