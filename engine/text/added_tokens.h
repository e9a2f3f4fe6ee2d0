// SPDX-License-Identifier: MIT
//
// Finds added tokens ("<think>") in text: at the leftmost place where one begins, the longest. Used
// by the tokenizer before anything else looks at the text.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace firesteel::engine {

struct AddedToken
{
    std::int32_t id = 0;
    std::string content;
    bool special = false;
    // Matched in a second pass over what the others left; without a normaliser that is the flag's
    // whole effect.
    bool normalized = false;
};

class AddedTokenMatcher
{
public:
    explicit AddedTokenMatcher(std::vector<AddedToken> tokens);

    struct Found
    {
        std::size_t position = 0;
        std::size_t length = 0;
        std::int32_t id = 0;
    };
    std::optional<Found> findFirst(std::string_view text) const;

private:
    std::vector<AddedToken> m_tokens; // by first byte, then longest first
    std::array<std::pair<std::uint32_t, std::uint32_t>, 256>
        m_byFirstByte {}; // [begin, end) in m_tokens
};

} // namespace firesteel::engine
