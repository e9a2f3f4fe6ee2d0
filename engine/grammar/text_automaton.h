// SPDX-License-Identifier: MIT
//
// A set of texts as a deterministic automaton over code points: what a pattern, a format or a list
// of forbidden keys allows. Sets are intersected here and written into a grammar by StringRules.
#pragma once

#include "engine/grammar/code_points.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace firesteel::engine {

// The code points of well-formed UTF-8.
std::u32string codePointsOf(std::string_view text);

struct TextAutomaton
{
    static constexpr std::size_t kMaxStates = 16'384;

    struct Edge
    {
        CodePointRange range;
        std::int32_t target = 0;
    };
    struct State
    {
        std::vector<Edge> edges; // sorted by range, not overlapping; elsewhere: no text goes on
        bool mayEnd = false;
    };

    std::vector<State> states; // the first one starts

    // In code points. Without `max`: without end.
    static TextAutomaton ofLength(std::size_t min, std::optional<std::size_t> max);
    static TextAutomaton noneOf(std::span<const std::string> texts);

    bool matches(std::string_view text) const; // well-formed UTF-8
};

// Empty: more than kMaxStates.
std::optional<TextAutomaton> intersection(const TextAutomaton &a, const TextAutomaton &b);

} // namespace firesteel::engine
