// SPDX-License-Identifier: MIT
#include "app/single_instance.h"

#include <QCryptographicHash>
#include <QDeadlineTimer>
#include <QDir>
#include <QLocalSocket>
#include <QLoggingCategory>
#include <QThread>
#include <QTimer>

#include <algorithm>
#include <utility>

namespace firesteel::app {

namespace {

using namespace Qt::Literals::StringLiterals;

Q_LOGGING_CATEGORY(logInstance, "firesteel.ui", QtInfoMsg)

// "raise TOKEN\n" is answered by "raised\n".
const QByteArray kRequest = "raise "_ba;
const QByteArray kAnswer = "raised\n"_ba;
constexpr qint64 kMostBytes = 512;
constexpr int kPatienceMilliseconds = 2000; // with a client that says nothing

bool isToken(const QByteArray &token)
{
    return std::ranges::all_of(token, [](char c) { return c > ' ' && c < 127; });
}

bool askToRaise(const QString &socket, const QByteArray &token, QDeadlineTimer deadline)
{
    const auto left = [&deadline] { return static_cast<int>(deadline.remainingTime()); };
    QLocalSocket connection;
    // The first process may have its claim but not yet its socket.
    while (true) {
        connection.connectToServer(socket);
        if (connection.waitForConnected(left()))
            break;
        if (deadline.hasExpired())
            return false;
        QThread::msleep(20);
    }
    connection.write(kRequest + (isToken(token) ? token : QByteArray()) + '\n');
    while (!connection.canReadLine() && !deadline.hasExpired()) {
        if (!connection.waitForReadyRead(left()))
            break;
    }
    return connection.readLine(kMostBytes) == kAnswer;
}

} // namespace

SingleInstance::SingleInstance(QString socket, QObject *parent)
    : QObject(parent)
    , m_socket(std::move(socket))
{
    m_server.setSocketOptions(QLocalServer::UserAccessOption);
    connect(&m_server, &QLocalServer::newConnection, this, &SingleInstance::answer);
}

SingleInstance::~SingleInstance() = default;

QString SingleInstance::socketFor(const QString &runtimeFolder, const QString &dataFolder)
{
    const QByteArray digest = QCryptographicHash::hash(QDir(dataFolder).absolutePath().toUtf8(),
                                                       QCryptographicHash::Sha256);
    return runtimeFolder + "/firesteel-"_L1 + QString::fromLatin1(digest.toHex().first(12));
}

SingleInstance::Claim SingleInstance::claim(const QByteArray &activationToken, int milliseconds)
{
    const auto claimed = m_lock.acquire(m_socket + ".lock"_L1);
    if (!claimed && claimed.error().code == StoreErrorCode::InUse) {
        return askToRaise(m_socket, activationToken, QDeadlineTimer(milliseconds))
            ? Claim::Raised
            : Claim::Unanswered;
    }
    // Without a place for the lock nobody can be asked: the store still guards the chats.
    if (!claimed)
        qCWarning(logInstance).noquote() << claimed.error().message;
    QLocalServer::removeServer(m_socket); // of a process that crashed; it has no claim any more
    if (!m_server.listen(m_socket))
        qCWarning(logInstance).noquote() << m_socket << m_server.errorString();
    return Claim::First;
}

void SingleInstance::answer()
{
    while (QLocalSocket *connection = m_server.nextPendingConnection()) {
        connect(connection, &QLocalSocket::disconnected, connection, &QObject::deleteLater);
        QTimer::singleShot(kPatienceMilliseconds, connection, &QLocalSocket::abort);
        const auto read = [this, connection] {
            if (!connection->canReadLine()) {
                if (connection->bytesAvailable() > kMostBytes)
                    connection->abort();
                return;
            }
            const QByteArray line = connection->readLine(kMostBytes).trimmed();
            const QByteArray wanted = kRequest.trimmed();
            if (line == wanted || line.startsWith(kRequest)) {
                connection->write(kAnswer);
                Q_EMIT raiseRequested(line.mid(kRequest.size()));
            }
            connection->disconnectFromServer();
        };
        connect(connection, &QLocalSocket::readyRead, this, read);
        read();
    }
}

} // namespace firesteel::app
