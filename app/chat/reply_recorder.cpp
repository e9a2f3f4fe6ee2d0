// SPDX-License-Identifier: MIT
#include "app/chat/reply_recorder.h"

#include <utility>

namespace firesteel::app {

namespace {

// Half of the second that may be lost: the other half is for the commit.
constexpr int kCheckpointMilliseconds = 500;

} // namespace

ReplyRecorder::ReplyRecorder(ConversationStore &store, MessageRecord begun)
    : m_store(store)
    , m_reply(std::move(begun))
{
    m_timer.setSingleShot(true);
    m_timer.setInterval(kCheckpointMilliseconds);
    QObject::connect(&m_timer, &QTimer::timeout, &m_timer, [this] { checkpoint(); });
}

ReplyRecorder::~ReplyRecorder()
{
    if (!m_hasEnded)
        end(ReplyEnd::Interrupted);
}

void ReplyRecorder::add(const GenerationUpdate::Piece &piece)
{
    if (!m_part)
        m_part = ReplyPart { m_reply.id, ++m_parts, {}, {}, {} };
    (piece.isThinking ? m_part->thinking : m_part->text) += piece.text;
    (piece.isThinking ? m_reply.thinking : m_reply.text) += piece.text;
    m_part->tokens.insert(m_part->tokens.end(), piece.ids.begin(), piece.ids.end());
    if (!m_reply.tokens)
        m_reply.tokens.emplace();
    m_reply.tokens->insert(m_reply.tokens->end(), piece.ids.begin(), piece.ids.end());
    if (!m_timer.isActive())
        m_timer.start();
}

void ReplyRecorder::checkpoint()
{
    if (m_part)
        m_store.appendToReply(*std::exchange(m_part, std::nullopt));
}

MessageRecord ReplyRecorder::end(ReplyEnd end)
{
    m_timer.stop();
    m_hasEnded = true;
    m_reply.end = end;
    m_store.finishReply(m_reply);
    return m_reply;
}

MessageRecord ReplyRecorder::finish(const engine::Finished &finished, double thinkingSeconds)
{
    m_reply.statistics = ReplyStatistics { finished.usage, finished.timings, thinkingSeconds };
    m_reply.tokens = finished.tokens;
    return end(replyEndOf(finished.reason));
}

MessageRecord ReplyRecorder::fail(const engine::Error &error, double thinkingSeconds)
{
    m_reply.statistics = ReplyStatistics { {}, {}, thinkingSeconds };
    m_reply.error = error;
    return end(ReplyEnd::Failed);
}

} // namespace firesteel::app
