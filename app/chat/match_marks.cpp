// SPDX-License-Identifier: MIT
#include "app/chat/match_marks.h"

#include <QAbstractTextDocumentLayout>
#include <QQuickTextDocument>
#include <QQuickWindow>
#include <QSGRectangleNode>
#include <QTextBlock>
#include <QTextDocument>
#include <QTextLayout>

#include <algorithm>
#include <utility>

namespace firesteel::app {

namespace {

constexpr std::size_t kMostMarks = 500; // of one text

} // namespace

MatchMarks::MatchMarks(QQuickItem *parent)
    : QQuickItem(parent)
{
    setFlag(ItemHasContents);
    connect(this, &MatchMarks::changed, this, &MatchMarks::markAgain);
}

void MatchMarks::setFind(ChatFind *find)
{
    if (find == m_find)
        return;
    if (m_find)
        m_find->disconnect(this);
    m_find = find;
    if (find != nullptr)
        connect(find, &ChatFind::changed, this, &MatchMarks::markAgain);
    Q_EMIT changed();
}

void MatchMarks::setText(QQuickItem *text)
{
    if (text == m_text)
        return;
    m_text = text;
    const auto *document
        = text != nullptr ? text->property("textDocument").value<QQuickTextDocument *>() : nullptr;
    m_document = document != nullptr ? document->textDocument() : nullptr;
    if (m_document) {
        connect(m_document, &QTextDocument::contentsChanged, this, &MatchMarks::markAgain);
        connect(m_document->documentLayout(), &QAbstractTextDocumentLayout::documentSizeChanged,
                this, &MatchMarks::markAgain);
    }
    Q_EMIT changed();
}

bool MatchMarks::isSearching() const
{
    return m_find && m_text && m_document && m_find->isShown() && !m_find->query().isEmpty();
}

void MatchMarks::markAgain()
{
    if (isSearching() || !m_marks.empty())
        polish();
}

void MatchMarks::geometryChange(const QRectF &newGeometry, const QRectF &oldGeometry)
{
    QQuickItem::geometryChange(newGeometry, oldGeometry);
    markAgain();
}

// Line by line: a match may go over the end of one.
void MatchMarks::addMarks(qsizetype begin, qsizetype end, bool isCurrent,
                          std::vector<Mark> &marks) const
{
    while (begin < end) {
        const QTextBlock block = m_document->findBlock(static_cast<int>(begin));
        const QTextLayout *layout = block.layout();
        const auto inBlock = static_cast<int>(begin) - block.position();
        const QTextLine line = layout->lineForTextPosition(inBlock);
        if (!line.isValid())
            return; // not laid out yet: the document will say when
        const int lineEnd = line.textStart() + line.textLength();
        const int last = std::min(static_cast<int>(end) - block.position(), lineEnd);
        if (last <= inBlock)
            return;
        QRectF cursor;
        QMetaObject::invokeMethod(m_text, "positionToRectangle", Q_RETURN_ARG(QRectF, cursor),
                                  Q_ARG(int, static_cast<int>(begin)));
        const qreal width = line.cursorToX(last) - line.cursorToX(inBlock);
        marks.push_back(
            { QRectF(cursor.x(), cursor.y(), width, cursor.height()).normalized(), isCurrent });
        begin = block.position() + last;
    }
}

void MatchMarks::updatePolish()
{
    std::vector<Mark> marks;
    if (isSearching()) {
        // Positions in this text are those of the document.
        const QString text = m_document->toRawText();
        const QString query = m_find->query();
        ChatFind::Match match { m_row, m_part, 0 };
        for (qsizetype at = 0;
             (at = text.indexOf(query, at, Qt::CaseInsensitive)) >= 0 && marks.size() < kMostMarks;
             at += query.size(), ++match.nth) {
            const std::size_t first = marks.size();
            const bool isCurrent = m_find->isCurrent(match);
            addMarks(at, at + query.size(), isCurrent, marks);
            if (isCurrent && marks.size() > first) {
                m_find->place(this, marks[first].rect);
                Q_EMIT currentPlaced(marks[first].rect);
            }
        }
    }
    if (marks == m_marks)
        return;
    m_marks = std::move(marks);
    update();
    Q_EMIT marked();
}

QSGNode *MatchMarks::updatePaintNode(QSGNode *node, UpdatePaintNodeData * /*data*/)
{
    delete node; // rectangles are few, and change with a step of the reader
    if (m_marks.empty())
        return nullptr;
    auto *all = new QSGNode;
    for (const Mark &mark : m_marks) {
        QSGRectangleNode *rectangle = window()->createRectangleNode();
        rectangle->setRect(mark.rect);
        rectangle->setColor(mark.isCurrent ? m_currentColor : m_color);
        all->appendChildNode(rectangle);
    }
    return all;
}

} // namespace firesteel::app
