// SPDX-License-Identifier: MIT
#include "tests/app/remote/scripted_server.h"

#include <QHostAddress>

#include <memory>

namespace firesteel::test {

ScriptedServer::ScriptedServer()
{
    connect(this, &QTcpServer::newConnection, this, [this] {
        while (QTcpSocket *socket = nextPendingConnection())
            serve(socket);
    });
    listen(QHostAddress::LocalHost);
}

QUrl ScriptedServer::base() const
{
    return QUrl(QStringLiteral("http://127.0.0.1:%1").arg(serverPort()));
}

void ScriptedServer::serve(QTcpSocket *socket)
{
    ++m_open;
    auto received = std::make_shared<QByteArray>();
    connect(socket, &QTcpSocket::disconnected, this, [this, socket] {
        --m_open;
        socket->deleteLater();
    });
    connect(socket, &QTcpSocket::readyRead, this, [this, socket, received] {
        *received += socket->readAll();
        const qsizetype end = received->indexOf("\r\n\r\n");
        if (end < 0)
            return;
        ScriptedRequest request;
        request.line = received->first(received->indexOf("\r\n"));
        request.head = received->first(end).toLower() + "\r\n";
        request.body = received->sliced(end + 4);
        qsizetype length = 0;
        if (const qsizetype at = request.head.indexOf("content-length:"); at >= 0) {
            const QByteArray rest = request.head.sliced(at + 15);
            length = rest.first(rest.indexOf("\r\n")).trimmed().toLongLong();
        }
        if (request.body.size() < length)
            return;
        received->clear();
        requests << request;
        write(socket, answer(request), 0);
    });
}

void ScriptedServer::write(QTcpSocket *socket, const ScriptedAnswer &answer, qsizetype piece)
{
    if (piece == answer.pieces.size()) {
        if (answer.closes)
            socket->disconnectFromHost();
        return;
    }
    socket->write(answer.pieces[piece]);
    socket->flush();
    QMetaObject::invokeMethod(
        socket, [socket, answer, piece] { write(socket, answer, piece + 1); },
        Qt::QueuedConnection);
}

ScriptedAnswer statusAnswer(const QByteArray &status, const QByteArray &body,
                            const QByteArray &headers)
{
    return { { "HTTP/1.1 " + status + "\r\nContent-Type: application/json\r\nContent-Length: "
               + QByteArray::number(body.size()) + "\r\n" + headers + "\r\n" + body } };
}

ScriptedAnswer streamAnswer(const QList<QByteArray> &events, bool closes)
{
    ScriptedAnswer answer { { "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8"
                              "\r\nConnection: close\r\n\r\n" },
                            closes };
    for (const QByteArray &event : events)
        answer.pieces << "data: " + event + "\n\n";
    return answer;
}

} // namespace firesteel::test
