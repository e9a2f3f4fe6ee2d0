// SPDX-License-Identifier: MIT
//
// Writes a reply to the store while it is made: what has come is handed over twice a second, the
// whole when it ends. At most that half second of a reply is lost when the program is killed. Owned
// by the conversation that is being answered.
#pragma once

#include "app/inference/generation.h"
#include "app/store/conversation_store.h"

#include <QTimer>

#include <optional>

namespace firesteel::app {

class ReplyRecorder
{
public:
    // `begun`: the reply as the store knows it, without text. A recorder that is destroyed before
    // the end leaves what it has as an interrupted reply.
    ReplyRecorder(ConversationStore &store, MessageRecord begun);
    ~ReplyRecorder();
    ReplyRecorder(const ReplyRecorder &) = delete;
    ReplyRecorder &operator=(const ReplyRecorder &) = delete;

    void add(const GenerationUpdate::Piece &piece);
    // The reply as it is stored then.
    MessageRecord finish(const engine::Finished &finished, double thinkingSeconds);
    MessageRecord fail(const engine::Error &error, double thinkingSeconds);

    RecordId id() const { return m_reply.id; }

private:
    void checkpoint();
    MessageRecord end(ReplyEnd end);

    ConversationStore &m_store;
    MessageRecord m_reply; // with everything that came
    std::optional<ReplyPart> m_part; // not handed over yet
    int m_parts = 0;
    bool m_hasEnded = false;
    QTimer m_timer;
};

} // namespace firesteel::app
