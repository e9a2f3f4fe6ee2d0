// SPDX-License-Identifier: MIT
#include "app/about/about.h"

#include <QClipboard>
#include <QCoreApplication>
#include <QDesktopServices>
#include <QGuiApplication>
#include <QSysInfo>
#include <QThread>
#include <QUrl>

#include <utility>

namespace firesteel::app {

namespace {

using namespace Qt::Literals::StringLiterals;

} // namespace

About::About(const EngineController &engine, const PerformanceMonitor &monitor, QString dataFolder,
             QObject *parent)
    : QObject(parent)
    , m_engine(engine)
    , m_monitor(monitor)
    , m_dataFolder(std::move(dataFolder))
    , m_thirdParties(readThirdParties())
{
}

QString About::version() const { return QCoreApplication::applicationVersion(); }

QString About::logsFolder() const { return m_dataFolder + "/logs"_L1; }

QString About::licenseText(int index) const
{
    return index >= 0 && index < m_thirdParties.size() ? m_thirdParties[index].licenseText()
                                                       : QString();
}

// Not translated: it is read by whoever works on the program.
QString About::problemReport() const
{
    const auto valueOf = [](const QString &text) { return text.isEmpty() ? u"unknown"_s : text; };
    QStringList lines {
        u"Firesteel %1, Qt %2"_s.arg(version(), QString::fromLatin1(qVersion())),
        u"System: %1, kernel %2, %3, %4 cores"_s.arg(
            QSysInfo::prettyProductName(), QSysInfo::kernelVersion(),
            QSysInfo::currentCpuArchitecture(), QString::number(QThread::idealThreadCount())),
        u"Window system: %1"_s.arg(QGuiApplication::platformName()),
        u"GPU: %1, driver %2"_s.arg(valueOf(m_monitor.gpuName()), valueOf(m_monitor.gpuDriver())),
        u"Memory: %1 GiB, %2 GiB free"_s.arg(
            QString::number(m_monitor.memory().total / (1 << 30), 'f', 1),
            QString::number(m_monitor.memory().free / (1 << 30), 'f', 1)),
        u"Model: %1 on %2, context %3"_s.arg(valueOf(m_engine.modelName()),
                                             valueOf(m_engine.backendText()),
                                             QString::number(m_engine.contextTokens())),
    };
    lines << m_monitor.warnings();
    return lines.join(u'\n');
}

void About::copyProblemReport() const { QGuiApplication::clipboard()->setText(problemReport()); }

void About::openLogs() const { QDesktopServices::openUrl(QUrl::fromLocalFile(logsFolder())); }

void About::openData() const { QDesktopServices::openUrl(QUrl::fromLocalFile(m_dataFolder)); }

} // namespace firesteel::app
