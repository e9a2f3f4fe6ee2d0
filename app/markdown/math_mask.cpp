// SPDX-License-Identifier: MIT
#include "app/markdown/math_mask.h"

#include "app/markdown/block_scanner.h"

#include <algorithm>
#include <optional>

namespace firesteel::app {

namespace {

constexpr std::size_t kNone = std::string_view::npos;
constexpr std::size_t kFenceLength = 3;
constexpr std::size_t kDelimiter = 2; // bytes of each
// Bytes that are looked through for the end of a formula or of code: the work stays proportional to
// the text, whatever it holds.
constexpr std::size_t kLongestSpan = 4096;

std::size_t lineEnd(std::string_view text, std::size_t at)
{
    return std::min(text.find_first_of("\r\n", at), text.size());
}

std::size_t nextLine(std::string_view text, std::size_t at)
{
    const std::size_t end = lineEnd(text, at);
    if (end == text.size())
        return end;
    return end + (text.substr(end).starts_with("\r\n") ? 2 : 1);
}

// Without the white space and marks of the quotes and lists around it.
std::size_t contentStart(std::string_view text, std::size_t lineBegin)
{
    return std::min(text.find_first_not_of(" \t>", lineBegin), lineEnd(text, lineBegin));
}

// Where a fence of code would stand: behind the marks of lists, too.
std::size_t fenceStart(std::string_view text, std::size_t lineBegin)
{
    const std::size_t end = lineEnd(text, lineBegin);
    for (std::size_t at = lineBegin;;) {
        at = std::min(text.find_first_not_of(" \t>", at), end);
        std::size_t mark = std::min(text.find_first_not_of("0123456789", at), end);
        const bool isOrdered = mark > at && mark < end && (text[mark] == '.' || text[mark] == ')');
        const bool isBullet
            = mark == at && at < end && (text[at] == '-' || text[at] == '*' || text[at] == '+');
        if (!isOrdered && !isBullet)
            return at;
        ++mark;
        if (mark >= end || (text[mark] != ' ' && text[mark] != '\t'))
            return at;
        at = mark;
    }
}

std::size_t runLength(std::string_view text, std::size_t at)
{
    return std::min(text.find_first_not_of(text[at], at), text.size()) - at;
}

class MathMask
{
public:
    explicit MathMask(std::string_view text)
        : m_text(text)
        , m_masked(text)
    {
    }

    std::string take()
    {
        while (m_at < m_text.size()) {
            if (m_at == m_line)
                beginLine();
            else
                step();
        }
        return std::move(m_masked);
    }

private:
    // A fence of code, at any depth; else what stands in the line.
    void beginLine()
    {
        const std::size_t begin = fenceStart(m_text, m_line);
        const std::size_t next = nextLine(m_text, m_line);
        const bool isFence = isFenceAt(begin);
        const bool isCode = m_fence || isFence;
        if (m_fence) {
            if (isFence && m_text[begin] == m_fence->character
                && runLength(m_text, begin) >= m_fence->length)
                m_fence.reset();
        } else if (isFence) {
            m_fence = BlockScanner::Fence { m_text[begin], runLength(m_text, begin), 0 };
        }
        m_at = isCode ? next : begin;
        m_line = next;
        if (!isCode && begin == lineEnd(m_text, begin))
            m_at = next; // nothing in it
    }

    bool isFenceAt(std::size_t at) const
    {
        return at < m_text.size() && (m_text[at] == '`' || m_text[at] == '~')
            && runLength(m_text, at) >= kFenceLength;
    }

    void step()
    {
        const char c = m_text[m_at];
        if (c == '`')
            return skipCode();
        const std::string_view rest = m_text.substr(m_at, kDelimiter);
        if (rest == "](")
            return skipDestination();
        if (c == '$' && runLength(m_text, m_at) == kDelimiter && mask("$$", "$$", true))
            return;
        if (rest == "\\[" && mask("$$", "\\]", true))
            return;
        if (rest == "\\(" && mask(",$", "\\)", false))
            return;
        // One without the other is text, of which Markdown must not take the backslash.
        if (rest == "\\(" || rest == "\\)" || rest == "\\[" || rest == "\\]")
            m_masked.replace(m_at, kDelimiter, ",,");
        const std::size_t length = c == '\\' ? rest.size() : c == '$' ? runLength(m_text, m_at) : 1;
        advance(m_at + length);
    }

    // To a place in this line or a later one, whose lines then have begun.
    void advance(std::size_t to)
    {
        m_at = to;
        while (m_line < m_at)
            m_line = nextLine(m_text, m_line);
    }

