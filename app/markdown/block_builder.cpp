// SPDX-License-Identifier: MIT
#include "app/markdown/block_builder.h"

#include "app/markdown/block_scanner.h"
#include "app/markdown/inline_html.h"
#include "app/markdown/markdown_renderer.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace firesteel::app {

using namespace Qt::Literals::StringLiterals;

// The text of a tight list item comes without a paragraph around it.
void BlockBuilder::beginTightItem()
{
    if (m_leaf || m_lists.empty())
        return;
    beginLeaf(m_quoteDepth > 0 ? MarkdownBlock::Kind::Quote : MarkdownBlock::Kind::Paragraph);
    m_isTightItem = true;
}

void BlockBuilder::endTightItem()
{
    if (std::exchange(m_isTightItem, false))
        endLeaf();
}

void BlockBuilder::enterBlock(MD_BLOCKTYPE type, void *detail)
{
    endTightItem();
    switch (type) {
    case MD_BLOCK_QUOTE:
        ++m_quoteDepth;
        break;
    case MD_BLOCK_UL:
        m_lists.push_back({ false, 1 });
        break;
    case MD_BLOCK_OL:
        m_lists.push_back({ true, static_cast<MD_BLOCK_OL_DETAIL *>(detail)->start });
        break;
    case MD_BLOCK_LI: {
        const auto *item = static_cast<MD_BLOCK_LI_DETAIL *>(detail);
        ListLevel &list = m_lists.back();
        m_marker = list.isOrdered ? QString::number(list.number++) + u'.' : u"•"_s;
        if (item->is_task != 0)
            m_marker = item->task_mark == ' ' ? u"☐"_s : u"☑"_s;
        break;
    }
    case MD_BLOCK_HR:
        beginLeaf(MarkdownBlock::Kind::Rule);
        break;
    case MD_BLOCK_H:
        beginLeaf(MarkdownBlock::Kind::Heading);
        m_leaf->level = static_cast<int>(static_cast<MD_BLOCK_H_DETAIL *>(detail)->level);
        break;
    case MD_BLOCK_CODE: {
        beginLeaf(MarkdownBlock::Kind::Code);
        const MD_ATTRIBUTE &language = static_cast<MD_BLOCK_CODE_DETAIL *>(detail)->lang;
        m_leaf->language = QString::fromUtf8(language.text, language.size);
        break;
    }
    case MD_BLOCK_P:
        beginLeaf(m_quoteDepth > 0 ? MarkdownBlock::Kind::Quote : MarkdownBlock::Kind::Paragraph);
        break;
    case MD_BLOCK_TABLE:
        beginLeaf(MarkdownBlock::Kind::Table);
        break;
    case MD_BLOCK_THEAD:
        m_isInTableHead = true;
        break;
    case MD_BLOCK_TH:
    case MD_BLOCK_TD: {
        const MD_ALIGN align = static_cast<MD_BLOCK_TD_DETAIL *>(detail)->align;
        m_cells.push_back({});
        m_html = &m_cells.back();
        if (type == MD_BLOCK_TH) {
            m_leaf->tableAlignments.push_back(
                align == MD_ALIGN_RIGHT        ? MarkdownBlock::Alignment::Right
                    : align == MD_ALIGN_CENTER ? MarkdownBlock::Alignment::Center
                                               : MarkdownBlock::Alignment::Left);
        }
        break;
    }
    default:
        break;
    }
}

void BlockBuilder::leaveBlock(MD_BLOCKTYPE type)
{
    endTightItem();
    switch (type) {
    case MD_BLOCK_QUOTE:
        --m_quoteDepth;
        break;
    case MD_BLOCK_UL:
    case MD_BLOCK_OL:
        m_lists.pop_back();
        break;
    case MD_BLOCK_LI:
        if (!m_marker.isEmpty()) { // an item without content
            beginLeaf(MarkdownBlock::Kind::Paragraph);
            endLeaf();
        }
        break;
    case MD_BLOCK_THEAD:
        m_isInTableHead = false;
        break;
    case MD_BLOCK_TR:
        if (m_isInTableHead)
            m_leaf->tableHeader = m_cells;
        else
            m_leaf->tableRows.push_back(m_cells);
        m_cells.clear();
        m_html = nullptr;
        break;
    case MD_BLOCK_TABLE:
        endTable();
        break;
    case MD_BLOCK_HR:
    case MD_BLOCK_H:
    case MD_BLOCK_CODE:
    case MD_BLOCK_P:
        endLeaf();
        break;
    default:
        break;
    }
}

