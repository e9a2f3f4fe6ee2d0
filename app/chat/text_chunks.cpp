// SPDX-License-Identifier: MIT
#include "app/chat/text_chunks.h"

namespace firesteel::app {

namespace {

constexpr std::size_t kShortestCut = 3000; // bytes
constexpr std::size_t kLongestChunk = 6000;

bool isContinuationByte(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U; }

// Where the first chunk of a text longer than kLongestChunk ends, if no line break says so.
std::size_t forcedCut(std::string_view text)
{
    const std::size_t space = text.substr(0, kLongestChunk).rfind(' ');
    if (space != std::string_view::npos && space >= kShortestCut)
        return space + 1;
    std::size_t cut = kLongestChunk;
    while (cut > kShortestCut && isContinuationByte(text[cut]))
        --cut;
    return cut;
}

} // namespace

std::vector<TextChunk> textChunks(std::string_view utf8)
{
    std::vector<TextChunk> chunks;
    std::size_t begin = 0;
    while (utf8.size() - begin > kShortestCut) {
        const std::string_view rest = utf8.substr(begin);
        const std::size_t lineBreak = rest.find('\n', kShortestCut);
        if (lineBreak < kLongestChunk) {
            chunks.push_back({ begin, begin + lineBreak });
            begin += lineBreak + 1;
        } else if (rest.size() > kLongestChunk) {
            const std::size_t cut = forcedCut(rest);
            chunks.push_back({ begin, begin + cut });
            begin += cut;
        } else {
            break;
        }
    }
    if (begin < utf8.size())
        chunks.push_back({ begin, utf8.size() });
    return chunks;
}

} // namespace firesteel::app