    void skipCode()
    {
        const std::size_t length = runLength(m_text, m_at);
        const std::size_t end = spanEnd();
        std::size_t at = m_at + length;
        while ((at = m_text.find('`', at)) < end) {
            const std::size_t run = runLength(m_text, at);
            if (run == length)
                return advance(at + run);
            at += run;
        }
        advance(m_at + length);
    }

    // Parentheses in a link's address may be escaped.
    void skipDestination()
    {
        const std::size_t end = lineEnd(m_text.substr(0, m_at + kLongestSpan), m_at);
        int depth = 0;
        for (std::size_t at = m_at + 1; at < end; ++at) {
            if (m_text[at] == '\\')
                ++at;
            else if (m_text[at] == '(')
                ++depth;
            else if (m_text[at] == ')' && --depth == 0)
                return advance(at + 1);
        }
        advance(m_at + 1);
    }

    // Where a span that begins here ends at the latest: at a blank line, or before code.
    std::size_t spanEnd()
    {
        if (m_paragraphEnd <= m_at) {
            m_paragraphEnd = nextLine(m_text, m_at);
            while (m_paragraphEnd < m_text.size() && !endsParagraph(m_paragraphEnd))
                m_paragraphEnd = nextLine(m_text, m_paragraphEnd);
        }
        return std::min(m_paragraphEnd, m_at + kLongestSpan);
    }

    bool endsParagraph(std::size_t line) const
    {
        return contentStart(m_text, line) == lineEnd(m_text, line)
            || isFenceAt(fenceStart(m_text, line));
    }

    std::size_t closing(std::string_view closer, std::size_t from, std::size_t end) const
    {
        for (std::size_t at = from; at + closer.size() <= end; ++at) {
            if (m_text.substr(at).starts_with(closer))
                return at;
            if (m_text[at] == '\\')
                ++at; // and what it escapes: \\ before ]
        }
        return kNone;
    }

    // Alone in its line, at the end of which nothing ends it: it is being written.
    bool isBeingWritten(std::size_t begin, std::size_t end) const
    {
        return end == m_text.size()
            && isBlankLine(m_text.substr(begin, lineEnd(m_text, begin) - begin))
            && contentStart(m_text, lineStart()) + kDelimiter == begin
            && !isBlankLine(m_text.substr(begin));
    }

    // Of the line at m_at, where a formula begins. Looked for no further back than a formula is
    // long.
    std::size_t lineStart() const
    {
        const std::size_t first = m_at > kLongestSpan ? m_at - kLongestSpan : 0;
        const std::size_t before = m_text.substr(first, m_at - first).find_last_of("\r\n");
        return before == kNone ? first : first + before + 1;
    }

    bool mask(std::string_view dollars, std::string_view closer, bool isDisplay)
    {
        const std::size_t begin = m_at + kDelimiter;
        const std::size_t end = spanEnd();
        const std::size_t close = closing(closer, begin, end);
        const bool isOpen = close == kNone && isDisplay && isBeingWritten(begin, end);
        const std::size_t contentEnd = close == kNone ? end : close;
        if ((close == kNone && !isOpen) || isBlankLine(m_text.substr(begin, contentEnd - begin)))
            return false;
        m_masked.replace(m_at, kDelimiter, dollars);
        maskContent(begin, contentEnd);
        if (isOpen) {
            m_masked += dollars;
            advance(m_text.size());
        } else {
            m_masked.replace(close, kDelimiter, isDisplay ? "$$" : "$,");
            advance(close + kDelimiter);
        }
        return true;
    }

    // Line ends stay, and what begins a line: it keeps the quote or the list going.
    void maskContent(std::size_t begin, std::size_t end)
    {
        const std::string_view text = m_text.substr(0, end);
        const std::size_t margin = m_text.find_first_not_of(" \t", lineStart());
        const std::string_view marks = m_text[margin] == '>' ? " \t>" : " \t";
        for (std::size_t line = begin; line < end; line = nextLine(text, line)) {
            const std::size_t first
                = line == begin ? line : std::min(text.find_first_not_of(marks, line), end);
            const std::size_t last = lineEnd(text, line);
            for (std::size_t at = first; at < last; ++at)
                m_masked[at] = 'x';
        }
    }

    std::string_view m_text;
    std::string m_masked;
    std::size_t m_at = 0;
    std::size_t m_line = 0; // beginning of the next line that has not begun
    std::size_t m_paragraphEnd = 0; // of the paragraph at m_at, where it is beyond m_at
    std::optional<BlockScanner::Fence> m_fence;
};

} // namespace

std::string maskMath(std::string_view text)
{
    const bool mayHave = text.contains("$$") || text.contains('\\');
    return mayHave ? MathMask(text).take() : std::string(text);
}

} // namespace firesteel::app
