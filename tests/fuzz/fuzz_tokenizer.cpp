// SPDX-License-Identifier: MIT
//
// Input: a tokenizer.json. Whatever the reader accepts must encode any text without losing a byte
// of it.
#include "engine/base/utf8.h"
#include "engine/text/tokenizer.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

using namespace firesteel::engine;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
    const std::string_view input(reinterpret_cast<const char *>(data), size);
    const auto tokenizer = Tokenizer::parse(input, "tokenizer.json");
    if (!tokenizer) {
        if (tokenizer.error().message.find('\n') != std::string::npos)
            std::abort();
        return 0;
    }
    // Text the file has something to do with: pieces of itself.
    for (const std::string_view text :
         { input.substr(0, 200), input.substr(size - std::min<std::size_t>(size, 200)),
           std::string_view("Hello <think> \xE4\xB8\x96\xFF 123  \r\n\n it's") }) {
        if (tokenizer->decode(tokenizer->encodeOrdinary(text)) != replaceInvalidUtf8(text))
            std::abort();
        for (const std::int32_t id : tokenizer->encode(text)) {
            if (!tokenizer->isMapped(id))
                std::abort();
        }
    }
    return 0;
}
