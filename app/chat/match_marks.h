// SPDX-License-Identifier: MIT
//
// Marks what ChatFind finds in one text item, as rectangles over its text: the document itself is
// not touched, so it works beside a highlighter and while text is written. It covers the
// TextEdit; without a search it draws nothing.
#pragma once

#include "app/chat/chat_find.h"

#include <QColor>
#include <QPointer>
#include <QQuickItem>
#include <QTextDocument>
#include <QtQml/qqmlregistration.h>

#include <vector>

namespace firesteel::app {

class MatchMarks : public QQuickItem
{
    Q_OBJECT
    QML_ELEMENT
    Q_PROPERTY(firesteel::app::ChatFind *find READ find WRITE setFind NOTIFY changed FINAL)
    Q_PROPERTY(QQuickItem *text READ text WRITE setText NOTIFY changed FINAL) // a TextEdit
    Q_PROPERTY(int row MEMBER m_row NOTIFY changed FINAL)
    Q_PROPERTY(int part MEMBER m_part NOTIFY changed FINAL)
    Q_PROPERTY(QColor color MEMBER m_color NOTIFY changed FINAL)
    Q_PROPERTY(QColor currentColor MEMBER m_currentColor NOTIFY changed FINAL)
    Q_PROPERTY(int count READ count NOTIFY marked FINAL) // rectangles

public:
    explicit MatchMarks(QQuickItem *parent = nullptr);

    ChatFind *find() const { return m_find; }
    void setFind(ChatFind *find);
    QQuickItem *text() const { return m_text; }
    void setText(QQuickItem *text);
    int count() const { return static_cast<int>(m_marks.size()); }

Q_SIGNALS:
    void changed();
    void marked();
    void currentPlaced(const QRectF &rect); // the match that the reader went to is here

protected:
    void updatePolish() override;
    QSGNode *updatePaintNode(QSGNode *node, UpdatePaintNodeData *data) override;
    void geometryChange(const QRectF &newGeometry, const QRectF &oldGeometry) override;

private:
    struct Mark
    {
        QRectF rect;
        bool isCurrent = false;

        bool operator==(const Mark &) const = default;
    };

    void markAgain();
    bool isSearching() const;
    void addMarks(qsizetype begin, qsizetype end, bool isCurrent, std::vector<Mark> &marks) const;

    QPointer<ChatFind> m_find;
    QPointer<QQuickItem> m_text;
    QPointer<QTextDocument> m_document; // its document
    int m_row = 0;
    int m_part = 0;
    QColor m_color;
    QColor m_currentColor;
    std::vector<Mark> m_marks;
};

} // namespace firesteel::app
