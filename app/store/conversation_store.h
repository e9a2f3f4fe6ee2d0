// SPDX-License-Identifier: MIT
//
// The conversations of the user, kept in the database. Every call returns at once: changes are
// queued for the database thread in order, answers come as futures. Owned by Application; called by
// conversations and their list, on the GUI thread.
#pragma once

#include "app/store/conversation_queries.h"
#include "app/store/conversation_search.h"
#include "app/store/database_thread.h"
#include "app/store/records.h"

#include <QFuture>
#include <QObject>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace firesteel::app {

class ConversationStore : public QObject
{
    Q_OBJECT

public:
    // The database must outlive the store.
    explicit ConversationStore(DatabaseThread &database, QObject *parent = nullptr);

    DatabaseThread &database() { return m_database; }

    // First completes replies that a crash cut short and forgets what was deleted.
    QFuture<StoreResult<std::vector<ConversationSummary>>> open();
    QFuture<StoreResult<std::vector<ConversationSummary>>> list();
    QFuture<StoreResult<StoredConversation>> load(RecordId conversation,
                                                  std::optional<RecordId> through = {});

    // A later search makes an earlier one, if it still waits, end with no hits.
    QFuture<StoreResult<std::vector<SearchHit>>> search(const QString &query, int limit);

    // Changes. The futures end with the first try; while the disk is full the change itself is kept
    // and tried again (DatabaseThread::keep).
    using Done = QFuture<StoreResult<void>>;
    Done addConversation(const ConversationRecord &conversation);
    Done rename(RecordId conversation, const QString &title);
    Done setSettings(RecordId conversation, const QJsonObject &settings);
    Done remove(RecordId conversation); // until the next remove() or start it can be restored
    Done restore(RecordId conversation);
    Done addMessage(const MessageRecord &message);
    Done setTokens(RecordId message, std::vector<std::int32_t> tokens,
                   const std::string &vocabulary);
    Done showBranch(RecordId conversation, RecordId leaf);
    // What a user said (none: an alternative to an earlier reply) and the reply under way, in one
    // transaction: a question is never left without the place of its answer.
    Done beginTurn(const std::optional<MessageRecord> &question, const MessageRecord &reply);
    Done appendToReply(ReplyPart part);
    Done finishReply(const MessageRecord &reply);

private:
    DatabaseThread &m_database;
    std::shared_ptr<std::atomic<int>> m_search; // number of the newest
};

} // namespace firesteel::app
