// SPDX-License-Identifier: MIT
#include "app/chat/conversation_list_model.h"

#include "app/chat/conversation_title.h"

#include <algorithm>
#include <functional>
#include <unordered_set>
#include <utility>

namespace firesteel::app {

namespace {

const ConversationSummary &summaryOf(const ConversationListModel::Entry &entry)
{
    return entry.conversation ? entry.conversation->summary() : entry.summary;
}

} // namespace

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
    const ConversationController *conversation = entry(index.row()).conversation.get();
    const ConversationSummary &summary = summaryOf(entry(index.row()));
    switch (role) {
    case ConversationIdRole:
        return QString::number(summary.id);
    case Qt::DisplayRole:
    case TitleRole:
        return summary.title;
    case SectionRole:
        return sectionOf(QDateTime::fromMSecsSinceEpoch(summary.updated).date(),
                         QDate::currentDate());
    case UpdatedRole:
        return QDateTime::fromMSecsSinceEpoch(summary.updated);
    case ActiveRole:
        return conversation != nullptr && conversation == m_active;
    case BusyRole:
        return conversation != nullptr && conversation->isBusy();
    default:
        return {};
    }
}

int ConversationListModel::rowOf(const ConversationController *conversation) const
{
    if (conversation == nullptr)
        return -1;
    const auto found = std::ranges::find_if(m_rows, [conversation](const Entry &entry) {
        return entry.conversation.get() == conversation;
    });
    return found == m_rows.end() ? -1 : static_cast<int>(found - m_rows.begin());
}

int ConversationListModel::rowOf(RecordId id) const
{
    const auto found = std::ranges::find_if(
        m_rows, [id](const Entry &entry) { return summaryOf(entry).id == id; });
    return found == m_rows.end() ? -1 : static_cast<int>(found - m_rows.begin());
}

int ConversationListModel::activeRow() const { return rowOf(m_active); }

ConversationController *ConversationListModel::at(int row) const
{
    return row >= 0 && row < rowCountValue() ? entry(row).conversation.get() : nullptr;
}

std::optional<ConversationSummary> ConversationListModel::summaryAt(int row) const
{
    if (row < 0 || row >= rowCountValue())
        return std::nullopt;
    return summaryOf(entry(row));
}

void ConversationListModel::setActive(ConversationController *conversation)
{
    if (conversation == m_active)
        return;
    const ConversationController *before = std::exchange(m_active, conversation);
    rowChanged(before, ActiveRole);
    rowChanged(m_active, ActiveRole);
    const int row = rowOf(m_active);
    if (row >= 0)
        m_rows[static_cast<std::size_t>(row)].lastActive = ++m_activations;
    Q_EMIT activeRowChanged();
}

void ConversationListModel::setStored(const std::vector<ConversationSummary> &stored)
{
    beginResetModel();
    std::vector<Entry> rows;
    std::erase_if(m_rows, [&rows](Entry &entry) {
        if (entry.conversation)
            rows.push_back(std::move(entry));
        return true;
    });
    std::unordered_set<RecordId> open;
    for (const Entry &entry : rows)
        open.insert(summaryOf(entry).id);
    for (const ConversationSummary &summary : stored) {
        if (!open.contains(summary.id))
            rows.push_back({ summary, nullptr, 0 });
    }
    std::ranges::stable_sort(rows, std::greater {},
                             [](const Entry &entry) { return summaryOf(entry).updated; });
    m_rows = std::move(rows);
    endResetModel();
}

void ConversationListModel::rename(int row, const QString &title)
{
    if (row < 0 || row >= rowCountValue() || entry(row).conversation)
        return;
    m_rows[static_cast<std::size_t>(row)].summary.title = title;
    Q_EMIT dataChanged(index(row, 0), index(row, 0), { TitleRole });
}

