// SPDX-License-Identifier: MIT
//
// GPT-2's alphabet: tokenizer files write each byte of a token as one printable character. Used
// when a tokenizer file is read.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace firesteel::engine {

// The bytes that `text` (valid UTF-8) stands for; nothing when a character is not of the alphabet.
std::optional<std::string> bytesOfAlphabet(std::string_view text);

} // namespace firesteel::engine
