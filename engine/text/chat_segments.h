// SPDX-License-Identifier: MIT
//
// Building and cutting the segments of a prompt (ChatSegment). Used by the chat format.
#pragma once

#include "engine/text/chat_format.h"

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace firesteel::engine {

using ChatSegments = std::vector<ChatSegment>;

// Joins text between control tokens, because the pre-tokenizer sees it as one piece.
class SegmentWriter
{
public:
    void control(std::string_view token) { m_segments.push_back({ true, std::string(token) }); }
    void text(std::string_view text);
    void exact(const std::vector<std::int32_t> &ids); // between two control tokens
    void append(const ChatSegments &segments);
    ChatSegments take() { return std::move(m_segments); }

private:
    ChatSegments m_segments;
};

// Raw transcripts carry reasoning inside the answer's text. Where `content` has "</think>", cuts it
// down to what follows the last one and returns what precedes the first, from the last "<think>"
// on.
ChatSegments takeInlineReasoning(ChatSegments &content);

// Python's str.strip() over the joined text.
void stripSegments(ChatSegments &content);

} // namespace firesteel::engine
