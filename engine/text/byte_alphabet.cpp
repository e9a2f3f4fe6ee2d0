// SPDX-License-Identifier: MIT
#include "engine/text/byte_alphabet.h"

#include <array>
#include <cstdint>

namespace firesteel::engine {

namespace {

constexpr std::size_t kAlphabetEnd = 256 + 68; // 68 bytes have no printable character of their own
constexpr std::int16_t kNotInAlphabet = -1;

// Code point -> byte. Printable Latin-1 stands for itself, the other bytes, in order, are U+0100
// and up.
constexpr auto kByteOf = [] {
    std::array<std::int16_t, kAlphabetEnd> table {};
    table.fill(kNotInAlphabet);
    std::size_t next = 256;
    for (std::int16_t byte = 0; byte < 256; ++byte) {
        const bool printable
            = (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
        table[printable ? static_cast<std::size_t>(byte) : next++] = byte;
    }
    return table;
}();

} // namespace

std::optional<std::string> bytesOfAlphabet(std::string_view text)
{
    std::string bytes;
    for (std::size_t i = 0; i < text.size(); ++i) {
        std::size_t codePoint = static_cast<unsigned char>(text[i]);
        if (codePoint >= 0xE0)
            return std::nullopt; // three bytes or more: beyond the alphabet
        if (codePoint >= 0x80)
            codePoint = (codePoint & 0x1FU) << 6 | (static_cast<unsigned char>(text[++i]) & 0x3FU);
        if (codePoint >= kAlphabetEnd || kByteOf[codePoint] == kNotInAlphabet)
            return std::nullopt;
        bytes += static_cast<char>(kByteOf[codePoint]);
    }
    return bytes;
}

} // namespace firesteel::engine
