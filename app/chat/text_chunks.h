// SPDX-License-Identifier: MIT
//
// Cuts a long plain text (a pasted file, a long reasoning) into pieces small enough for one text
// item each. Text appended later never moves an earlier cut.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace firesteel::app {

struct TextChunk
{
    std::size_t begin = 0; // bytes; the line break at a cut is in neither chunk
    std::size_t end = 0;
};

std::vector<TextChunk> textChunks(std::string_view utf8);

} // namespace firesteel::app
