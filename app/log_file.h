// SPDX-License-Identifier: MIT
//
// Keeps what the program logs in files of the data folder, a few of them and none too large, beside
// what goes to the terminal. What is logged holds no text of chats, no prompts and no keys: that is
// the rule of those who log.
#pragma once

#include <QFile>
#include <QMutex>
#include <QString>

namespace firesteel::app {

class LogFile
{
public:
    static constexpr qint64 kMostBytes = 1 << 20; // of one file
    static constexpr int kFiles = 5; // firesteel.log is the newest, then firesteel.1.log ...

    // From now on everything that Qt's logging gets. One at a time; where the folder cannot be
    // written, nothing is kept.
    explicit LogFile(QString folder);
    ~LogFile();
    LogFile(const LogFile &) = delete;
    LogFile &operator=(const LogFile &) = delete;

private:
    static void handle(QtMsgType type, const QMessageLogContext &context, const QString &message);
    void write(QtMsgType type, const QMessageLogContext &context, const QString &message);
    void rotate();
    QString fileName(int index) const;

    QString m_folder;
    QMutex m_mutex; // messages come from every thread
    QFile m_file;
    QtMessageHandler m_previous = nullptr;
};

} // namespace firesteel::app
