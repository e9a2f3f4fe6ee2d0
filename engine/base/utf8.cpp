// SPDX-License-Identifier: MIT
#include "engine/base/utf8.h"

#include <simdjson.h>
#include <utility>

namespace firesteel::engine {

namespace {

// Appends `text` repaired; returns the length of an incomplete character at its end, which is not
// appended.
std::size_t appendRepaired(std::string &out, std::string_view text)
{
    if (isValidUtf8(text)) {
        out += text;
        return 0;
    }
    while (!text.empty()) {
        const Utf8Character character = firstUtf8Character(text);
        if (character.kind == Utf8Character::Kind::Incomplete)
            return text.size();
        out += character.kind == Utf8Character::Kind::Valid ? text.substr(0, character.length)
                                                            : kReplacementCharacter;
        text.remove_prefix(character.length);
    }
    return 0;
}

} // namespace

bool isValidUtf8(std::string_view text) { return simdjson::validate_utf8(text); }

std::string replaceInvalidUtf8(std::string_view text)
{
    std::string out;
    out.reserve(text.size());
    if (appendRepaired(out, text) > 0)
        out += kReplacementCharacter;
    return out;
}

// Well-formed byte sequences: Unicode 16, table 3-7. Only the second byte has bounds that depend on
// the first.
Utf8Character firstUtf8Character(std::string_view text)
{
    using Kind = Utf8Character::Kind;
    const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned lead = byte(0);
    if (lead < 0x80)
        return { Kind::Valid, 1 };
    if (lead < 0xC2 || lead > 0xF4)
        return { Kind::Invalid, 1 };
    const std::size_t length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    unsigned low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
    unsigned high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
    for (std::size_t i = 1; i < length; ++i) {
        if (i == text.size())
            return { Kind::Incomplete, i };
        if (byte(i) < low || byte(i) > high)
            return { Kind::Invalid, i };
        low = 0x80;
        high = 0xBF;
    }
    return { Kind::Valid, length };
}

std::string Utf8Stream::push(std::string_view bytes)
{
    std::string input = std::exchange(m_pending, {});
    input += bytes;
    std::string out;
    const std::size_t incomplete = appendRepaired(out, input);
    m_pending = input.substr(input.size() - incomplete);
    return out;
}

std::string Utf8Stream::finish()
{
    return std::exchange(m_pending, {}).empty() ? std::string()
                                                : std::string(kReplacementCharacter);
}

} // namespace firesteel::engine
