// SPDX-License-Identifier: MIT
//
// Receives md4c's callbacks for one text and makes the flat blocks. Only markdown_renderer.cpp uses
// it.
#pragma once

#include "app/markdown/markdown_block.h"

#include <cstddef>
#include <md4c.h>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace firesteel::app {

struct ListLevel
{
    bool isOrdered = false;
    unsigned number = 1;
};

class BlockBuilder
{
public:
    // md4c parses `masked`, which maskMath() made of `text`.
    BlockBuilder(std::string_view text, std::string_view masked, std::size_t visibleFrom,
                 std::size_t sourceOffset)
        : m_text(text)
        , m_masked(masked)
        , m_visibleFrom(visibleFrom)
        , m_sourceOffset(sourceOffset)
        , m_previousEnd(visibleFrom)
    {
    }

    void enterBlock(MD_BLOCKTYPE type, void *detail);
    void leaveBlock(MD_BLOCKTYPE type);
    void enterSpan(MD_SPANTYPE type, void *detail);
    void leaveSpan(MD_SPANTYPE type);
    void text(MD_TEXTTYPE type, std::string_view piece);

    std::vector<MarkdownBlock> take() { return std::move(m_blocks); }

private:
    void beginTightItem();
    void endTightItem();
    void beginLeaf(MarkdownBlock::Kind kind);
    void endLeaf();
    void endTable();
    void pushSplit(MarkdownBlock block);
    void pushWithFormulas(const MarkdownBlock &block);
    std::string_view written(std::string_view piece) const;
    void endMath(bool isDisplay);
    QString formulaText() const;
    void noteSource(std::string_view piece);
    std::optional<std::size_t> offsetOf(std::string_view piece) const;
    void appendCode(std::string_view piece);
    void setSource(MarkdownBlock &block);
    std::size_t lineStart(std::size_t at) const;
    std::size_t lineEnd(std::size_t at) const;
    std::string_view lineAt(std::size_t begin) const
    {
        return m_text.substr(begin, lineEnd(begin) - begin);
    }
    bool endsBlock(const MarkdownBlock &block, std::string_view line) const;
    void enterLink(const QString &url);
    void leaveLink();
    void appendText(QStringView text);
    void appendWritten(std::string_view piece);

    std::string_view m_text;
    std::string_view m_masked;
    std::size_t m_visibleFrom;
    std::size_t m_sourceOffset;
    std::vector<MarkdownBlock> m_blocks;

    std::vector<ListLevel> m_lists;
    int m_quoteDepth = 0;
    QString m_marker; // of the item whose first block has not come yet

    std::optional<MarkdownBlock> m_leaf;
    QString m_plain; // the leaf's text without tags, for its direction
    std::optional<std::size_t> m_firstByte;
    std::size_t m_lastByte = 0;
    std::size_t m_previousEnd; // end of the previous block's source
    QString *m_html = nullptr; // where inline text goes: the leaf's or a table cell's
    QStringList m_cells;
    bool m_isInTableHead = false;
    QStringList m_links; // open links' urls; empty: not clickable
    struct Formula
    {
        qsizetype at = 0; // in the html of the leaf
        QString tex;
    };
    std::vector<Formula> m_formulas; // of the leaf, that stand on their own
    int m_openSpans = 0; // around the text: a formula in one cannot stand on its own
    bool m_isInMath = false;
    std::optional<std::size_t> m_mathFirst; // bytes of its content
    std::size_t m_mathEnd = 0;
    bool m_isTightItem = false;
    int m_codeIndent = 0; // columns before the next piece of code
};

} // namespace firesteel::app