void BlockBuilder::beginLeaf(MarkdownBlock::Kind kind)
{
    m_leaf.emplace();
    m_leaf->kind = kind;
    m_leaf->indent = static_cast<int>(m_lists.size());
    m_leaf->quoteDepth = m_quoteDepth;
    m_html = &m_leaf->html;
    m_plain.clear();
    m_firstByte.reset();
    m_lastByte = std::string_view::npos;
    m_formulas.clear();
    m_openSpans = 0;
    m_isInMath = false;
    m_links.clear();
    // The item's first block carries the marker; a code block or table first thing in an item has a
    // row of its own below.
    if (m_marker.isEmpty())
        return;
    const bool isText
        = kind == MarkdownBlock::Kind::Paragraph || kind == MarkdownBlock::Kind::Quote;
    if (!isText) {
        MarkdownBlock bare;
        bare.kind = MarkdownBlock::Kind::ListItem;
        bare.level = static_cast<int>(m_lists.size());
        bare.indent = m_leaf->indent;
        bare.quoteDepth = m_quoteDepth;
        bare.marker = m_marker;
        m_blocks.push_back(std::move(bare));
    } else {
        m_leaf->kind = MarkdownBlock::Kind::ListItem;
        m_leaf->level = static_cast<int>(m_lists.size());
        m_leaf->marker = m_marker;
    }
    m_marker.clear();
}

void BlockBuilder::endLeaf()
{
    MarkdownBlock block = std::move(*m_leaf);
    m_leaf.reset();
    m_html = nullptr;
    if (block.kind != MarkdownBlock::Kind::Code)
        block.rightToLeft = isRightToLeft(m_plain);
    else if (block.code.endsWith(u'\n'))
        block.code.chop(1);
    setSource(block);
    if (m_formulas.empty())
        pushSplit(std::move(block));
    else
        pushWithFormulas(block);
}

// Formulas that stand on their own become code between the parts of the paragraph.
void BlockBuilder::pushWithFormulas(const MarkdownBlock &block)
{
    MarkdownBlock part = block;
    MarkdownBlock formula;
    formula.kind = MarkdownBlock::Kind::Code;
    formula.indent = block.indent;
    formula.quoteDepth = block.quoteDepth;
    formula.language = u"latex"_s;
    formula.sourceBegin = block.sourceBegin;
    formula.sourceEnd = block.sourceEnd;
    qsizetype begin = 0;
    const auto pushText = [&](qsizetype end) {
        part.html = block.html.sliced(begin, end - begin).trimmed();
        if (part.html.endsWith("<br>"_L1))
            part.html.chop(4);
        if (part.html.isEmpty() && part.marker.isEmpty())
            return;
        pushSplit(part);
        part.marker.clear();
    };
    for (const Formula &next : m_formulas) {
        pushText(next.at);
        begin = next.at;
        formula.code = next.tex;
        m_blocks.push_back(formula);
    }
    pushText(block.html.size());
}

void BlockBuilder::endTable()
{
    MarkdownBlock table = std::move(*m_leaf);
    m_leaf.reset();
    table.rightToLeft = isRightToLeft(m_plain);
    setSource(table);
    QList<QStringList> rows = std::move(table.tableRows);
    for (qsizetype first = 0; first == 0 || first < rows.size(); first += kMostTableRows) {
        MarkdownBlock part = table;
        part.tableRows = rows.sliced(first, std::min(kMostTableRows, rows.size() - first));
        m_blocks.push_back(std::move(part));
        table.tableHeader.clear();
    }
}

