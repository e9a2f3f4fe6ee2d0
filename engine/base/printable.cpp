// SPDX-License-Identifier: MIT
#include "engine/base/printable.h"

#include "engine/base/utf8.h"

#include <format>

namespace firesteel::engine {

std::string printable(std::string_view text, std::size_t limit)
{
    const bool isUtf8 = isValidUtf8(text);
    const bool isCut = text.size() > limit;
    if (isCut) {
        // Never inside a character: continuation bytes are 10xxxxxx.
        while (limit > 0 && isUtf8 && (static_cast<unsigned char>(text[limit]) & 0xC0U) == 0x80U)
            --limit;
        text = text.substr(0, limit);
    }
    std::string result;
    for (const char character : text) {
        const auto byte = static_cast<unsigned char>(character);
        if (byte < 0x20 || byte == 0x7F || (byte >= 0x80 && !isUtf8))
            result += std::format("\\x{:02X}", byte);
        else
            result += character;
    }
    if (isCut)
        result += "...";
    return result;
}

} // namespace firesteel::engine
