// SPDX-License-Identifier: MIT
#include "tests/engine/grammar/grammar_walk.h"

#include <algorithm>

namespace firesteel::test {

using engine::GrammarStates;
using engine::Symbol;

namespace {

// Bytes that end what is open, the likeliest first.
constexpr std::string_view kClosing = "\"}],0123456789:alsnturefbABCDEFcd-T.Z@x";
constexpr std::size_t kPatience = 10'000;

} // namespace

std::size_t followed(const GrammarPointer &grammar, std::string_view text)
{
    GrammarStates states(grammar);
    GrammarStates::State state = states.start();
    for (std::size_t i = 0; i < text.size(); ++i) {
        state = states.next(state, static_cast<unsigned char>(text[i]));
        if (state == GrammarStates::kDead)
            return i;
    }
    return text.size();
}

bool accepts(const GrammarPointer &grammar, std::string_view text)
{
    GrammarStates states(grammar);
    GrammarStates::State state = states.start();
    for (const char c : text)
        state = states.next(state, static_cast<unsigned char>(c));
    return states.mayEnd(state);
}

std::string Walk::text() const
{
    std::string bytes;
    for (const Symbol symbol : symbols) {
        if (symbol < engine::kFirstTag)
            bytes += static_cast<char>(symbol);
    }
    return bytes;
}

Walk randomWalk(GrammarStates &states, std::mt19937 &random, std::size_t length)
{
    Walk walk;
    GrammarStates::State state = states.start();
    while (walk.symbols.size() < length + kPatience) {
        const bool isLate = walk.symbols.size() >= length;
        std::vector<Symbol> next;
        for (Symbol symbol = 0; symbol < engine::kSymbolCount; ++symbol) {
            if (states.next(state, symbol) != GrammarStates::kDead)
                next.push_back(symbol);
        }
        if (states.mayEnd(state) && (next.empty() || isLate || random() % 8 == 0)) {
            walk.hasEnded = true;
            return walk;
        }
        if (next.empty()) {
            walk.wasStuck = true;
            return walk;
        }
        Symbol chosen = next[random() % next.size()];
        // Without this most walks would stay inside the first string: half of the steps go to
        // ASCII, some to what closes.
        const auto isPlain = [](Symbol symbol) { return symbol >= ' ' && symbol < 0x7F; };
        if (random() % 2 == 0 && std::ranges::any_of(next, isPlain)) {
            std::erase_if(next, [&](Symbol symbol) { return !isPlain(symbol); });
            chosen = next[random() % next.size()];
        }
        if (isLate || random() % 4 == 0) {
            for (const char c : kClosing) {
                if (isLate && random() % 8 == 0)
                    continue; // always the same closing byte may lead round in a circle
                if (std::ranges::find(next, static_cast<Symbol>(c)) != next.end()) {
                    chosen = static_cast<Symbol>(c);
                    break;
                }
            }
        }
        if (next.back() >= engine::kFirstTag && random() % (isLate ? 2 : 8) == 0)
            chosen = next.back(); // the end tag where text could go on for ever
        walk.symbols.push_back(chosen);
        state = states.next(state, chosen);
    }
    return walk;
}

} // namespace firesteel::test
