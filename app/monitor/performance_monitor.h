// SPDX-License-Identifier: MIT
//
// Looks at the engine and the machine once a second and keeps what it saw for the panels. It looks
// on a worker and only while something that shows it is visible and it is not paused: otherwise it
// costs nothing. Owned by Application.
#pragma once

#include "app/monitor/draft_metrics.h"
#include "app/monitor/machine_reader.h"
#include "app/monitor/machine_watch.h"
#include "app/monitor/metric_history.h"
#include "app/monitor/request_list_model.h"
#include "engine/api/engine.h"

#include <QDateTime>
#include <QElapsedTimer>
#include <QObject>
#include <QQmlListProperty>
#include <QSet>
#include <QStringList>
#include <QThreadPool>
#include <QTimer>
#include <QtQml/qqmlregistration.h>

#include <memory>
#include <optional>
#include <vector>

namespace firesteel::app {

// The machine's memory, in bytes, for QML.
class MemoryPool
{
    Q_GADGET
    QML_VALUE_TYPE(memoryPool)
    Q_PROPERTY(double total MEMBER total FINAL)
    Q_PROPERTY(double weights MEMBER weights FINAL)
    Q_PROPERTY(double states MEMBER states FINAL)
    Q_PROPERTY(double program MEMBER program FINAL)
    Q_PROPERTY(double others MEMBER others FINAL)
    Q_PROPERTY(double free MEMBER free FINAL)
    Q_PROPERTY(double reserve MEMBER reserve FINAL)

public:
    double total = 0; // 0: not known
    double weights = 0;
    double states = 0;
    double program = 0;
    double others = 0;
    double free = 0;
    double reserve = 0; // of `free`, that should stay
};

class PerformanceMonitor : public QObject
{
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("Application owns the monitor")
    Q_PROPERTY(bool paused READ isPaused WRITE setPaused NOTIFY pausedChanged FINAL)
    Q_PROPERTY(bool sampling READ isSampling NOTIFY samplingChanged FINAL)
    Q_PROPERTY(firesteel::app::MetricHistory *decodeSpeed READ decodeSpeed CONSTANT FINAL)
    Q_PROPERTY(firesteel::app::MetricHistory *prefillSpeed READ prefillSpeed CONSTANT FINAL)
    // Engine, processor and GPU, in the order in which a panel lists them.
    Q_PROPERTY(QQmlListProperty<firesteel::app::MetricHistory> engineMetrics READ engineList
                   CONSTANT FINAL)
    Q_PROPERTY(QQmlListProperty<firesteel::app::MetricHistory> machineMetrics READ machineList
                   CONSTANT FINAL)
    Q_PROPERTY(
        QQmlListProperty<firesteel::app::MetricHistory> gpuMetrics READ gpuList CONSTANT FINAL)
    Q_PROPERTY(firesteel::app::DraftMetrics *drafting READ drafting CONSTANT FINAL)
    Q_PROPERTY(firesteel::app::RequestListModel *requests READ requests CONSTANT FINAL)
    Q_PROPERTY(firesteel::app::MemoryPool memory READ memory NOTIFY sampled FINAL)
    Q_PROPERTY(QStringList warnings READ warnings NOTIFY warningsChanged FINAL)
    Q_PROPERTY(QString gpuName READ gpuName NOTIFY sampled FINAL)
    Q_PROPERTY(QString gpuProblem READ gpuProblem NOTIFY sampled FINAL)
    Q_PROPERTY(bool decoding READ isDecoding NOTIFY sampled FINAL)
    Q_PROPERTY(double lastDecodeSpeed READ lastDecodeSpeed NOTIFY sampled FINAL)
    Q_PROPERTY(bool prefilling READ isPrefilling NOTIFY sampled FINAL)
    Q_PROPERTY(double prefillFraction READ prefillFraction NOTIFY sampled FINAL)
    Q_PROPERTY(QString prefillText READ prefillText NOTIFY sampled FINAL)

public:
    static constexpr int kIntervalMilliseconds = 1000;

    // The engine must outlive the monitor.
    PerformanceMonitor(engine::Engine &engine, MachineSources sources, QObject *parent = nullptr);
    ~PerformanceMonitor() override;

