// SPDX-License-Identifier: MIT
#include "engine/grammar/text_automaton.h"

#include "engine/base/utf8.h"

#include <algorithm>
#include <map>
#include <utility>

namespace firesteel::engine {

namespace {

std::size_t at(std::int32_t index) { return static_cast<std::size_t>(index); }

} // namespace

std::u32string codePointsOf(std::string_view text)
{
    std::u32string codePoints;
    while (!text.empty()) {
        const std::size_t length = firstUtf8Character(text).length;
        const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
        char32_t codePoint = length == 1 ? byte(0) : byte(0) & (0x7FU >> length);
        for (std::size_t i = 1; i < length; ++i)
            codePoint = codePoint << 6U | (byte(i) & 0x3FU);
        codePoints += codePoint;
        text.remove_prefix(length);
    }
    return codePoints;
}

TextAutomaton TextAutomaton::ofLength(std::size_t min, std::optional<std::size_t> max)
{
    TextAutomaton automaton;
    const std::size_t last = max.value_or(min);
    for (std::size_t length = 0; length <= last; ++length) {
        State &state = automaton.states.emplace_back();
        state.mayEnd = length >= min;
        if (length == last && max)
            break;
        for (const CodePointRange &range : allCodePoints())
            state.edges.push_back({ range, static_cast<std::int32_t>(std::min(length + 1, last)) });
    }
    return automaton;
}

TextAutomaton TextAutomaton::noneOf(std::span<const std::string> texts)
{
    // A tree of the texts; what leaves it goes to state 1, where everything is allowed.
    struct Branch
    {
        std::map<char32_t, std::int32_t> next;
        bool isText = false;
    };
    std::vector<Branch> tree(2);
    for (const std::string &text : texts) {
        std::int32_t place = 0;
        for (const char32_t c : codePointsOf(text)) {
            const auto [known, isNew]
                = tree[at(place)].next.try_emplace(c, static_cast<std::int32_t>(tree.size()));
            place = known->second;
            if (isNew)
                tree.emplace_back();
        }
        tree[at(place)].isText = true;
    }
    TextAutomaton automaton;
    for (const Branch &branch : tree) {
        State &state = automaton.states.emplace_back();
        state.mayEnd = !branch.isText;
        std::vector<CodePointRange> taken;
        for (const auto &[c, target] : branch.next) {
            taken.push_back({ c, c });
            state.edges.push_back({ { c, c }, target });
        }
        for (const CodePointRange &range : complement(makeCodePoints(std::move(taken))))
            state.edges.push_back({ range, 1 });
        std::ranges::sort(state.edges, {}, &Edge::range);
    }
    return automaton;
}

bool TextAutomaton::matches(std::string_view text) const
{
    std::int32_t state = 0;
    for (const char32_t c : codePointsOf(text)) {
        const std::vector<Edge> &edges = states[at(state)].edges;
        const auto edge = std::ranges::find_if(edges, [c](const Edge &candidate) {
            return candidate.range.first <= c && c <= candidate.range.last;
        });
        if (edge == edges.end())
            return false;
        state = edge->target;
    }
    return states[at(state)].mayEnd;
}

std::optional<TextAutomaton> intersection(const TextAutomaton &a, const TextAutomaton &b)
{
    std::map<std::pair<std::int32_t, std::int32_t>, std::int32_t> numbers { { { 0, 0 }, 0 } };
    std::vector<std::pair<std::int32_t, std::int32_t>> pairs { { 0, 0 } };
    TextAutomaton product;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        if (pairs.size() > TextAutomaton::kMaxStates)
            return {};
        const TextAutomaton::State &left = a.states[at(pairs[i].first)];
        const TextAutomaton::State &right = b.states[at(pairs[i].second)];
        TextAutomaton::State &state = product.states.emplace_back();
        state.mayEnd = left.mayEnd && right.mayEnd;
        for (auto l = left.edges.begin(), r = right.edges.begin();
             l != left.edges.end() && r != right.edges.end();) {
            const char32_t first = std::max(l->range.first, r->range.first);
            const char32_t last = std::min(l->range.last, r->range.last);
            if (first <= last) {
                const auto [known, isNew] = numbers.try_emplace(
                    { l->target, r->target }, static_cast<std::int32_t>(pairs.size()));
                if (isNew)
                    pairs.emplace_back(l->target, r->target);
                state.edges.push_back({ { first, last }, known->second });
            }
            if (l->range.last < r->range.last)
                ++l;
            else
                ++r;
        }
    }
    return product;
}

} // namespace firesteel::engine