void BlockBuilder::pushSplit(MarkdownBlock block)
{
    const QStringList parts = splitHtml(block.html, kLongestParagraph);
    for (const QString &part : parts) {
        block.html = part;
        m_blocks.push_back(block);
        block.marker.clear();
    }
}

void BlockBuilder::noteSource(std::string_view piece)
{
    const std::optional<std::size_t> at = offsetOf(piece);
    if (!at)
        return;
    if (!m_firstByte)
        m_firstByte = at;
    m_lastByte = *at + piece.size() - 1;
}

// Where a piece stands in the source; nothing for md4c's own text (line breaks, indentation).
std::optional<std::size_t> BlockBuilder::offsetOf(std::string_view piece) const
{
    const char *begin = piece.data();
    const char *whole = m_masked.data();
    if (piece.empty() || std::less<>()(begin, whole)
        || !std::less<>()(begin, whole + m_text.size()))
        return std::nullopt;
    return static_cast<std::size_t>(begin - whole);
}

// The piece as it is in the text, before formulas were masked.
std::string_view BlockBuilder::written(std::string_view piece) const
{
    const std::optional<std::size_t> at = offsetOf(piece);
    return at ? m_text.substr(*at, piece.size()) : piece;
}

std::size_t BlockBuilder::lineStart(std::size_t at) const
{
    while (at > m_visibleFrom && m_text[at - 1] != '\n' && m_text[at - 1] != '\r')
        --at;
    return at;
}

std::size_t BlockBuilder::lineEnd(std::size_t at) const
{
    return std::min(m_text.find_first_of("\r\n", at), m_text.size());
}

// Lines without text of their own that still belong to the block above them.
bool BlockBuilder::endsBlock(const MarkdownBlock &block, std::string_view line) const
{
    const std::size_t first = line.find_first_not_of(" \t>");
    const std::string_view rest
        = first == std::string_view::npos ? std::string_view() : line.substr(first);
    switch (block.kind) {
    case MarkdownBlock::Kind::Code:
        return rest.starts_with("```") || rest.starts_with("~~~");
    case MarkdownBlock::Kind::Heading:
        return rest.find_first_not_of("=-") >= rest.find_last_not_of(" \t") + 1 && !rest.empty();
    case MarkdownBlock::Kind::Table:
        return !rest.empty() && rest.find_first_not_of("|:- \t") == std::string_view::npos;
    default:
        return false;
    }
}

// md4c tells where a text piece stands, not where a block does: the source range is the lines of
// the pieces, and the marker lines around them that carry no text.
void BlockBuilder::setSource(MarkdownBlock &block)
{
    std::size_t begin = m_previousEnd;
    std::size_t end = m_previousEnd;
    bool isFound = m_firstByte.has_value();
    if (m_firstByte) {
        begin = std::max(lineStart(*m_firstByte), m_previousEnd);
        end = lineEnd(m_lastByte);
    }
    const bool isMarked
        = block.kind == MarkdownBlock::Kind::Code || block.kind == MarkdownBlock::Kind::Rule;
    if (isMarked) {
        for (std::size_t at = m_previousEnd; at < m_text.size() && (!m_firstByte || at < begin);) {
            const std::string_view line = lineAt(at);
            const std::size_t first
                = std::min(line.find_first_not_of(" \t>-*+.)0123456789"), line.size());
            const bool isIt = block.kind == MarkdownBlock::Kind::Rule
                ? isThematicBreak(line)
                : endsBlock(block, line.substr(first));
            if (isIt) {
                begin = at;
                end = std::max(end, lineEnd(at));
                isFound = true;
                break;
            }
            at = lineEnd(at) + 1;
        }
    }
    if (!isFound)
        return; // an empty item
    const std::size_t next = end + (m_text.substr(end).starts_with("\r\n") ? 2 : 1);
    if (next < m_text.size() && block.kind != MarkdownBlock::Kind::Rule && end > begin
        && endsBlock(block, lineAt(next)))
        end = lineEnd(next);
    m_previousEnd = std::min(end, m_text.size());
    block.sourceBegin = begin - m_visibleFrom + m_sourceOffset;
    block.sourceEnd = m_previousEnd - m_visibleFrom + m_sourceOffset;
}

