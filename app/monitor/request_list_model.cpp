// SPDX-License-Identifier: MIT
#include "app/monitor/request_list_model.h"

#include <QLocale>

#include <algorithm>
#include <utility>

namespace firesteel::app {

namespace {

using Phase = engine::RequestStatus::Phase;

QString countText(int count) { return QLocale().toString(count); }

QString tokensText(int count)
{
    return count == 1 ? RequestListModel::tr("1 token")
                      : RequestListModel::tr("%1 tokens").arg(countText(count));
}

} // namespace

RequestListModel::RequestListModel(QObject *parent)
    : QAbstractListModel(parent)
{
}

void RequestListModel::update(std::vector<engine::RequestStatus> requests)
{
    const QString before = summary();
    const std::size_t countBefore = m_requests.size();
    for (std::size_t i = m_requests.size(); i-- > 0;) {
        const bool isThere
            = std::ranges::contains(requests, m_requests[i].id, &engine::RequestStatus::id);
        if (isThere)
            continue;
        const auto row = static_cast<int>(i);
        beginRemoveRows({}, row, row);
        m_requests.erase(m_requests.begin() + static_cast<std::ptrdiff_t>(i));
        endRemoveRows();
    }
    // Ids grow, so what stayed is the beginning of what there is now.
    const std::size_t kept = m_requests.size();
    for (std::size_t i = 0; i < kept; ++i)
        m_requests[i] = std::move(requests[i]);
    if (kept > 0)
        Q_EMIT dataChanged(index(0), index(static_cast<int>(kept) - 1));
    if (kept < requests.size()) {
        beginInsertRows({}, static_cast<int>(kept), static_cast<int>(requests.size()) - 1);
        for (std::size_t i = kept; i < requests.size(); ++i)
            m_requests.push_back(std::move(requests[i]));
        endInsertRows();
    }
    if (m_requests.size() != countBefore)
        Q_EMIT countChanged();
    if (summary() != before)
        Q_EMIT summaryChanged();
}

std::optional<engine::RequestId> RequestListModel::idAt(int row) const
{
    if (row < 0 || std::cmp_greater_equal(row, m_requests.size()))
        return std::nullopt;
    return m_requests[static_cast<std::size_t>(row)].id;
}

QString RequestListModel::summary() const
{
    const auto waiting
        = std::ranges::count(m_requests, Phase::Waiting, &engine::RequestStatus::phase);
    const auto running = std::ssize(m_requests) - waiting;
    if (m_requests.empty())
        return tr("none");
    return tr("%1 running, %2 waiting").arg(running).arg(waiting);
}

QString RequestListModel::stateText(const engine::RequestStatus &request)
{
    switch (request.phase) {
    case Phase::Prefill:
        return tr("reading, %1 of %2 tokens")
            .arg(countText(request.processedTokens), countText(request.promptTokens));
    case Phase::Decode:
        return tr("writing, %1").arg(tokensText(request.generatedTokens));
    case Phase::Waiting:
        break;
    }
    return tr("waiting, %1 to read").arg(tokensText(request.promptTokens));
}

int RequestListModel::rowCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_requests.size());
}

QVariant RequestListModel::data(const QModelIndex &index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    const engine::RequestStatus &request = m_requests[static_cast<std::size_t>(index.row())];
    switch (role) {
    case SourceRole:
        return request.source.empty() ? tr("This window") : QString::fromStdString(request.source);
    case StateRole:
        return stateText(request);
    case RunningRole:
        return request.phase != Phase::Waiting;
    default:
        return {};
    }
}

QHash<int, QByteArray> RequestListModel::roleNames() const
{
    return { { SourceRole, "source" }, { StateRole, "progress" }, { RunningRole, "running" } };
}

} // namespace firesteel::app
