// SPDX-License-Identifier: MIT
//
// What another machine's engine tells of itself, for the panel while a chat that uses it is shown:
// its /metrics once a second, as long as somebody looks. Owned by Application.
#pragma once

#include "app/monitor/metric_history.h"
#include "app/remote/remote_engines.h"
#include "app/remote/remote_metrics.h"

#include <QElapsedTimer>
#include <QObject>
#include <QQmlListProperty>
#include <QTimer>
#include <QtQml/qqmlregistration.h>

#include <memory>
#include <optional>

namespace firesteel::app {

class RemoteMonitor : public QObject
{
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("Application owns the monitor of the other engines")
    Q_PROPERTY(
        bool active READ isActive NOTIFY engineChanged FINAL) // there is an engine to tell of
    Q_PROPERTY(QString name READ name NOTIFY engineChanged FINAL)
    // What it is, or why nothing is known of it.
    Q_PROPERTY(QString stateText READ stateText NOTIFY sampled FINAL)
    Q_PROPERTY(
        QQmlListProperty<firesteel::app::MetricHistory> metrics READ metricList CONSTANT FINAL)

public:
    static constexpr int kIntervalMilliseconds = 1000;

    // Both must outlive the monitor.
    RemoteMonitor(RemoteEngines &engines, RemoteClient &client, QObject *parent = nullptr);
    ~RemoteMonitor() override;

    void show(const QString &engineId); // empty, or of none that there is: nothing
    Q_INVOKABLE void setWatched(bool isWatched); // somebody looks

    bool isActive() const { return m_engine.has_value(); }
    QString name() const { return m_engine ? m_engine->name : QString(); }
    QString stateText() const { return m_stateText; }
    QQmlListProperty<MetricHistory> metricList() { return { this, &m_metrics }; }
    const QList<MetricHistory *> &metrics() const { return m_metrics; }

Q_SIGNALS:
    void engineChanged();
    void sampled();

private:
    MetricHistory *add(const QString &key, const QString &name, const QString &unit, int decimals);
    void restart();
    void ask();
    void onAnswered();
    void note(const RemoteReading &reading);
    void setState(const QString &text);

    RemoteEngines &m_engines;
    RemoteClient &m_client;
    QString m_id; // asked for; there may be none
    std::optional<RemoteEngine> m_engine;
    bool m_isWatched = false;
    QString m_stateText;
    QList<MetricHistory *> m_metrics;
    MetricHistory *m_generation;
    MetricHistory *m_prompt;
    MetricHistory *m_running;
    MetricHistory *m_waiting;
    MetricHistory *m_cacheUse;
    MetricHistory *m_acceptance;
    std::unique_ptr<RemoteGet> m_get; // while the server is asked
    std::optional<RemoteReading> m_last;
    qint64 m_lastTime = 0; // of m_clock, milliseconds
    QElapsedTimer m_clock;
    QTimer m_timer;
};

} // namespace firesteel::app
