// SPDX-License-Identifier: MIT
//
// What the page "About" and the help menu show and do: the version, the folders, what others wrote,
// a report of the machine for whoever is to find a problem. Owned by Application.
#pragma once

#include "app/about/third_party.h"
#include "app/inference/engine_controller.h"
#include "app/monitor/performance_monitor.h"

#include <QObject>
#include <QString>
#include <QtQml/qqmlregistration.h>

namespace firesteel::app {

class About : public QObject
{
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("Application owns it")
    Q_PROPERTY(QString version READ version CONSTANT FINAL)
    Q_PROPERTY(QString dataFolder READ dataFolder CONSTANT FINAL)
    Q_PROPERTY(QString logsFolder READ logsFolder CONSTANT FINAL)
    Q_PROPERTY(QList<firesteel::app::ThirdParty> thirdParties READ thirdParties CONSTANT FINAL)

public:
    About(const EngineController &engine, const PerformanceMonitor &monitor, QString dataFolder,
          QObject *parent = nullptr);

    QString version() const;
    QString dataFolder() const { return m_dataFolder; }
    QString logsFolder() const;
    QList<ThirdParty> thirdParties() const { return m_thirdParties; }

    Q_INVOKABLE QString licenseText(int index) const; // of a third party; empty: no such one
    // Versions and machine; nothing a person wrote, no names, no paths.
    Q_INVOKABLE QString problemReport() const;
    Q_INVOKABLE void copyProblemReport() const;
    Q_INVOKABLE void openLogs() const;
    Q_INVOKABLE void openData() const;

private:
    const EngineController &m_engine;
    const PerformanceMonitor &m_monitor;
    QString m_dataFolder;
    QList<ThirdParty> m_thirdParties;
};

} // namespace firesteel::app
