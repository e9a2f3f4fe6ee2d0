// SPDX-License-Identifier: MIT
//
// Texts against a grammar: whole ones, and random walks to an end, a byte at a time as the token
// masks take them.
#pragma once

#include "engine/grammar/grammar_states.h"

#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace firesteel::test {

using GrammarPointer = std::shared_ptr<const engine::Grammar>;

bool accepts(const GrammarPointer &grammar, std::string_view text);
// How many bytes of `text` the grammar follows.
std::size_t followed(const GrammarPointer &grammar, std::string_view text);

// A random text of the grammar. After `length` symbols the walk ends where it can, and turns to
// what ends soonest; empty when it came to no end within `length` + 10,000 more or if a live state
// had no way on.
struct Walk
{
    std::vector<engine::Symbol> symbols;
    bool hasEnded = false;
    bool wasStuck = false; // a live state neither ends nor goes on: a bug

    std::string text() const; // without tags
};
Walk randomWalk(engine::GrammarStates &states, std::mt19937 &random, std::size_t length);

} // namespace firesteel::test
