// SPDX-License-Identifier: MIT
//
// Finds, line by line, the places where a growing Markdown text can be cut so that what stands
// before is parsed once and never again: a boundary is reported only where no later line can change
// the blocks before it (link reference definitions excepted). It also knows the fenced code block
// that is open at the end, inside which nothing needs parsing.
//
// Used by MarkdownBlockParser. Conservative: a missed boundary costs time, never correctness.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace firesteel::app {

class BlockScanner
{
public:
    enum class Line {
        Continues, // belongs to the block before it, or may
        Starts, // everything before this line is final
    };

    struct Fence
    {
        char character = '`';
        std::size_t length = 3;
        int indent = 0; // removed from each line of the code
    };

    // The next whole line, with its line ending.
    Line feed(std::string_view line);

    // The fence open after the last line, if it stands at top level.
    const std::optional<Fence> &openFence() const { return m_fence; }

    // Whether the line closes this fence, or is an unfinished line that still may.
    static bool closesFence(const Fence &fence, std::string_view line);
    static bool mayCloseFence(const Fence &fence, std::string_view line);

private:
    enum class State {
        None,
        Paragraph,
        List,
        IndentedCode
    }; // Paragraph: also headings, quotes, tables

    Line feedOutsideFence(std::string_view line);
    bool startsBlock(std::string_view line) const;

    State m_state = State::None;
    bool m_previousBlank = true;
    bool m_pendingStart = false; // the block before is closed; the next visible line starts one
    int m_listContentIndent = 0; // of the last outermost item
    std::optional<Fence> m_fence;
};

// A line that reads "[label]: destination".
bool isReferenceDefinition(std::string_view line);
// Columns of leading white space, tabs to multiples of 4.
int lineIndent(std::string_view line);
bool isBlankLine(std::string_view line);
bool isThematicBreak(std::string_view line);
std::optional<BlockScanner::Fence> fenceOpening(std::string_view line);

} // namespace firesteel::app
