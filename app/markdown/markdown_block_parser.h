// SPDX-License-Identifier: MIT
//
// Markdown that is still being written, as blocks. Blocks before the last safe boundary are frozen;
// only the open tail after it is parsed again as text arrives, and inside an open code fence
// nothing is parsed at all. finish() parses the whole once more and keeps what did not change, so
// the end is what a parser of the complete text would say.
//
// One per streaming answer, owned by MessageBlockModel. Knows nothing of Qt's models.
#pragma once

#include "app/markdown/block_scanner.h"
#include "app/markdown/markdown_block.h"

#include <string>
#include <string_view>
#include <vector>

namespace firesteel::app {

class MarkdownBlockParser
{
public:
    // What one update did: blocks [firstChanged, end) may differ from before, `before` of them
    // existed.
    struct Change
    {
        std::size_t firstChanged = 0;
        std::size_t blocksBefore = 0;
        bool isEmpty = true;
    };

    // Takes text in any pieces, also inside a character; nothing is parsed until update().
    void append(std::string_view utf8);
    Change update();
    Change finish();

    const std::vector<MarkdownBlock> &blocks() const { return m_blocks; }
    const std::string &text() const { return m_text; }
    bool isFinished() const { return m_finished; }

private:
    void scanLines();
    void freeze(std::size_t boundary);
    void renderTail(std::size_t end);
    void openCode(std::string_view line, std::size_t end);
    void takeFenceLine(std::string_view line, std::size_t end);
    void showPartialCodeLine();
    void appendCode(std::string_view line, const BlockScanner::Fence &fence);
    void noteChange(std::size_t block);
    void replaceBlocks(std::size_t from, std::vector<MarkdownBlock> blocks);
    void noteDefinitions(std::string_view chunk);

    std::string m_text;
    std::vector<MarkdownBlock> m_blocks;
    std::size_t m_frozenBlocks = 0; // blocks that ended before m_tailBegin
    std::size_t m_tailBegin = 0; // byte offset of the open tail
    std::size_t m_scanned = 0; // whole lines given to the scanner
    std::size_t m_rendered = 0; // bytes the blocks show
    BlockScanner m_scanner;
    std::size_t m_fenceContent
        = 0; // byte offset after the opening fence line, while a fence is open
    bool m_isLineShown = false; // of the line being written in it, bytes up to m_rendered
    std::string m_definitions; // link reference definitions met so far
    Change m_change;
    bool m_finished = false;
};

} // namespace firesteel::app
