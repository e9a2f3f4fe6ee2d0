// SPDX-License-Identifier: MIT
//
// What drafting did, for the panel and the CSV: histories of the last looks, and the acceptance by
// draft position over the last minute in which something was drafted. Empty until a drafter runs.
// Owned by PerformanceMonitor, which hands it the engine's totals.
#pragma once

#include "app/monitor/metric_history.h"
#include "engine/api/event.h"

#include <QList>
#include <QObject>
#include <QQmlListProperty>
#include <QString>
#include <QtQml/qqmlregistration.h>

#include <array>
#include <deque>
#include <functional>

namespace firesteel::app {

class DraftMetrics : public QObject
{
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("PerformanceMonitor owns what it knows of drafting")
    Q_PROPERTY(bool known READ isKnown NOTIFY changed FINAL) // something was drafted since the load
    Q_PROPERTY(
        QQmlListProperty<firesteel::app::MetricHistory> metrics READ metricList CONSTANT FINAL)
    // Share of the guesses at each position that were right, 0 to 1, the first position first; as
    // many as were guessed at once.
    Q_PROPERTY(QList<double> acceptance READ acceptance NOTIFY changed FINAL)
    // Guesses, beside the token that each step gives of its own.
    Q_PROPERTY(double acceptedPerStep READ acceptedPerStep NOTIFY changed FINAL)

public:
    static constexpr std::size_t kLooks = 60; // that acceptance is taken over

    // Makes a history that is a column of the CSV.
    using AddHistory = std::function<MetricHistory *(const QString &key, const QString &name,
                                                     const QString &unit, int decimals)>;
    explicit DraftMetrics(const AddHistory &add, QObject *parent = nullptr);

    // The engine's totals at a look, and its K. Without a moment ago to compare with, `isRecent` is
    // false: the counts are taken, the histories get nothing.
    void take(qint64 time, const engine::DraftCounts &totals, int draftTokens, bool isRecent);

    bool isKnown() const { return m_totals.drafted > 0; }
    QQmlListProperty<MetricHistory> metricList() { return { this, &m_metrics }; }
    const QList<MetricHistory *> &metrics() const { return m_metrics; }
    QList<double> acceptance() const;
    double acceptedPerStep() const;

Q_SIGNALS:
    void changed();

private:
    engine::DraftCounts recent() const;

    MetricHistory *m_perStep;
    MetricHistory *m_draftTime;
    MetricHistory *m_verifyTime;
    MetricHistory *m_draftTokens;
    std::array<MetricHistory *, engine::Drafting::kMaxTokens> m_acceptedAt {}; // of the CSV alone
    QList<MetricHistory *> m_metrics; // that the panel lists
    engine::DraftCounts m_totals; // of the last look
    std::deque<engine::DraftCounts> m_looks; // at which something was drafted, the newest last
};

} // namespace firesteel::app
