// SPDX-License-Identifier: MIT
//
// An answer that another machine makes: reads the stream of one chat request and tells of it as of
// any generation. Times are measured here, network included. Tokens are those of the server's
// usage; until it comes, and where it does not, each piece of the stream counts as one. Made by
// RemoteClient.
#pragma once

#include "app/inference/generation.h"
#include "app/remote/chat_stream.h"
#include "app/remote/server_sent_events.h"

#include <QElapsedTimer>
#include <QNetworkReply>
#include <QTimer>

#include <chrono>

namespace firesteel::app {

class RemoteGeneration : public Generation
{
    Q_OBJECT

public:
    // Takes the reply over; `silence` is its transfer timeout.
    RemoteGeneration(QNetworkReply *reply, std::chrono::milliseconds silence);
    ~RemoteGeneration() override; // aborts the request

    void cancel() override;
    void answerNow() override { } // the protocol has no such thing

private:
    void onReadyRead();
    void onReplyFinished();
    void add(const QByteArray &event);
    void addPiece(std::string text, bool isThinking);
    void finish();
    void fail(const engine::Error &error);
    void end();
    void deliver();
    engine::Usage usage() const;

    QNetworkReply *m_reply;
    std::chrono::milliseconds m_silence;
    ServerSentEvents m_events;
    ChatStream m_stream;
    GenerationUpdate m_update; // not delivered yet
    int m_pieces = 0; // of the stream, by kind
    int m_thinkingPieces = 0;
    bool m_hasText = false;
    bool m_hasEnded = false; // the last update is delivered or about to be
    QElapsedTimer m_clock; // since the request
    qint64 m_readNanoseconds = 0; // when what is being read came
    qint64 m_firstNanoseconds = 0;
    qint64 m_lastNanoseconds = 0;
    QTimer m_frame;
};

} // namespace firesteel::app
