// SPDX-License-Identifier: MIT
//
// The endpoint's log as rows, newest first: the last few hundred requests, those under way
// included. Filled from the threads of the connections, shown on the GUI thread.
#pragma once

#include "app/api/request_record.h"

#include <QAbstractListModel>
#include <QtQml/qqmlregistration.h>

#include <compare>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

namespace firesteel::app {

class RequestLogModel : public QAbstractListModel
{
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("EndpointController owns the log")
    Q_PROPERTY(int count READ count NOTIFY countChanged FINAL)
    // Requests that have not ended, also those whose rows were cleared.
    Q_PROPERTY(int running READ running NOTIFY runningChanged FINAL)

public:
    static constexpr std::size_t kMostRows = 300;
    enum Role {
        TimeRole = Qt::UserRole + 1, // "14:02:31"
        RequestRole, // "POST /v1/messages"
        ClientRole, // address, and the name of the key
        ResultRole, // "200", "running", "client gone"
        DetailRole, // tokens and seconds, or why it was refused
        FailedRole,
    };

    explicit RequestLogModel(QObject *parent = nullptr);
    ~RequestLogModel() override;

    // For any thread, and for longer than this lives. One for each server: their records count from
    // 1 again.
    RequestSink sink();
    Q_INVOKABLE void clear();

    int count() const { return static_cast<int>(m_rows.size()); }
    int running() const { return static_cast<int>(m_running.size()); }
    int rowCount(const QModelIndex &parent = {}) const override;
    QVariant data(const QModelIndex &index, int role) const override;
    QHash<int, QByteArray> roleNames() const override;

Q_SIGNALS:
    void countChanged();
    void runningChanged();

private:
    struct RowId
    {
        int server = 0;
        std::uint64_t record = 0;
        auto operator<=>(const RowId &) const = default;
    };
    struct Row
    {
        RowId id;
        RequestRecord record;
    };
    struct Inbox
    {
        std::mutex mutex;
        std::vector<Row> rows;
        RequestLogModel *model = nullptr; // null: it is gone
    };

    void drain();
    void add(const Row &row);

    std::shared_ptr<Inbox> m_inbox;
    std::deque<Row> m_rows; // newest first
    std::set<RowId> m_running;
    int m_servers = 0;
};

} // namespace firesteel::app
