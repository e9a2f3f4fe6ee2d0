// SPDX-License-Identifier: MIT
#include "app/remote/remote_generation.h"

#include "app/remote/remote_client.h"

#include <QCoreApplication>

#include <algorithm>
#include <utility>

namespace firesteel::app {

namespace {

using namespace Qt::Literals::StringLiterals;

constexpr int kFrameMilliseconds = 16;
constexpr qint64 kReadBuffer = 1 << 20; // what may wait here while the window is busy
constexpr qint64 kLargestRefusal = 64 << 10; // bytes that are read of an error's body

struct Words
{
    Q_DECLARE_TR_FUNCTIONS(RemoteEngine)
};

int statusOf(const QNetworkReply &reply)
{
    return reply.attribute(QNetworkRequest::HttpStatusCodeAttribute).toInt();
}

engine::Error badAnswer(const QString &words)
{
    return { engine::ErrorCode::BadRequest, words.toStdString() };
}

double secondsOf(qint64 nanoseconds) { return static_cast<double>(nanoseconds) * 1e-9; }

} // namespace

RemoteGeneration::RemoteGeneration(QNetworkReply *reply, std::chrono::milliseconds silence)
    : m_reply(reply)
    , m_silence(silence)
{
    m_clock.start();
    m_frame.setSingleShot(true);
    connect(&m_frame, &QTimer::timeout, this, &RemoteGeneration::deliver);
    m_reply->setReadBufferSize(kReadBuffer);
    connect(m_reply, &QNetworkReply::readyRead, this, &RemoteGeneration::onReadyRead);
    connect(m_reply, &QNetworkReply::finished, this, &RemoteGeneration::onReplyFinished);
}

RemoteGeneration::~RemoteGeneration()
{
    m_reply->disconnect(this);
    m_reply->abort();
    m_reply->deleteLater();
}

void RemoteGeneration::cancel()
{
    if (m_hasEnded)
        return;
    m_update.finished = engine::Finished { engine::FinishReason::Cancelled, usage(), {}, {} };
    end();
}

void RemoteGeneration::onReadyRead()
{
    if (m_hasEnded)
        return;
    const QString where = m_reply->url().authority();
    if (statusOf(*m_reply) != 200) {
        if (m_reply->bytesAvailable() >= kLargestRefusal)
            onReplyFinished(); // it need not be heard out
        return;
    }
    const QByteArray type = m_reply->header(QNetworkRequest::ContentTypeHeader).toByteArray();
    if (!type.startsWith("text/event-stream")) {
        fail(badAnswer(Words::tr("%1 answered with %2 where a stream of events was asked for.")
                           .arg(where,
                                type.isEmpty() ? Words::tr("data of no stated kind")
                                               : QString::fromLatin1(type.left(80)))));
        return;
    }
    // What comes together comes at one time: how long its reading takes here says nothing.
    m_readNanoseconds = m_clock.nsecsElapsed();
    for (const QByteArray &event : m_events.add(m_reply->readAll())) {
        add(event);
        if (m_hasEnded)
            return;
    }
    if (m_events.isTooLong())
        fail(badAnswer(Words::tr("%1 sent an event of more than %2 MiB.")
                           .arg(where)
                           .arg(ServerSentEvents::kLongestEvent >> 20)));
}

void RemoteGeneration::add(const QByteArray &event)
{
    auto delta = m_stream.read(event);
    if (!delta) {
        fail({ delta.error().code,
               Words::tr("%1 reports an error in the middle of its answer: %2")
                   .arg(m_reply->url().authority(), QString::fromStdString(delta.error().message))
                   .toStdString() });
        return;
    }
    addPiece(std::move(delta->thinking), true);
    addPiece(std::move(delta->text), false);
    if (m_stream.isDone())
        finish();
}

void RemoteGeneration::addPiece(std::string text, bool isThinking)
{
    if (text.empty())
        return;
    m_lastNanoseconds = m_readNanoseconds;
    if (m_pieces++ == 0)
        m_firstNanoseconds = m_lastNanoseconds;
    if (isThinking)
        ++m_thinkingPieces;
    else
        m_hasText = true;
    auto &pieces = m_update.pieces;
    if (!pieces.empty() && pieces.back().isThinking == isThinking) {
        pieces.back().text += text;
        ++pieces.back().tokens;
    } else {
        pieces.push_back({ isThinking, std::move(text), 1, {} });
    }
    if (!m_frame.isActive())
        m_frame.start(kFrameMilliseconds);
}

void RemoteGeneration::onReplyFinished()
{
    if (m_hasEnded)
        return;
    const int status = statusOf(*m_reply);
    if (status == 0) {
        fail(networkError(*m_reply, m_silence));
        return;
    }
    if (status != 200) {
        fail(statusError(m_reply->url(), status, m_reply->read(kLargestRefusal)));
        return;
    }
    if (m_reply->isOpen())
        onReadyRead(); // the rest
    if (m_hasEnded)
        return;
    if (m_stream.isComplete())
        finish(); // some close without the last event
    else if (m_reply->error() != QNetworkReply::NoError)
        fail(networkError(*m_reply, m_silence));
    else
        fail(badAnswer(Words::tr("%1 closed the connection before the answer was complete.")
                           .arg(m_reply->url().authority())));
}

// What the server does not count is counted in pieces.
engine::Usage RemoteGeneration::usage() const
{
    engine::Usage usage = m_stream.usage().value_or(engine::Usage {});
    if (usage.completionTokens == 0)
        usage.completionTokens = m_pieces;
    if (usage.reasoningTokens == 0)
        usage.reasoningTokens = std::min(m_thinkingPieces, usage.completionTokens);
    return usage;
}

void RemoteGeneration::finish()
{
    const std::vector<engine::ToolCall> &calls = m_stream.toolCalls();
    if (!calls.empty() && !m_hasText) {
        fail(badAnswer(Words::tr("The model called the tool \"%1\" instead of answering. This chat "
                                 "offers it none.")
                           .arg(QString::fromStdString(calls.front().name))));
        return;
    }
    engine::Timings timings;
    timings.timeToFirstTokenSeconds = secondsOf(m_firstNanoseconds);
    timings.decodeSeconds = secondsOf(m_lastNanoseconds - m_firstNanoseconds);
    m_update.finished = engine::Finished { m_stream.finishReason(), usage(), timings, {} };
    end();
}

void RemoteGeneration::fail(const engine::Error &error)
{
    m_update.failed = error;
    end();
}

// The update comes from the event loop: its receiver may destroy this, and the reply is still
// speaking.
void RemoteGeneration::end()
{
    m_hasEnded = true;
    m_frame.start(0);
    m_reply->disconnect(this);
    m_reply->abort();
}

void RemoteGeneration::deliver()
{
    const GenerationUpdate update = std::exchange(m_update, {});
    Q_EMIT updated(update); // may destroy this
}

} // namespace firesteel::app
