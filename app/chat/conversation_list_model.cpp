// SPDX-License-Identifier: MIT
#include "app/chat/conversation_list_model.h"

#include "app/chat/conversation_title.h"

#include <algorithm>
#include <utility>

namespace firesteel::app {

ConversationListModel::ConversationListModel(QObject *parent)
    : QAbstractListModel(parent)
{
    connect(this, &QAbstractItemModel::rowsInserted, this, &ConversationListModel::countChanged);
    connect(this, &QAbstractItemModel::rowsRemoved, this, &ConversationListModel::countChanged);
    connect(this, &QAbstractItemModel::rowsInserted, this,
            &ConversationListModel::activeRowChanged);
    connect(this, &QAbstractItemModel::rowsRemoved, this, &ConversationListModel::activeRowChanged);
    connect(this, &QAbstractItemModel::rowsMoved, this, &ConversationListModel::activeRowChanged);
    m_midnight.setSingleShot(true);
    connect(&m_midnight, &QTimer::timeout, this, [this] {
        if (!m_rows.empty())
            Q_EMIT dataChanged(index(0, 0), index(rowCountValue() - 1, 0), { SectionRole });
        scheduleMidnight();
    });
    scheduleMidnight();
}

ConversationListModel::~ConversationListModel() = default;

// "Today" becomes "Yesterday" while the window is open.
void ConversationListModel::scheduleMidnight()
{
    const QDateTime now = QDateTime::currentDateTime();
    m_midnight.start(
        std::chrono::milliseconds(now.msecsTo(now.date().addDays(1).startOfDay()) + 1));
}

int ConversationListModel::rowCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : rowCountValue();
}

QHash<int, QByteArray> ConversationListModel::roleNames() const
{
    return {
        { ConversationIdRole, "conversationId" },
        { TitleRole, "title" },
        { SectionRole, "section" },
        { UpdatedRole, "updated" },
        { ActiveRole, "active" },
        { BusyRole, "busy" },
    };
}

QVariant ConversationListModel::data(const QModelIndex &index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid | CheckIndexOption::ParentIsInvalid))
        return {};
    const ConversationController &conversation = *m_rows[static_cast<std::size_t>(index.row())];
    switch (role) {
    case ConversationIdRole:
        return conversation.conversationId();
    case Qt::DisplayRole:
    case TitleRole:
        return conversation.title();
    case SectionRole:
        return sectionOf(conversation.updated().date(), QDate::currentDate());
    case UpdatedRole:
        return conversation.updated();
    case ActiveRole:
        return &conversation == m_active;
    case BusyRole:
        return conversation.isBusy();
    default:
        return {};
    }
}

int ConversationListModel::rowOf(const ConversationController *conversation) const
{
    const auto found
        = std::ranges::find(m_rows, conversation, &std::unique_ptr<ConversationController>::get);
    return found == m_rows.end() ? -1 : static_cast<int>(found - m_rows.begin());
}

int ConversationListModel::activeRow() const { return rowOf(m_active); }

ConversationController *ConversationListModel::at(int row) const
{
    return row >= 0 && row < rowCountValue() ? m_rows[static_cast<std::size_t>(row)].get()
                                             : nullptr;
}

void ConversationListModel::setActive(ConversationController *conversation)
{
    if (conversation == m_active)
        return;
    const ConversationController *before = std::exchange(m_active, conversation);
    rowChanged(before, ActiveRole);
    rowChanged(m_active, ActiveRole);
    Q_EMIT activeRowChanged();
}

ConversationController *
ConversationListModel::add(std::unique_ptr<ConversationController> conversation)
{
    ConversationController *added = conversation.get();
    connect(added, &ConversationController::titleChanged, this,
            [this, added] { rowChanged(added, TitleRole); });
    connect(added, &ConversationController::busyChanged, this,
            [this, added] { rowChanged(added, BusyRole); });
    connect(added, &ConversationController::updatedChanged, this, [this, added] {
        if (added == m_blank.get())
            insert(std::move(m_blank));
        else
            moveToItsPlace(added);
    });
    if (added->isEmpty())
        m_blank = std::move(conversation);
    else
        insert(std::move(conversation));
    return added;
}

int ConversationListModel::rowFor(const QDateTime &updated) const
{
    const auto place = std::ranges::find_if(
        m_rows, [&](const auto &conversation) { return conversation->updated() <= updated; });
    return static_cast<int>(place - m_rows.begin());
}

void ConversationListModel::insert(std::unique_ptr<ConversationController> conversation)
{
    const int row = rowFor(conversation->updated());
    beginInsertRows({}, row, row);
    m_rows.insert(m_rows.begin() + row, std::move(conversation));
    endInsertRows();
}

// A conversation's time only moves forward, so its place can only be nearer the top.
void ConversationListModel::moveToItsPlace(const ConversationController *conversation)
{
    const int from = rowOf(conversation);
    const int to = rowFor(conversation->updated());
    if (from > to && beginMoveRows({}, from, from, {}, to)) {
        std::rotate(m_rows.begin() + to, m_rows.begin() + from, m_rows.begin() + from + 1);
        endMoveRows();
    }
    const int row = rowOf(conversation);
    if (row >= 0)
        Q_EMIT dataChanged(index(row, 0), index(row, 0), { UpdatedRole, SectionRole });
}

std::unique_ptr<ConversationController> ConversationListModel::takeAt(int row)
{
    if (at(row) == nullptr)
        return nullptr;
    beginRemoveRows({}, row, row);
    std::unique_ptr<ConversationController> taken
        = std::move(m_rows[static_cast<std::size_t>(row)]);
    m_rows.erase(m_rows.begin() + row);
    if (taken.get() == m_active)
        m_active = nullptr;
    endRemoveRows();
    taken->disconnect(this);
    return taken;
}

void ConversationListModel::rowChanged(const ConversationController *conversation, Role role)
{
    const int row = rowOf(conversation);
    if (row >= 0)
        Q_EMIT dataChanged(index(row, 0), index(row, 0), { role });
}

} // namespace firesteel::app