    // A view is visible or is not any more; one that is destroyed is not visible.
    Q_INVOKABLE void setWatched(QObject *view, bool isVisible);
    Q_INVOKABLE void stopRequest(int row);
    // What is kept, a line a second, the newest last; empty fields where something was not known.
    Q_INVOKABLE void copyCsv() const;
    QString csv() const;

    bool isPaused() const { return m_isPaused; }
    void setPaused(bool paused);
    bool isSampling() const { return m_timer.isActive(); }
    void setReserve(std::uint64_t bytes) { m_reserveBytes = bytes; }

    MetricHistory *decodeSpeed() const { return m_decodeSpeed; }
    MetricHistory *prefillSpeed() const { return m_prefillSpeed; }
    const QList<MetricHistory *> &gpuMetrics() const { return m_gpuMetrics; }
    QQmlListProperty<MetricHistory> engineList() { return { this, &m_engineMetrics }; }
    QQmlListProperty<MetricHistory> machineList() { return { this, &m_machineMetrics }; }
    QQmlListProperty<MetricHistory> gpuList() { return { this, &m_gpuMetrics }; }
    DraftMetrics *drafting() { return &m_drafting; }
    RequestListModel *requests() { return &m_requests; }
    MemoryPool memory() const { return m_memory; }
    QStringList warnings() const { return m_warnings; }
    QString gpuName() const { return m_gpuName; }
    QString gpuDriver() const { return m_gpuDriver; } // its version
    QString gpuProblem() const { return m_gpuProblem; }
    bool isDecoding() const;
    double lastDecodeSpeed() const { return m_stats.decodeTokensPerSecond; }
    bool isPrefilling() const { return m_prefill.has_value(); }
    double prefillFraction() const;
    QString prefillText() const; // tokens and time left

Q_SIGNALS:
    void pausedChanged();
    void samplingChanged();
    void sampled();
    void warningsChanged();

private:
    struct Look
    {
        engine::EngineStats stats;
        MachineSample machine;
    };
    // Differences to the look before, where that was a moment ago.
    struct Rates
    {
        std::optional<double> decode;
        std::optional<double> prefill;
        std::optional<double> steps;
    };

    MetricHistory *add(const QString &key, const QString &name, const QString &unit, int decimals);
    void update();
    void look();
    void take(const Look &look);
    Rates ratesSince(const engine::EngineStats &before, const engine::EngineStats &now,
                     double seconds) const;
    void note(MetricHistory *metric, std::optional<double> value);

    engine::Engine &m_engine;
    std::shared_ptr<MachineReader> m_reader; // used by one task of m_workers at a time
    std::vector<MetricHistory *> m_metrics; // columns of the CSV; children of this
    MetricHistory *m_decodeSpeed;
    MetricHistory *m_prefillSpeed;
    MetricHistory *m_firstToken;
    MetricHistory *m_context;
    MetricHistory *m_running;
    MetricHistory *m_waiting;
    MetricHistory *m_programMemory;
    MetricHistory *m_otherMemory;
    MetricHistory *m_freeMemory;
    MetricHistory *m_cpu;
    MetricHistory *m_gpuUse;
    MetricHistory *m_gpuPower;
    MetricHistory *m_gpuTemperature;
    MetricHistory *m_gpuClock;
    DraftMetrics m_drafting;
    QList<MetricHistory *> m_engineMetrics;
    QList<MetricHistory *> m_machineMetrics;
    QList<MetricHistory *> m_gpuMetrics;
    RequestListModel m_requests;
    MachineWatch m_watch;
    MemoryPool m_memory;
    QStringList m_warnings;
    QString m_gpuName;
    QString m_gpuDriver;
    QString m_gpuProblem;
    engine::EngineStats m_stats; // of the last look
    std::optional<engine::RequestStatus> m_prefill; // of the request whose prompt is being read
    std::uint64_t m_reserveBytes;
    bool m_isPaused = false;
    bool m_isLooking = false;
    QSet<QObject *> m_views; // that are visible
    QDateTime m_started;
    QElapsedTimer m_clock; // since m_started
    qint64 m_lastLook = -1; // milliseconds of m_clock; -1: none, or too long ago to compare with
    QTimer m_timer;
    QThreadPool m_workers; // last: waits for its task before anything that uses goes
};

} // namespace firesteel::app
