// SPDX-License-Identifier: MIT
//
// UTF-8 checking and repair for text that comes from files, clients or token bytes. A byte sequence
// that is not UTF-8 becomes one U+FFFD per maximal subpart (Unicode 16, section 3.9, U+FFFD
// substitution), as Python and Rust do it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace firesteel::engine {

inline constexpr std::string_view kReplacementCharacter = "\xEF\xBF\xBD";

bool isValidUtf8(std::string_view text);

// A copy with every invalid part replaced by U+FFFD.
std::string replaceInvalidUtf8(std::string_view text);

// The character at the front of `text`, which must not be empty.
struct Utf8Character
{
    enum class Kind {
        Valid,
        Invalid, // `length` bytes stand for one U+FFFD
        Incomplete, // the text ends inside a character that could still become valid
    };
    Kind kind = Kind::Valid;
    std::size_t length = 1;
};
Utf8Character firstUtf8Character(std::string_view text);

// Bytes in, whole characters out. The concatenated output is replaceInvalidUtf8() of the
// concatenated input however it is cut.
class Utf8Stream
{
public:
    std::string push(std::string_view bytes);
    std::string finish(); // U+FFFD when the input ends inside a character

private:
    std::string m_pending; // the beginning of a character, at most three bytes
};

} // namespace firesteel::engine
