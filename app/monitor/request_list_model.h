// SPDX-License-Identifier: MIT
//
// The requests that run and wait, a row each, for the panel. Rows keep their place from one reading
// to the next, so that a stop button does not move away under the pointer or lose the keyboard.
#pragma once

#include "engine/api/engine.h"

#include <QAbstractListModel>
#include <QtQml/qqmlregistration.h>

#include <optional>
#include <vector>

namespace firesteel::app {

class RequestListModel : public QAbstractListModel
{
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("PerformanceMonitor owns the requests")
    Q_PROPERTY(int count READ rowCount NOTIFY countChanged FINAL)
    Q_PROPERTY(QString summary READ summary NOTIFY summaryChanged FINAL)

public:
    enum Role { SourceRole = Qt::UserRole + 1, StateRole, RunningRole };

    explicit RequestListModel(QObject *parent = nullptr);

    void update(std::vector<engine::RequestStatus> requests); // oldest first
    std::optional<engine::RequestId> idAt(int row) const;
    QString summary() const; // "1 running, 2 waiting"

    int rowCount(const QModelIndex &parent = {}) const override;
    QVariant data(const QModelIndex &index, int role) const override;
    QHash<int, QByteArray> roleNames() const override;

Q_SIGNALS:
    void countChanged();
    void summaryChanged();

private:
    static QString stateText(const engine::RequestStatus &request);

    std::vector<engine::RequestStatus> m_requests;
};

} // namespace firesteel::app
