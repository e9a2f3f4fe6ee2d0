// SPDX-License-Identifier: MIT
//
// A short benchmark of the loaded model through the same interface as a chat: reading a long
// prompt, time to the first token, writing numbers, prose and code; a person's own figures beside
// published ones. Owned by Application, shown by the first run and by the page of the benchmark.
#pragma once

#include "app/benchmark/benchmark_plan.h"
#include "app/inference/engine_controller.h"

#include <QList>
#include <QObject>
#include <QString>
#include <QtQml/qqmlregistration.h>

#include <map>
#include <memory>
#include <vector>

namespace firesteel::app {

class BenchmarkRow
{
    Q_GADGET
    QML_VALUE_TYPE(benchmarkRow)
    QML_STRUCTURED_VALUE
    Q_PROPERTY(QString name MEMBER name FINAL)
    Q_PROPERTY(QString own MEMBER own FINAL)
    Q_PROPERTY(QString published MEMBER published FINAL)
    Q_PROPERTY(QString how MEMBER how FINAL)
    Q_PROPERTY(QString source MEMBER source FINAL)
    Q_PROPERTY(QString url MEMBER url FINAL)

public:
    QString name;
    QString own; // "41.2 tok/s"; empty: not measured yet
    QString published;
    QString how; // the published figure came about
    QString source; // who published it and when
    QString url;
};

class BenchmarkController : public QObject
{
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("Application owns the benchmark")
    Q_PROPERTY(bool running READ isRunning NOTIFY changed FINAL)
    Q_PROPERTY(bool available READ isAvailable NOTIFY changed FINAL) // a model is loaded and idle
    Q_PROPERTY(bool measured READ isMeasured NOTIFY figuresChanged FINAL)
    Q_PROPERTY(QString stage READ stage NOTIFY changed FINAL)
    Q_PROPERTY(double fraction READ fraction NOTIFY changed FINAL)
    Q_PROPERTY(QList<firesteel::app::BenchmarkRow> rows READ rows NOTIFY figuresChanged FINAL)
    Q_PROPERTY(
        QString subject READ subject NOTIFY figuresChanged FINAL) // what was measured, and when
    Q_PROPERTY(QString note READ note NOTIFY figuresChanged FINAL) // whether the columns compare
    Q_PROPERTY(QString problem READ problem NOTIFY changed FINAL)

public:
    // The engine controller outlives this.
    explicit BenchmarkController(EngineController &engine, QObject *parent = nullptr);
    ~BenchmarkController() override;

    Q_INVOKABLE void start(); // where a model is ready
    Q_INVOKABLE void stop();
    Q_INVOKABLE void copyResult() const; // resultText() to the clipboard

    bool isRunning() const { return m_generation != nullptr; }
    bool isAvailable() const;
    bool isMeasured() const { return !m_own.empty(); }
    QString stage() const;
    double fraction() const;
    QList<BenchmarkRow> rows() const;
    QString subject() const { return m_subject; }
    QString note() const;
    QString problem() const { return m_problem; }
    QString resultText() const; // everything as plain text

Q_SIGNALS:
    void changed();
    void figuresChanged(); // a figure more, or none any more

private:
    void runNext();
    void onUpdate(const GenerationUpdate &update);
    void keep(const BenchmarkTask &task, const engine::Finished &finished);
    void end(const QString &problem);

    EngineController &m_engine;
    std::vector<BenchmarkTask> m_tasks;
    std::size_t m_at = 0;
    int m_tokens = 0; // of the running task
    std::map<QString, double> m_own; // by id of the figure
    std::vector<double> m_firstTokens; // seconds, of the short prompts
    QString m_subject;
    bool m_isComparable = false;
    QString m_problem;
    std::unique_ptr<Generation> m_generation;
};

} // namespace firesteel::app
