// SPDX-License-Identifier: MIT
//
// Asks other machines' engines over HTTP, on the GUI thread. The rules of trust are here: a key
// goes only to the address it was given for, no redirect is followed, an error of the encryption is
// an error, and neither keys nor text appear in a log. Connections are direct: other engines stand
// in one's own network, and looking a proxy up would hold the window. Application owns it.
#pragma once

#include "app/inference/generation.h"
#include "app/remote/remote_protocol.h"

#include <QByteArray>
#include <QJsonObject>
#include <QNetworkAccessManager>
#include <QNetworkReply>
#include <QNetworkRequest>
#include <QObject>
#include <QPointer>

#include <chrono>
#include <memory>

namespace firesteel::app {

// Why a reply without a usable HTTP status ended: a sentence with where.
engine::Error networkError(const QNetworkReply &reply, std::chrono::milliseconds silence);

// One GET. Ends with exactly one finished(), unless it is destroyed before: that aborts it.
class RemoteGet : public QObject
{
    Q_OBJECT

public:
    static constexpr qint64 kLargestAnswer = 4 << 20; // bytes; more is an error

    RemoteGet(QNetworkReply *reply, std::chrono::milliseconds silence);
    ~RemoteGet() override;

    bool hasFinished() const { return m_hasEnded; }
    // The body of a success, once it has finished.
    const engine::Result<QByteArray> &answer() const { return m_answer; }

Q_SIGNALS:
    void finished(); // the receiver may destroy this later, not at once

private:
    void onFinished();
    void end(engine::Result<QByteArray> answer);

    QNetworkReply *m_reply;
    std::chrono::milliseconds m_silence;
    engine::Result<QByteArray> m_answer;
    bool m_hasEnded = false;
};

class RemoteClient : public QObject
{
    Q_OBJECT

public:
    struct Setup
    {
        // Nothing arrives for so long: given up. A long prompt is read in silence.
        std::chrono::milliseconds answerSilence { 300'000 };
        std::chrono::milliseconds inquirySilence { 10'000 }; // of models and metrics
    };

    explicit RemoteClient(Setup setup, QObject *parent = nullptr);

    // Sends a chat request (see chatBody()). Failures arrive as an update like any other. The
    // generation must be destroyed before the client. An empty key: none is sent.
    std::unique_ptr<Generation> generate(const QUrl &base, const QByteArray &key,
                                         const QJsonObject &body);
    std::unique_ptr<RemoteGet> get(const QUrl &url, const QByteArray &key);

private:
    static QNetworkRequest request(const QUrl &url, const QByteArray &key,
                                   std::chrono::milliseconds silence);

    Setup m_setup;
    QNetworkAccessManager m_network;
};

} // namespace firesteel::app
