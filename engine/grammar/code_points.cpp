// SPDX-License-Identifier: MIT
#include "engine/grammar/code_points.h"

#include <algorithm>

namespace firesteel::engine {

namespace {

constexpr char32_t kFirstSurrogate = 0xD800;
constexpr char32_t kLastSurrogate = 0xDFFF;

} // namespace

const CodePoints &allCodePoints()
{
    static const CodePoints all { { 0, kFirstSurrogate - 1 },
                                  { kLastSurrogate + 1, kLastCodePoint } };
    return all;
}

CodePoints makeCodePoints(std::vector<CodePointRange> ranges)
{
    std::ranges::sort(ranges);
    CodePoints merged;
    for (const CodePointRange &range : ranges) {
        if (!merged.empty() && range.first <= merged.back().last + 1)
            merged.back().last = std::max(merged.back().last, range.last);
        else
            merged.push_back(range);
    }
    return intersection(merged, allCodePoints());
}

CodePoints complement(const CodePoints &set)
{
    CodePoints rest;
    char32_t next = 0;
    for (const CodePointRange &range : set) {
        if (range.first > next)
            rest.push_back({ next, range.first - 1 });
        next = range.last + 1;
    }
    if (next <= kLastCodePoint)
        rest.push_back({ next, kLastCodePoint });
    return intersection(rest, allCodePoints());
}

CodePoints intersection(const CodePoints &a, const CodePoints &b)
{
    CodePoints common;
    for (auto left = a.begin(), right = b.begin(); left != a.end() && right != b.end();) {
        const char32_t first = std::max(left->first, right->first);
        const char32_t last = std::min(left->last, right->last);
        if (first <= last)
            common.push_back({ first, last });
        if (left->last < right->last)
            ++left;
        else
            ++right;
    }
    return common;
}

bool contains(const CodePoints &set, char32_t codePoint)
{
    return std::ranges::any_of(set, [codePoint](const CodePointRange &range) {
        return range.first <= codePoint && codePoint <= range.last;
    });
}

} // namespace firesteel::engine
