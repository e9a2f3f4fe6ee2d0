// SPDX-License-Identifier: MIT
#include "app/markdown/markdown_block_parser.h"

#include "app/markdown/markdown_renderer.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace firesteel::app {

namespace {

constexpr std::size_t kMostDefinitionBytes = 16
    << 10; // beyond these, links by reference wait for finish()
// A tail this long (one giant list, table or paragraph) is parsed again only when it grew by a
// fraction of itself, so that the work stays proportional to the text.
constexpr std::size_t kLongTail = 32 << 10;
constexpr std::size_t kTailFraction = 64;

// End of the last whole UTF-8 character.
std::size_t wholeCharacters(std::string_view text)
{
    std::size_t begin = text.size();
    for (int back = 0; back < 4 && begin > 0; ++back) {
        const auto byte = static_cast<unsigned char>(text[--begin]);
        if ((byte & 0xC0U) == 0x80U)
            continue;
        const std::size_t length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1;
        return begin + length <= text.size() ? text.size() : begin;
    }
    return text.size();
}

std::size_t nextLine(std::string_view text, std::size_t from)
{
    const std::size_t end = text.find_first_of("\r\n", from);
    if (end == std::string_view::npos)
        return std::string_view::npos;
    if (text[end] == '\n')
        return end + 1;
    if (end + 1 == text.size())
        return std::string_view::npos; // the line feed may still come
    return end + (text[end + 1] == '\n' ? 2 : 1);
}

std::string_view withoutLineEnding(std::string_view line)
{
    while (!line.empty() && (line.back() == '\n' || line.back() == '\r'))
        line.remove_suffix(1);
    return line;
}

// A line of a fenced block as CommonMark gives it: the fence's own indentation taken off, other
// white space kept.
QString codeLine(std::string_view line, const BlockScanner::Fence &fence)
{
    line = withoutLineEnding(line);
    if (fence.indent == 0 && !isBlankLine(line))
        return codeText(line);
    const int columns = std::max(0, lineIndent(line) - fence.indent);
    const std::size_t first = std::min(line.find_first_not_of(" \t"), line.size());
    return QString(columns, u' ') + codeText(line.substr(first));
}

} // namespace

void MarkdownBlockParser::append(std::string_view utf8) { m_text += utf8; }

MarkdownBlockParser::Change MarkdownBlockParser::update()
{
    m_change = { m_blocks.size(), m_blocks.size(), true };
    if (m_finished)
        return m_change;
    scanLines();
    if (m_scanner.openFence()) {
        showPartialCodeLine();
    } else {
        // A row of a table is shown when it is whole: each change of a table costs the layout of
        // all of it.
        const bool isInTable = m_blocks.size() > m_frozenBlocks
            && m_blocks.back().kind == MarkdownBlock::Kind::Table;
        const bool isRow = isInTable && std::string_view(m_text).substr(m_scanned).starts_with('|');
        const std::size_t end = isRow ? m_scanned : wholeCharacters(m_text);
        const std::size_t tail = end - std::min(end, m_tailBegin);
        const std::size_t growth = tail > kLongTail ? (tail - kLongTail) / kTailFraction : 0;
        if (end > m_rendered + growth)
            renderTail(end);
    }
    return m_change;
}

MarkdownBlockParser::Change MarkdownBlockParser::finish()
{
    m_change = { m_blocks.size(), m_blocks.size(), true };
    if (!m_finished) {
        m_finished = true;
        replaceBlocks(0, renderMarkdown(m_text));
    }
    return m_change;
}

void MarkdownBlockParser::scanLines()
{
    for (std::size_t end; (end = nextLine(m_text, m_scanned)) != std::string::npos;
         m_scanned = end) {
        const std::string_view line = std::string_view(m_text).substr(m_scanned, end - m_scanned);
        const bool wasInFence = m_scanner.openFence().has_value();
        if (m_scanner.feed(line) == BlockScanner::Line::Starts)
            freeze(m_scanned);
        if (wasInFence)
            takeFenceLine(line, end);
        else if (m_scanner.openFence())
            openCode(line, end);
    }
}

