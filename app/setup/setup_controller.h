// SPDX-License-Identifier: MIT
//
// The first run, step by step: check of the machine, where models live, licences, download, load,
// benchmark. Where it stands is in the settings, so that every step can be left and resumed; what a
// step shows beyond that belongs to ModelsController, EngineController and BenchmarkController.
#pragma once

#include "app/setup/machine_check.h"

#include <QObject>
#include <QString>
#include <QtQml/qqmlregistration.h>

#include <optional>

namespace firesteel::app {

class AppSettings;
class ModelsController;
struct ModelStatus;

class SetupController : public QObject
{
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("Application owns the first run")
    Q_PROPERTY(Step step READ step NOTIFY stepChanged FINAL)
    Q_PROPERTY(bool wanted READ isWanted NOTIFY stateChanged FINAL) // at this start: never seen
    Q_PROPERTY(bool finished READ isFinished NOTIFY stateChanged FINAL)
    Q_PROPERTY(bool checking READ isChecking NOTIFY checked FINAL)
    Q_PROPERTY(QList<firesteel::app::MachineCheck> checks READ checks NOTIFY checked FINAL)
    Q_PROPERTY(bool capable READ isCapable NOTIFY checked FINAL) // of running GLM-5.3-Flash
    Q_PROPERTY(QString verdict READ verdict NOTIFY checked FINAL)
    Q_PROPERTY(int targetRow READ targetRow NOTIFY modelChanged FINAL) // in the list of models
    Q_PROPERTY(bool accepted READ isAccepted NOTIFY modelChanged FINAL) // the target's licence
    Q_PROPERTY(bool downloaded READ isDownloaded NOTIFY modelChanged FINAL)
    Q_PROPERTY(bool inUse READ isInUse NOTIFY modelChanged FINAL)

public:
    enum class Step { Check, Folder, Licences, Download, Load, Benchmark };
    Q_ENUM(Step)

    // Settings and models outlive this. `procFolder` is /proc except in tests.
    SetupController(AppSettings &settings, ModelsController &models, QString procFolder,
                    QObject *parent = nullptr);

    Q_INVOKABLE void check(); // the machine, again; answers by checked()
    Q_INVOKABLE void next(); // after the last step: finished
    Q_INVOKABLE void back();
    Q_INVOKABLE void show(firesteel::app::SetupController::Step step);
    Q_INVOKABLE void leave(); // to go on another time
    Q_INVOKABLE void finish();
    Q_INVOKABLE void load(); // the downloaded model

    Step step() const;
    bool isWanted() const;
    bool isFinished() const;
    bool isChecking() const { return m_isChecking; }
    QList<MachineCheck> checks() const { return m_checks; }
    bool isCapable() const { return canRunTarget(m_checks); }
    QString verdict() const;
    int targetRow() const;
    bool isAccepted() const;
    bool isDownloaded() const;
    bool isInUse() const;

Q_SIGNALS:
    void stepChanged();
    void stateChanged();
    void checked();
    void modelChanged();

private:
    void judge(); // m_facts beside what is needed now
    const ModelStatus *target() const; // nullptr: not listed yet
    qint64 neededDisk() const;

    AppSettings &m_settings;
    ModelsController &m_models;
    QString m_procFolder;
    std::optional<MachineFacts> m_facts;
    QList<MachineCheck> m_checks;
    bool m_isChecking = false;
    bool m_isOutdated = false; // asked for while a check was running
};

} // namespace firesteel::app