void BlockBuilder::enterSpan(MD_SPANTYPE type, void *detail)
{
    beginTightItem();
    if (m_html == nullptr)
        return;
    switch (type) {
    case MD_SPAN_EM:
        ++m_openSpans;
        *m_html += "<i>"_L1;
        break;
    case MD_SPAN_STRONG:
        ++m_openSpans;
        *m_html += "<b>"_L1;
        break;
    case MD_SPAN_DEL:
        ++m_openSpans;
        *m_html += "<s>"_L1;
        break;
    case MD_SPAN_CODE:
        *m_html += "<code>"_L1;
        break;
    case MD_SPAN_A: {
        const MD_ATTRIBUTE &href = static_cast<MD_SPAN_A_DETAIL *>(detail)->href;
        enterLink(QString::fromUtf8(href.text, href.size));
        break;
    }
    case MD_SPAN_IMG: {
        // Pictures from the network are never fetched: their description links to them.
        const MD_ATTRIBUTE &src = static_cast<MD_SPAN_IMG_DETAIL *>(detail)->src;
        enterLink(QString::fromUtf8(src.text, src.size));
        break;
    }
    case MD_SPAN_LATEXMATH:
    case MD_SPAN_LATEXMATH_DISPLAY:
        m_isInMath = true;
        m_mathFirst.reset();
        break;
    default:
        break;
    }
}

void BlockBuilder::leaveSpan(MD_SPANTYPE type)
{
    if (m_html == nullptr)
        return;
    switch (type) {
    case MD_SPAN_EM:
        --m_openSpans;
        *m_html += "</i>"_L1;
        break;
    case MD_SPAN_STRONG:
        --m_openSpans;
        *m_html += "</b>"_L1;
        break;
    case MD_SPAN_DEL:
        --m_openSpans;
        *m_html += "</s>"_L1;
        break;
    case MD_SPAN_CODE:
        *m_html += "</code>"_L1;
        break;
    case MD_SPAN_A:
    case MD_SPAN_IMG:
        leaveLink();
        break;
    case MD_SPAN_LATEXMATH:
        endMath(false);
        break;
    case MD_SPAN_LATEXMATH_DISPLAY:
        endMath(true);
        break;
    default:
        break;
    }
}

// The lines of the formula without the marks of quotes and lists before them.
QString BlockBuilder::formulaText() const
{
    QStringList lines;
    for (std::size_t at = *m_mathFirst; at < m_mathEnd;) {
        const std::size_t end = std::min(lineEnd(at), m_mathEnd);
        QString line = QString::fromUtf8(m_text.substr(at, end - at));
        if (at != *m_mathFirst) {
            const auto isMark = [this](QChar c) {
                return c == u' ' || c == u'\t' || (c == u'>' && m_quoteDepth > 0);
            };
            line.remove(0, std::ranges::find_if_not(line, isMark) - line.cbegin());
        }
        lines << line.trimmed();
        at = end + (m_text.substr(end).starts_with("\r\n") ? 2 : 1);
    }
    return lines.join(u'\n').trimmed();
}

// Amounts of money stand between dollars, too.
void BlockBuilder::endMath(bool isDisplay)
{
    m_isInMath = false;
    if (!m_mathFirst)
        return;
    const QString tex = formulaText();
    const bool isBetweenDollars = *m_mathFirst > 0 && m_text[*m_mathFirst - 1] == '$';
    const bool isTex = !isBetweenDollars || isDisplay || tex.size() == 1
        || std::ranges::any_of(tex, [](QChar c) { return QStringView(u"\\^_={}").contains(c); });
    const bool isText = m_leaf->kind == MarkdownBlock::Kind::Paragraph
        || m_leaf->kind == MarkdownBlock::Kind::Quote
        || m_leaf->kind == MarkdownBlock::Kind::ListItem;
    if (isDisplay && isText && m_openSpans == 0 && m_links.isEmpty()) {
        m_formulas.push_back({ m_html->size(), tex });
    } else if (isTex) {
        *m_html += "<code>"_L1;
        appendText(tex);
        *m_html += "</code>"_L1;
    } else {
        appendText(u'$' + tex + u'$');
    }
}

