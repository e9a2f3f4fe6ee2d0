// SPDX-License-Identifier: MIT
#include "app/log_file.h"

#include <QDateTime>
#include <QDir>
#include <QMutexLocker>

#include <utility>

namespace firesteel::app {

namespace {

using namespace Qt::Literals::StringLiterals;

LogFile *current = nullptr; // changed only while no other thread logs: at start and end

QLatin1StringView nameOf(QtMsgType type)
{
    switch (type) {
    case QtDebugMsg:
        return "debug"_L1;
    case QtInfoMsg:
        return "info"_L1;
    case QtWarningMsg:
        return "warning"_L1;
    case QtCriticalMsg:
        return "error"_L1;
    case QtFatalMsg:
        break;
    }
    return "fatal"_L1;
}

} // namespace

LogFile::LogFile(QString folder)
    : m_folder(std::move(folder))
{
    const auto owner = QFileDevice::ReadOwner | QFileDevice::WriteOwner;
    if (QDir().mkpath(m_folder))
        QFile::setPermissions(m_folder, owner | QFileDevice::ExeOwner);
    m_file.setFileName(fileName(0));
    if (m_file.open(QIODevice::WriteOnly | QIODevice::Append))
        m_file.setPermissions(owner);
    current = this;
    m_previous = qInstallMessageHandler(&LogFile::handle);
}

LogFile::~LogFile()
{
    qInstallMessageHandler(m_previous);
    current = nullptr;
}

QString LogFile::fileName(int index) const
{
    return index == 0 ? m_folder + "/firesteel.log"_L1
                      : m_folder + u"/firesteel.%1.log"_s.arg(index);
}

void LogFile::handle(QtMsgType type, const QMessageLogContext &context, const QString &message)
{
    LogFile *file = current;
    if (file == nullptr)
        return;
    file->write(type, context, message);
    file->m_previous(type, context, message);
}

void LogFile::write(QtMsgType type, const QMessageLogContext &context, const QString &message)
{
    const QMutexLocker lock(&m_mutex);
    if (!m_file.isOpen())
        return;
    const QString category = QString::fromUtf8(context.category);
    QString text = message;
    text.replace(u'\n', "\n    "_L1); // a line that begins at the margin begins an entry
    const QString time = QDateTime::currentDateTimeUtc().toString(Qt::ISODateWithMs);
    m_file.write(u"%1 %2 %3: %4\n"_s.arg(time, nameOf(type), category, text).toUtf8());
    m_file.flush(); // the last line before a crash is the one that is wanted
    if (m_file.size() > kMostBytes)
        rotate();
}

void LogFile::rotate()
{
    m_file.close();
    QFile::remove(fileName(kFiles - 1));
    for (int i = kFiles - 1; i > 0; --i)
        QFile::rename(fileName(i - 1), fileName(i));
    if (m_file.open(QIODevice::WriteOnly | QIODevice::Append))
        m_file.setPermissions(QFileDevice::ReadOwner | QFileDevice::WriteOwner);
}

} // namespace firesteel::app
