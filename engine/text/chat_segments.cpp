// SPDX-License-Identifier: MIT
#include "engine/text/chat_segments.h"

#include <algorithm>
#include <array>
#include <optional>

namespace firesteel::engine {

namespace {

// What str.isspace() is true for, beyond the ASCII characters below.
constexpr auto kWideSpaces = std::to_array<std::string_view>(
    { "\u0085", "\u00A0", "\u1680", "\u2000", "\u2001", "\u2002", "\u2003", "\u2004", "\u2005",
      "\u2006", "\u2007", "\u2008", "\u2009", "\u200A", "\u2028", "\u2029", "\u202F", "\u205F",
      "\u3000" });

bool isAsciiSpace(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r') || (c >= '\x1C' && c <= '\x1F');
}

std::size_t leadingSpace(std::string_view text)
{
    if (text.empty())
        return 0;
    if (isAsciiSpace(text.front()))
        return 1;
    const auto wide = std::ranges::find_if(
        kWideSpaces, [text](std::string_view space) { return text.starts_with(space); });
    return wide == kWideSpaces.end() ? 0 : wide->size();
}

std::size_t trailingSpace(std::string_view text)
{
    if (text.empty())
        return 0;
    if (isAsciiSpace(text.back()))
        return 1;
    const auto wide = std::ranges::find_if(
        kWideSpaces, [text](std::string_view space) { return text.ends_with(space); });
    return wide == kWideSpaces.end() ? 0 : wide->size();
}

// A place in the text of one segment.
struct Place
{
    std::size_t segment = 0;
    std::size_t offset = 0;
};

std::optional<Place> findFirst(const ChatSegments &segments, std::string_view tag)
{
    for (std::size_t i = 0; i < segments.size(); ++i) {
        if (const std::size_t at = segments[i].text.find(tag);
            !segments[i].isControl && at != std::string::npos)
            return Place { i, at };
    }
    return std::nullopt;
}

std::optional<Place> findLast(const ChatSegments &segments, std::string_view tag)
{
    for (std::size_t i = segments.size(); i-- > 0;) {
        if (const std::size_t at = segments[i].text.rfind(tag);
            !segments[i].isControl && at != std::string::npos)
            return Place { i, at };
    }
    return std::nullopt;
}

ChatSegments before(const ChatSegments &segments, Place place)
{
    SegmentWriter out;
    out.append(ChatSegments(segments.begin(),
                            segments.begin() + static_cast<std::ptrdiff_t>(place.segment)));
    out.text(std::string_view(segments[place.segment].text).substr(0, place.offset));
    return out.take();
}

ChatSegments after(const ChatSegments &segments, Place place)
{
    SegmentWriter out;
    out.text(std::string_view(segments[place.segment].text).substr(place.offset));
    out.append(ChatSegments(segments.begin() + static_cast<std::ptrdiff_t>(place.segment) + 1,
                            segments.end()));
    return out.take();
}

} // namespace

void SegmentWriter::text(std::string_view text)
{
    if (text.empty())
        return;
    if (m_segments.empty() || m_segments.back().isControl)
        m_segments.push_back({ false, "" });
    m_segments.back().text += text;
}

void SegmentWriter::exact(const std::vector<std::int32_t> &ids)
{
    if (!ids.empty())
        m_segments.push_back({ false, "", ids });
}

void SegmentWriter::append(const ChatSegments &segments)
{
    for (const ChatSegment &segment : segments) {
        if (segment.isControl)
            control(segment.text);
        else
            text(segment.text);
    }
}

ChatSegments takeInlineReasoning(ChatSegments &content)
{
    constexpr std::string_view kBegin = "<think>";
    constexpr std::string_view kEnd = "</think>";
    const auto end = findFirst(content, kEnd);
    if (!end)
        return {};
    ChatSegments reasoning = before(content, *end);
    if (const auto begin = findLast(reasoning, kBegin))
        reasoning = after(reasoning, { begin->segment, begin->offset + kBegin.size() });
    const Place lastEnd = findLast(content, kEnd).value_or(*end);
    content = after(content, { lastEnd.segment, lastEnd.offset + kEnd.size() });
    return reasoning;
}

void stripSegments(ChatSegments &content)
{
    if (!content.empty() && !content.front().isControl) {
        std::string_view text = content.front().text;
        while (const std::size_t space = leadingSpace(text))
            text.remove_prefix(space);
        content.front().text = std::string(text);
    }
    if (!content.empty() && !content.back().isControl) {
        std::string_view text = content.back().text;
        while (const std::size_t space = trailingSpace(text))
            text.remove_suffix(space);
        content.back().text = std::string(text);
    }
}

} // namespace firesteel::engine
