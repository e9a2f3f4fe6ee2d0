// SPDX-License-Identifier: MIT
//
// Sets of Unicode scalar values (0 to 10FFFF without the surrogates), for string constraints.
#pragma once

#include <vector>

namespace firesteel::engine {

struct CodePointRange
{
    char32_t first = 0; // first to last, both included
    char32_t last = 0;

    auto operator<=>(const CodePointRange &) const = default;
};

// Sorted, neither overlapping nor adjacent, surrogates left out.
using CodePoints = std::vector<CodePointRange>;

inline constexpr char32_t kLastCodePoint = 0x10FFFF;

const CodePoints &allCodePoints();
CodePoints makeCodePoints(std::vector<CodePointRange> ranges); // any order, overlaps allowed
CodePoints complement(const CodePoints &set);
CodePoints intersection(const CodePoints &a, const CodePoints &b);
bool contains(const CodePoints &set, char32_t codePoint);

} // namespace firesteel::engine
