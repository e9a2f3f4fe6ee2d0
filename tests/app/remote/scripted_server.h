// SPDX-License-Identifier: MIT
//
// An HTTP server of the test's own on a real socket, which can do what no proper server would: it
// writes the bytes it is told, in the pieces it is told, and then closes or stays silent.
#pragma once

#include <QByteArray>
#include <QList>
#include <QTcpServer>
#include <QTcpSocket>
#include <QUrl>

#include <functional>

namespace firesteel::test {

struct ScriptedRequest
{
    QByteArray line; // "POST /v1/chat/completions HTTP/1.1"
    QByteArray head; // in lower case
    QByteArray body;
};

struct ScriptedAnswer
{
    QList<QByteArray> pieces; // written one after another
    bool closes = true; // after the last; else the connection stays open, silent
};

class ScriptedServer : public QTcpServer
{
    Q_OBJECT

public:
    ScriptedServer();

    QUrl base() const;
    int openConnections() const { return m_open; }

    std::function<ScriptedAnswer(const ScriptedRequest &)> answer;
    QList<ScriptedRequest> requests;

private:
    void serve(QTcpSocket *socket);
    static void write(QTcpSocket *socket, const ScriptedAnswer &answer, qsizetype piece);

    int m_open = 0;
};

// A whole answer with this status and body.
ScriptedAnswer statusAnswer(const QByteArray &status, const QByteArray &body,
                            const QByteArray &headers = {});
// A stream of these events' data, without a length.
ScriptedAnswer streamAnswer(const QList<QByteArray> &events, bool closes = true);

} // namespace firesteel::test