// Everything before the boundary has its final form.
void MarkdownBlockParser::freeze(std::size_t boundary)
{
    if (boundary == m_tailBegin)
        return; // what the tail shows so far is the beginning of this very line
    renderTail(boundary);
    noteDefinitions(std::string_view(m_text).substr(m_tailBegin, boundary - m_tailBegin));
    m_frozenBlocks = m_blocks.size();
    m_tailBegin = boundary;
}

void MarkdownBlockParser::renderTail(std::size_t end)
{
    const std::string_view tail = std::string_view(m_text).substr(m_tailBegin, end - m_tailBegin);
    const bool mayRefer = tail.contains('[');
    replaceBlocks(m_frozenBlocks,
                  renderMarkdown(tail, mayRefer ? m_definitions : std::string(), m_tailBegin));
    m_rendered = end;
}

void MarkdownBlockParser::openCode(std::string_view line, std::size_t end)
{
    replaceBlocks(m_frozenBlocks, renderMarkdown(line, {}, m_tailBegin));
    m_fenceContent = end;
    m_isLineShown = false;
    m_rendered = end;
}

void MarkdownBlockParser::takeFenceLine(std::string_view line, std::size_t end)
{
    MarkdownBlock &code = m_blocks.back();
    if (m_scanner.openFence()) {
        appendCode(line, *m_scanner.openFence());
    } else { // the closing fence
        code.sourceEnd = m_scanned + withoutLineEnding(line).size();
        m_frozenBlocks = m_blocks.size();
        m_tailBegin = end;
        noteChange(m_blocks.size() - 1);
    }
    m_isLineShown = false;
    m_rendered = end;
}

// The line being written, unless its beginning may still turn out to mean something else.
void MarkdownBlockParser::showPartialCodeLine()
{
    const std::size_t end = wholeCharacters(m_text);
    if (end <= m_rendered || end <= m_scanned)
        return;
    const std::string_view line = std::string_view(m_text).substr(m_scanned, end - m_scanned);
    if (line.back() == '\r' || isBlankLine(line)
        || BlockScanner::mayCloseFence(*m_scanner.openFence(), line))
        return;
    appendCode(line, *m_scanner.openFence());
    m_rendered = end;
}

void MarkdownBlockParser::appendCode(std::string_view line, const BlockScanner::Fence &fence)
{
    MarkdownBlock &code = m_blocks.back();
    if (m_isLineShown) {
        // Only what came after the part shown: a long line must not be written again for each of
        // its tokens.
        const std::string_view rest = withoutLineEnding(line).substr(m_rendered - m_scanned);
        code.code += codeText(rest);
    } else {
        if (m_scanned > m_fenceContent)
            code.code += u'\n';
        code.code += codeLine(line, fence);
        m_isLineShown = true;
    }
    code.sourceEnd = m_scanned + withoutLineEnding(line).size();
    noteChange(m_blocks.size() - 1);
}

void MarkdownBlockParser::noteChange(std::size_t block)
{
    m_change.firstChanged = std::min(m_change.firstChanged, block);
    m_change.isEmpty = false;
}

void MarkdownBlockParser::replaceBlocks(std::size_t from, std::vector<MarkdownBlock> blocks)
{
    const auto begin = m_blocks.begin() + static_cast<std::ptrdiff_t>(from);
    const auto [old, made] = std::mismatch(begin, m_blocks.end(), blocks.begin(), blocks.end());
    if (old == m_blocks.end() && made == blocks.end())
        return;
    noteChange(static_cast<std::size_t>(old - m_blocks.begin()));
    const auto firstNew = made;
    m_blocks.erase(old, m_blocks.end());
    m_blocks.insert(m_blocks.end(), std::make_move_iterator(firstNew),
                    std::make_move_iterator(blocks.end()));
}

void MarkdownBlockParser::noteDefinitions(std::string_view chunk)
{
    for (std::size_t begin = 0; begin < chunk.size();) {
        const std::size_t end = std::min(nextLine(chunk, begin), chunk.size());
        const std::string_view line = chunk.substr(begin, end - begin);
        if (isReferenceDefinition(line)
            && m_definitions.size() + line.size() < kMostDefinitionBytes)
            m_definitions.append(withoutLineEnding(line)).push_back('\n');
        begin = end;
    }
}

} // namespace firesteel::app
