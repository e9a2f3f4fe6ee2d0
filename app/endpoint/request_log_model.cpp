// SPDX-License-Identifier: MIT
#include "app/endpoint/request_log_model.h"

#include <QDateTime>
#include <QLocale>

#include <algorithm>
#include <utility>

namespace firesteel::app {

using namespace Qt::Literals::StringLiterals;

namespace {

constexpr int kClientGone = 499;
constexpr int kFirstError = 400;

} // namespace

RequestLogModel::RequestLogModel(QObject *parent)
    : QAbstractListModel(parent)
    , m_inbox(std::make_shared<Inbox>())
{
    m_inbox->model = this;
}

RequestLogModel::~RequestLogModel()
{
    const std::scoped_lock lock(m_inbox->mutex);
    m_inbox->model = nullptr;
}

RequestSink RequestLogModel::sink()
{
    return [inbox = m_inbox, server = ++m_servers](const RequestRecord &record) {
        const std::scoped_lock lock(inbox->mutex);
        if (inbox->model == nullptr)
            return;
        // However many come before the window looks: one call.
        if (inbox->rows.empty())
            QMetaObject::invokeMethod(inbox->model, &RequestLogModel::drain, Qt::QueuedConnection);
        inbox->rows.push_back({ { server, record.id }, record });
    };
}

void RequestLogModel::drain()
{
    std::vector<Row> rows;
    {
        const std::scoped_lock lock(m_inbox->mutex);
        rows = std::exchange(m_inbox->rows, {});
    }
    const int before = count();
    const int runningBefore = running();
    for (const Row &row : rows)
        add(row);
    if (count() != before)
        Q_EMIT countChanged();
    if (running() != runningBefore)
        Q_EMIT runningChanged();
}

void RequestLogModel::add(const Row &row)
{
    if (row.record.status == 0)
        m_running.insert(row.id);
    else
        m_running.erase(row.id);
    const auto known = std::ranges::find(m_rows, row.id, &Row::id);
    if (known != m_rows.end()) {
        known->record = row.record;
        const QModelIndex place = index(static_cast<int>(known - m_rows.begin()));
        Q_EMIT dataChanged(place, place);
        return;
    }
    beginInsertRows({}, 0, 0);
    m_rows.push_front(row);
    endInsertRows();
    if (m_rows.size() > kMostRows) {
        const int last = count() - 1;
        beginRemoveRows({}, last, last);
        m_rows.pop_back();
        endRemoveRows();
    }
}

void RequestLogModel::clear()
{
    beginResetModel();
    m_rows.clear();
    endResetModel();
    Q_EMIT countChanged();
}

int RequestLogModel::rowCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : count();
}

QVariant RequestLogModel::data(const QModelIndex &index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    const RequestRecord &record = m_rows[static_cast<std::size_t>(index.row())].record;
    switch (role) {
    case TimeRole:
        return QLocale().toString(QDateTime::fromMSecsSinceEpoch(record.began).time(),
                                  u"HH:mm:ss"_s);
    case RequestRole:
        return u"%1 %2"_s.arg(QString::fromStdString(record.method),
                              QString::fromStdString(record.path));
    case ClientRole:
        return record.keyName.empty() ? QString::fromStdString(record.client)
                                      : u"%1, %2"_s.arg(QString::fromStdString(record.client),
                                                        QString::fromStdString(record.keyName));
    case ResultRole:
        if (record.status == 0)
            return tr("running");
        return record.status == kClientGone ? tr("client left") : QString::number(record.status);
    case DetailRole: {
        if (record.status == 0)
            return QString();
        if (record.status >= kFirstError && record.status != kClientGone)
            return QString::fromStdString(record.note);
        const QString seconds = tr("%1 s").arg(QLocale().toString(record.seconds, 'f', 1));
        if (record.promptTokens == 0)
            return seconds;
        return tr("%1 read, %2 written, %3")
            .arg(QLocale().toString(record.promptTokens),
                 QLocale().toString(record.completionTokens), seconds);
    }
    case FailedRole:
        return record.status >= kFirstError && record.status != kClientGone;
    default:
        return {};
    }
}

QHash<int, QByteArray> RequestLogModel::roleNames() const
{
    return { { TimeRole, "time" },     { RequestRole, "request" }, { ClientRole, "client" },
             { ResultRole, "result" }, { DetailRole, "detail" },   { FailedRole, "failed" } };
}

} // namespace firesteel::app
