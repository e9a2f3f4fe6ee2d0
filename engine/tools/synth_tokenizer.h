// SPDX-License-Identifier: MIT
//
// tokenizer.json of a model made by this program: the release's kind of byte-level BPE with any
// merges, and the release's 36 added tokens behind the base tokens.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

namespace firesteel::engine {

inline constexpr int kAddedTokenCount = 36;

// Both sides of a merge in the file's alphabet (one character a byte). The merges' results are
// tokens 256 and up.
using TokenMerge = std::pair<std::string, std::string>;

// Merges that give `baseTokens` tokens with the 256 bytes: first every pair of bytes, then those
// with a third byte. Needs 256 <= baseTokens <= 256 + 2^16 + 2^24.
std::vector<TokenMerge> byteMerges(int baseTokens);

std::string tokenizerJson(std::span<const TokenMerge> merges);

} // namespace firesteel::engine
