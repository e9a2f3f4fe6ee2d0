// SPDX-License-Identifier: MIT
#include "engine/tools/synth_tokenizer.h"
#include "tests/support/tiny_checkpoint.h"

#include <array>
#include <utility>
#include <vector>

namespace firesteel::test {

namespace {

// "Ġ" stands for a space.
constexpr std::array<std::pair<const char *, const char *>, 20> kMerges { {
    { "Ġ", "t" },   { "h", "e" },   { "i", "n" }, { "r", "e" },  { "o", "n" },
    { "Ġt", "he" }, { "Ġ", "a" },   { "e", "r" }, { "a", "t" },  { "Ġ", "s" },
    { "e", "n" },   { "in", "g" },  { "Ġ", "w" }, { "o", "r" },  { "o", "u" },
    { "Ġa", "n" },  { "Ġan", "d" }, { "Ġ", "i" }, { "Ġi", "s" }, { "l", "l" },
} };

} // namespace

std::string tinyTokenizerJson()
{
    return engine::tokenizerJson(std::vector<engine::TokenMerge>(kMerges.begin(), kMerges.end()));
}

} // namespace firesteel::test
