// SPDX-License-Identifier: MIT
//
// Finds words in the conversation that is shown: every place where they stand in its rows, and
// which of them the reader is at. MatchMarks draws them. Reasoning is searched where it is open.
// Owned by ConversationController; QML's find bar drives it.
#pragma once

#include <QObject>
#include <QQuickItem>
#include <QRectF>
#include <QString>
#include <QTimer>
#include <QtQml/qqmlregistration.h>

#include <vector>

namespace firesteel::app {

class MessageBlockModel;

class ChatFind : public QObject
{
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("A conversation owns its search")
    Q_PROPERTY(bool shown READ isShown WRITE setShown NOTIFY changed FINAL) // else nothing is found
    Q_PROPERTY(QString query READ query NOTIFY changed FINAL)
    Q_PROPERTY(int count READ count NOTIFY changed FINAL)
    Q_PROPERTY(int current READ current NOTIFY changed FINAL) // from 1; 0: there is none

public:
    static constexpr std::size_t kMostMatches = 10'000; // more are not counted

    // One place where the words stand, in reading order.
    struct Match
    {
        int row = 0;
        int part = 0; // of the row: the cell of a table, its header's first; else 0
        int nth = 0; // in that part

        bool operator==(const Match &) const = default;
    };

    // The model must outlive the search.
    explicit ChatFind(const MessageBlockModel &model, QObject *parent = nullptr);

    bool isShown() const { return m_isShown; }
    void setShown(bool shown);
    QString query() const { return m_query; }
    int count() const { return static_cast<int>(m_matches.size()); }
    int current() const { return m_current + 1; }
    bool isCurrent(const Match &match) const;

    // Regardless of case. Goes to the first place at or after where the reader is: the match
    // before, else `fromRow`.
    Q_INVOKABLE void find(const QString &query, int fromRow);
    Q_INVOKABLE void next();
    Q_INVOKABLE void previous();

    // Of MatchMarks: the current match is drawn here. The first time after a step it is told.
    void place(QQuickItem *item, const QRectF &rect);

Q_SIGNALS:
    void changed();
    void revealRequested(int row); // of the current match
    void placed(QQuickItem *item, const QRectF &rect); // in the item's coordinates

private:
    struct Found
    {
        Match match;
        qsizetype at = 0; // characters into the part
    };
    static bool isBefore(const Found &a, const Found &b);
    int firstFrom(const Found &place) const; // index; round to the first; -1: there is none
    void step(int by);
    void refresh();
    void goTo(int match);

    const MessageBlockModel &m_model;
    bool m_isShown = false;
    QString m_query;
    std::vector<Found> m_matches;
    int m_current = -1; // index into m_matches
    bool m_isRevealing = false;
    QTimer m_refreshTimer; // an answer that is being written changes the rows all the time
};

} // namespace firesteel::app