void ConversationListModel::watch(ConversationController *conversation)
{
    connect(conversation, &ConversationController::titleChanged, this,
            [this, conversation] { rowChanged(conversation, TitleRole); });
    connect(conversation, &ConversationController::busyChanged, this,
            [this, conversation] { rowChanged(conversation, BusyRole); });
    connect(conversation, &ConversationController::updatedChanged, this, [this, conversation] {
        if (conversation == m_blank.get())
            insert({ {}, std::move(m_blank), ++m_activations });
        else
            moveToItsPlace(conversation);
    });
}

ConversationController *
ConversationListModel::add(std::unique_ptr<ConversationController> conversation)
{
    ConversationController *added = conversation.get();
    watch(added);
    if (added->isStored())
        insert({ {}, std::move(conversation), 0 });
    else
        m_blank = std::move(conversation);
    return added;
}

ConversationController *
ConversationListModel::open(int row, std::unique_ptr<ConversationController> conversation)
{
    ConversationController *opened = conversation.get();
    watch(opened);
    m_rows[static_cast<std::size_t>(row)].conversation = std::move(conversation);
    return opened;
}

void ConversationListModel::closeIdle(int keep)
{
    std::vector<Entry *> idle;
    for (Entry &entry : m_rows) {
        const ConversationController *conversation = entry.conversation.get();
        if (conversation != nullptr && conversation != m_active && !conversation->isBusy()
            && conversation->draft().isEmpty() && !conversation->isEditing())
            idle.push_back(&entry);
    }
    std::ranges::sort(idle, std::greater {}, &Entry::lastActive);
    for (auto i = static_cast<std::size_t>(keep); i < idle.size(); ++i) {
        idle[i]->summary = idle[i]->conversation->summary();
        idle[i]->conversation->disconnect(this);
        // The view may still be letting go of its last row.
        idle[i]->conversation.release()->deleteLater();
    }
}

int ConversationListModel::rowFor(std::int64_t updated) const
{
    const auto place = std::ranges::find_if(
        m_rows, [&](const Entry &entry) { return summaryOf(entry).updated <= updated; });
    return static_cast<int>(place - m_rows.begin());
}

void ConversationListModel::insert(Entry entry)
{
    const int row = rowFor(summaryOf(entry).updated);
    beginInsertRows({}, row, row);
    m_rows.insert(m_rows.begin() + row, std::move(entry));
    endInsertRows();
}

// A conversation's time only moves forward, so its place can only be nearer the top.
void ConversationListModel::moveToItsPlace(const ConversationController *conversation)
{
    const int from = rowOf(conversation);
    const int to = rowFor(conversation->summary().updated);
    if (from > to && beginMoveRows({}, from, from, {}, to)) {
        std::rotate(m_rows.begin() + to, m_rows.begin() + from, m_rows.begin() + from + 1);
        endMoveRows();
    }
    const int row = rowOf(conversation);
    if (row >= 0)
        Q_EMIT dataChanged(index(row, 0), index(row, 0), { UpdatedRole, SectionRole });
}

std::optional<ConversationListModel::Entry> ConversationListModel::takeAt(int row)
{
    if (row < 0 || row >= rowCountValue())
        return std::nullopt;
    beginRemoveRows({}, row, row);
    Entry taken = std::move(m_rows[static_cast<std::size_t>(row)]);
    m_rows.erase(m_rows.begin() + row);
    if (taken.conversation && taken.conversation.get() == m_active)
        m_active = nullptr;
    endRemoveRows();
    if (taken.conversation)
        taken.conversation->disconnect(this);
    return taken;
}

void ConversationListModel::putBack(Entry entry)
{
    if (entry.conversation)
        watch(entry.conversation.get());
    insert(std::move(entry));
}

void ConversationListModel::rowChanged(const ConversationController *conversation, Role role)
{
    const int row = rowOf(conversation);
    if (row >= 0)
        Q_EMIT dataChanged(index(row, 0), index(row, 0), { role });
}

} // namespace firesteel::app
