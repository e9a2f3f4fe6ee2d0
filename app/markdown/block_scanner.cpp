// SPDX-License-Identifier: MIT
#include "app/markdown/block_scanner.h"

#include <algorithm>

namespace firesteel::app {

namespace {

constexpr int kTabStop = 4;
constexpr int kCodeIndent = 4; // columns from which a line is indented code
constexpr std::size_t kFenceLength = 3;
constexpr std::size_t kLongestOrdinal = 9; // digits of an ordered list's number

std::string_view withoutLineEnding(std::string_view line)
{
    while (!line.empty() && (line.back() == '\n' || line.back() == '\r'))
        line.remove_suffix(1);
    return line;
}

std::string_view withoutIndent(std::string_view line)
{
    const std::size_t first = line.find_first_not_of(" \t");
    return first == std::string_view::npos ? std::string_view() : line.substr(first);
}

struct ListMarker
{
    int contentIndent = 0; // column at which the item's text starts
    bool mayInterruptParagraph = false;
};

std::optional<ListMarker> listMarker(std::string_view line)
{
    line = withoutLineEnding(line);
    const int indent = lineIndent(line);
    std::string_view rest = withoutIndent(line);
    if (rest.empty() || indent >= kCodeIndent || isThematicBreak(line))
        return std::nullopt;
    std::size_t width = 1;
    bool mayInterrupt = true;
    if (rest[0] != '-' && rest[0] != '*' && rest[0] != '+') {
        width = rest.find_first_not_of("0123456789");
        if (width == 0 || width == std::string_view::npos || width > kLongestOrdinal
            || (rest[width] != '.' && rest[width] != ')'))
            return std::nullopt;
        mayInterrupt = rest.substr(0, width) == "1";
        ++width;
    }
    const std::string_view content = rest.substr(width);
    if (!content.empty() && content[0] != ' ' && content[0] != '\t')
        return std::nullopt;
    const bool isEmpty = withoutIndent(content).empty();
    // One to four columns between marker and text; more is code inside the item.
    const int columns = lineIndent(content);
    const int gap = isEmpty || columns > kCodeIndent ? 1 : columns;
    return ListMarker { indent + static_cast<int>(width) + gap, mayInterrupt && !isEmpty };
}

std::size_t runOf(std::string_view text, char character)
{
    return std::min(text.find_first_not_of(character), text.size());
}

bool isAtxHeading(std::string_view line)
{
    const std::string_view rest = withoutIndent(withoutLineEnding(line));
    const std::size_t marks = runOf(rest, '#');
    return lineIndent(line) < kCodeIndent && marks >= 1 && marks <= 6
        && (marks == rest.size() || rest[marks] == ' ' || rest[marks] == '\t');
}

} // namespace

int lineIndent(std::string_view line)
{
    int column = 0;
    for (const char c : line) {
        if (c == ' ')
            ++column;
        else if (c == '\t')
            column += kTabStop - column % kTabStop;
        else
            break;
    }
    return column;
}

bool isBlankLine(std::string_view line)
{
    return line.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

bool isThematicBreak(std::string_view line)
{
    const std::string_view rest = withoutIndent(withoutLineEnding(line));
    if (rest.empty() || lineIndent(line) >= kCodeIndent
        || (rest[0] != '-' && rest[0] != '*' && rest[0] != '_'))
        return false;
    const auto marks = std::ranges::count(rest, rest[0]);
    const auto blanks = std::ranges::count_if(rest, [](char c) { return c == ' ' || c == '\t'; });
    return marks >= 3 && static_cast<std::size_t>(marks + blanks) == rest.size();
}

bool isReferenceDefinition(std::string_view line)
{
    const std::string_view rest = withoutIndent(line);
    if (lineIndent(line) >= kCodeIndent || rest.size() < 4 || rest[0] != '[')
        return false;
    for (std::size_t i = 1; i + 1 < rest.size(); ++i) {
        if (rest[i] == '\\')
            ++i;
        else if (rest[i] == '[')
            return false;
        else if (rest[i] == ']')
            return i > 1 && rest[i + 1] == ':';
    }
    return false;
}

std::optional<BlockScanner::Fence> fenceOpening(std::string_view line)
{
    const int indent = lineIndent(line);
    const std::string_view rest = withoutIndent(withoutLineEnding(line));
    if (rest.empty() || indent >= kCodeIndent || (rest[0] != '`' && rest[0] != '~'))
        return std::nullopt;
    const std::size_t length = runOf(rest, rest[0]);
    // The info string of a backtick fence has no backtick: it would be inline code.
    if (length < kFenceLength
        || (rest[0] == '`' && rest.find('`', length) != std::string_view::npos))
        return std::nullopt;
    return BlockScanner::Fence { rest[0], length, indent };
}

bool BlockScanner::closesFence(const Fence &fence, std::string_view line)
{
    const std::string_view rest = withoutIndent(withoutLineEnding(line));
    if (lineIndent(line) >= kCodeIndent)
        return false;
    const std::size_t length = runOf(rest, fence.character);
    return length >= fence.length && withoutIndent(rest.substr(length)).empty();
}

bool BlockScanner::mayCloseFence(const Fence &fence, std::string_view line)
{
    const std::string_view rest = withoutIndent(withoutLineEnding(line));
    if (lineIndent(line) >= kCodeIndent)
        return false;
    return withoutIndent(rest.substr(runOf(rest, fence.character))).empty();
}

BlockScanner::Line BlockScanner::feed(std::string_view line)
{
    if (m_fence) {
        if (closesFence(*m_fence, line)) {
            m_fence.reset();
            m_state = State::None;
            m_previousBlank = false;
            m_pendingStart = true;
        }
        return Line::Continues;
    }
    return feedOutsideFence(line);
}

BlockScanner::Line BlockScanner::feedOutsideFence(std::string_view line)
{
    if (isBlankLine(line)) {
        m_previousBlank = true;
        return Line::Continues;
    }
    const int indent = lineIndent(line);
    const auto marker = listMarker(line);
    const bool isInItem = m_state == State::List && indent >= m_listContentIndent;
    if (!isInItem && startsBlock(line)) {
        m_fence = fenceOpening(line);
        m_state = State::None;
        m_previousBlank = false;
        m_pendingStart = !m_fence; // a heading or a rule is one line
        return Line::Starts;
    }
    const bool starts = m_state == State::List ? m_previousBlank && indent == 0 && !marker
        : m_state == State::IndentedCode       ? indent < kCodeIndent
                                               : m_previousBlank || m_pendingStart;
    const bool mayBeMarker
        = starts || m_state != State::Paragraph || (marker && marker->mayInterruptParagraph);
    if (m_state == State::List && !starts) {
        if (marker && !isInItem)
            m_listContentIndent = marker->contentIndent;
    } else if (marker && mayBeMarker) {
        m_state = State::List;
        m_listContentIndent = marker->contentIndent;
    } else if (starts) {
        m_state = indent >= kCodeIndent ? State::IndentedCode : State::Paragraph;
    }
    m_previousBlank = false;
    m_pendingStart = false;
    return starts ? Line::Starts : Line::Continues;
}

// Lines that end whatever stands before them, whichever it is.
bool BlockScanner::startsBlock(std::string_view line) const
{
    if (fenceOpening(line) || isAtxHeading(line))
        return true;
    // Below a paragraph, dashes underline a heading.
    const bool mayUnderline = m_state == State::Paragraph && withoutIndent(line).starts_with('-');
    return isThematicBreak(line) && !mayUnderline;
}

} // namespace firesteel::app
