// SPDX-License-Identifier: MIT
//
// Makes sure that one window of Firesteel works on a person's data: a second start asks the first
// one to come to the front, and ends. The kernel drops the claim when the process ends, however it
// ends; a socket left behind by a crash is replaced. Made by main(), before the Application.
#pragma once

#include "app/store/file_lock.h"

#include <QLocalServer>
#include <QObject>
#include <QString>

namespace firesteel::app {

class SingleInstance : public QObject
{
    Q_OBJECT

public:
    // First: this process is the one. Raised: another one is, and has come to the front.
    // Unanswered: another one is, but says nothing; it may hang.
    enum class Claim { First, Raised, Unanswered };

    // socket: a path in a folder that only this user can enter.
    explicit SingleInstance(QString socket, QObject *parent = nullptr);
    ~SingleInstance() override;

    // activationToken: the desktop's permission to raise a window, as it gave it to this start;
    // may be empty. Waits for the other process no longer than `milliseconds`.
    Claim claim(const QByteArray &activationToken, int milliseconds = 3000);

    // One for each folder of data, so that separate data means separate instances.
    static QString socketFor(const QString &runtimeFolder, const QString &dataFolder);

Q_SIGNALS:
    void raiseRequested(const QByteArray &activationToken);

private:
    void answer();

    QString m_socket;
    FileLock m_lock;
    QLocalServer m_server;
};

} // namespace firesteel::app