void BlockBuilder::enterLink(const QString &url)
{
    // A link in a link (a picture that links) would not be html: the outer one wins.
    const bool isOuter = std::ranges::all_of(m_links, &QString::isEmpty);
    const bool isLink = isOuter && isClickable(url);
    m_links.push_back(isLink ? url : QString());
    if (!isLink)
        return;
    *m_html += "<a href=\""_L1;
    appendEscaped(*m_html, url);
    *m_html += "\">"_L1;
}

void BlockBuilder::leaveLink()
{
    if (m_links.isEmpty())
        return;
    if (!m_links.takeLast().isEmpty())
        *m_html += "</a>"_L1;
}

void BlockBuilder::appendText(QStringView text)
{
    if (m_html == nullptr)
        return;
    appendEscaped(*m_html, text);
    if (m_plain.size() < kLongestParagraph)
        m_plain += text;
}

// md4c gives indentation as spaces. Where nothing was taken off it, the line's own white space
// stays: a Makefile needs it.
void BlockBuilder::appendCode(std::string_view piece)
{
    const bool isOwn = offsetOf(piece).has_value();
    if (!isOwn && piece.find_first_not_of(' ') == std::string_view::npos) {
        m_codeIndent += static_cast<int>(piece.size());
        return;
    }
    if (isOwn && m_codeIndent > 0) {
        const std::size_t at = *offsetOf(piece);
        const std::string_view written = m_text.substr(lineStart(at), at - lineStart(at));
        const bool isWhole = isBlankLine(written) && lineIndent(written) == m_codeIndent;
        m_leaf->code += isWhole ? QString::fromUtf8(written) : QString(m_codeIndent, u' ');
    } else {
        m_leaf->code += QString(m_codeIndent, u' ');
    }
    m_codeIndent = 0;
    m_leaf->code += codeText(written(piece));
}

// A \( became two characters of which md4c took the dollar for the delimiter: the other is not
// shown either. Where it did not take it, the piece holds both, and is shown as written.
void BlockBuilder::appendWritten(std::string_view piece)
{
    std::string_view shown = written(piece);
    if (const auto at = offsetOf(piece); at && piece.size() == shown.size()) {
        const std::size_t end = *at + piece.size();
        const auto isMasked = [&](std::size_t i) { return piece[i] != shown[i]; };
        const std::size_t last = piece.size() - 1;
        const bool isBehind
            = *at > 0 && m_masked[*at - 1] == '$' && shown.front() == ')' && isMasked(0);
        const bool isBefore = end < m_masked.size() && m_masked[end] == '$' && shown.back() == '\\'
            && isMasked(last);
        shown.remove_prefix(isBehind ? 1 : 0);
        shown.remove_suffix(isBefore && !shown.empty() ? 1 : 0);
    }
    if (!shown.empty())
        appendText(QString::fromUtf8(shown));
}

void BlockBuilder::text(MD_TEXTTYPE type, std::string_view piece)
{
    beginTightItem();
    noteSource(piece);
    if (m_leaf && m_leaf->kind == MarkdownBlock::Kind::Code) {
        if (type != MD_TEXT_NULLCHAR) // the NUL itself follows as text
            appendCode(piece);
        return;
    }
    if (m_isInMath) {
        if (const auto at = offsetOf(piece)) {
            m_mathFirst = m_mathFirst.value_or(*at);
            m_mathEnd = *at + piece.size();
        }
        return;
    }
    switch (type) {
    case MD_TEXT_NULLCHAR:
        appendText(QStringView(u"\uFFFD"));
        break;
    case MD_TEXT_BR:
        if (m_html != nullptr)
            *m_html += "<br>"_L1;
        break;
    case MD_TEXT_SOFTBR:
        appendText(u"\n");
        break;
    case MD_TEXT_ENTITY:
        appendText(entityText(QString::fromUtf8(piece)));
        break;
    default:
        appendWritten(piece);
    }
}

} // namespace firesteel::app
