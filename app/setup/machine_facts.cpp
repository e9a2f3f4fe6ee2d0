// SPDX-License-Identifier: MIT
#include "app/setup/machine_facts.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QRegularExpression>
#include <QStorageInfo>

namespace firesteel::app {

namespace {

using namespace Qt::Literals::StringLiterals;

QString textOf(const QString &path)
{
    QFile file(path); // of /proc: its size says nothing
    return file.open(QIODevice::ReadOnly) ? QString::fromUtf8(file.readAll()) : QString();
}

QString firstMatch(const QString &text, const QString &pattern)
{
    const QRegularExpression expression(pattern, QRegularExpression::MultilineOption);
    return expression.match(text).captured(1).trimmed();
}

std::optional<qint64> kibibytes(const QString &meminfo, const QString &field)
{
    bool isNumber = false;
    const qint64 value
        = firstMatch(meminfo, u"^%1:\\s+(\\d+) kB$"_s.arg(field)).toLongLong(&isNumber);
    return isNumber ? std::optional(value * 1024) : std::nullopt;
}

// The driver's own files: they are there whatever libraries are installed.
void readDriver(const QString &driver, MachineFacts &facts)
{
    facts.driverVersion = firstMatch(textOf(driver + u"/version"_s),
                                     u"^NVRM version:.*?\\s(\\d+\\.\\d+(?:\\.\\d+)?)\\s"_s);
    const QDir gpus(driver + u"/gpus"_s);
    for (const QString &gpu : gpus.entryList(QDir::Dirs | QDir::NoDotAndDotDot, QDir::Name)) {
        facts.gpuName
            = firstMatch(textOf(gpus.filePath(gpu) + u"/information"_s), u"^Model:\\s*(\\S.*)$"_s);
        if (!facts.gpuName.isEmpty())
            return;
    }
}

} // namespace

MachineFacts readMachineFacts(const QString &procFolder, const QString &modelsFolder)
{
    MachineFacts facts;
    readDriver(procFolder + u"/driver/nvidia"_s, facts);
    const QString meminfo = textOf(procFolder + u"/meminfo"_s);
    facts.memoryTotal = kibibytes(meminfo, u"MemTotal"_s);
    facts.memoryAvailable = kibibytes(meminfo, u"MemAvailable"_s);
    QString folder = QDir::cleanPath(modelsFolder);
    while (!QFileInfo::exists(folder) && folder != QFileInfo(folder).path())
        folder = QFileInfo(folder).path();
    const QStorageInfo disk(folder);
    if (disk.isValid() && disk.isReady()) {
        facts.diskFree = disk.bytesAvailable();
        facts.diskRoot = disk.rootPath();
    }
    return facts;
}

} // namespace firesteel::app
