// SPDX-License-Identifier: MIT
#include "app/chat/chat_find.h"

#include "app/chat/message_block_model.h"
#include "app/markdown/inline_html.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace firesteel::app {

namespace {

constexpr int kRefreshMilliseconds = 250;

// The texts of a row as its delegate shows them, one a text item.
QStringList shownTexts(const MessageBlockModel &model, int row)
{
    const auto value = [index = model.index(row, 0)](int role) { return index.data(role); };
    switch (value(MessageBlockModel::BlockTypeRole).toInt()) {
    case MessageBlockModel::UserText:
    case MessageBlockModel::ThinkingText:
        return { value(MessageBlockModel::TextRole).toString() };
    case MessageBlockModel::Paragraph:
    case MessageBlockModel::Heading:
    case MessageBlockModel::Quote:
    case MessageBlockModel::ListItem:
        return { htmlText(value(MessageBlockModel::HtmlRole).toString()) };
    case MessageBlockModel::Code:
        return { value(MessageBlockModel::CodeRole).toString() };
    case MessageBlockModel::Table: {
        QStringList cells = value(MessageBlockModel::TableHeaderRole).toStringList();
        for (const QVariant &line : value(MessageBlockModel::TableRowsRole).toList())
            cells += line.toStringList();
        for (QString &cell : cells)
            cell = htmlText(cell);
        return cells;
    }
    default:
        return {};
    }
}

} // namespace

ChatFind::ChatFind(const MessageBlockModel &model, QObject *parent)
    : QObject(parent)
    , m_model(model)
{
    m_refreshTimer.setSingleShot(true);
    m_refreshTimer.setInterval(kRefreshMilliseconds);
    connect(&m_refreshTimer, &QTimer::timeout, this, [this] {
        refresh();
        Q_EMIT changed();
    });
    const auto refreshSoon = [this] {
        if (m_isShown && !m_query.isEmpty() && !m_refreshTimer.isActive())
            m_refreshTimer.start();
    };
    connect(&model, &QAbstractItemModel::rowsInserted, this, refreshSoon);
    connect(&model, &QAbstractItemModel::rowsRemoved, this, refreshSoon);
    connect(&model, &QAbstractItemModel::dataChanged, this, refreshSoon);
    connect(&model, &QAbstractItemModel::modelReset, this, refreshSoon);
}

void ChatFind::setShown(bool shown)
{
    if (std::exchange(m_isShown, shown) == shown)
        return;
    refresh();
    Q_EMIT changed();
}

bool ChatFind::isCurrent(const Match &match) const
{
    return m_current >= 0 && m_matches[static_cast<std::size_t>(m_current)].match == match;
}

bool ChatFind::isBefore(const Found &a, const Found &b)
{
    return std::tuple(a.match.row, a.match.part, a.at)
        < std::tuple(b.match.row, b.match.part, b.at);
}

int ChatFind::firstFrom(const Found &place) const
{
    if (m_matches.empty())
        return -1;
    const auto found = std::ranges::lower_bound(m_matches, place, &ChatFind::isBefore);
    return found == m_matches.end() ? 0 : static_cast<int>(found - m_matches.begin());
}

// Stays at the match where the reader is, as long as there is one.
void ChatFind::refresh()
{
    m_refreshTimer.stop();
    const bool hadCurrent = m_current >= 0;
    const Found before = hadCurrent ? m_matches[static_cast<std::size_t>(m_current)] : Found();
    m_matches.clear();
    m_current = -1;
    if (!m_isShown || m_query.isEmpty())
        return;
    for (int row = 0; row < m_model.rowCount() && m_matches.size() < kMostMatches; ++row) {
        const QStringList texts = shownTexts(m_model, row);
        for (int part = 0; part < texts.size(); ++part) {
            int nth = 0;
            for (qsizetype at = 0; (at = texts[part].indexOf(m_query, at, Qt::CaseInsensitive)) >= 0
                 && m_matches.size() < kMostMatches;
                 at += m_query.size())
                m_matches.push_back({ { row, part, nth++ }, at });
        }
    }
    if (hadCurrent)
        m_current = firstFrom(before);
}

void ChatFind::find(const QString &query, int fromRow)
{
    if (query == m_query)
        return;
    const Found from = m_current >= 0 ? m_matches[static_cast<std::size_t>(m_current)]
                                      : Found { { fromRow, 0, 0 }, 0 };
    m_query = query;
    m_current = -1;
    refresh();
    goTo(firstFrom(from));
}

void ChatFind::next() { step(1); }

void ChatFind::previous() { step(-1); }

void ChatFind::step(int by)
{
    if (m_refreshTimer.isActive())
        refresh();
    const int total = count();
    if (total > 0)
        goTo((std::max(m_current, by > 0 ? -1 : 0) + by + total) % total);
}

void ChatFind::goTo(int match)
{
    m_current = match;
    m_isRevealing = match >= 0;
    if (m_isRevealing)
        Q_EMIT revealRequested(m_matches[static_cast<std::size_t>(match)].match.row);
    Q_EMIT changed();
}

void ChatFind::place(QQuickItem *item, const QRectF &rect)
{
    if (std::exchange(m_isRevealing, false))
        Q_EMIT placed(item, rect);
}

} // namespace firesteel::app
