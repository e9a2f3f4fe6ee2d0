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
    return [inbox = m_inbox](const RequestRecord &record) {
        const std::scoped_lock lock(inbox->mutex);
        if (inbox->model == nullptr)
            return;
        // However many come before the window looks: one call.
        if (inbox->records.empty())
            QMetaObject::invokeMethod(inbox->model, &RequestLogModel::drain, Qt::QueuedConnection);
        inbox->records.push_back(record);
    };
}

void RequestLogModel::drain()
{
    std::vector<RequestRecord> records;
    {
        const std::scoped_lock lock(m_inbox->mutex);
        records = std::exchange(m_inbox->records, {});
    }
    const int before = count();
    for (const RequestRecord &record : records)
        add(record);
    if (count() != before)
        Q_EMIT countChanged();
}

void RequestLogModel::add(const RequestRecord &record)
{
    const auto known = std::ranges::find(m_rows, record.id, &RequestRecord::id);
    if (known != m_rows.end()) {
        *known = record;
        const QModelIndex row = index(static_cast<int>(known - m_rows.begin()));
        Q_EMIT dataChanged(row, row);
        return;
    }
    beginInsertRows({}, 0, 0);
    m_rows.push_front(record);
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
    const RequestRecord &record = m_rows[static_cast<std::size_t>(index.row())];
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
