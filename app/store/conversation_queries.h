// SPDX-License-Identifier: MIT
//
// The SQL of conversations and messages, one function a statement or two. Run on the database
// thread, inside DatabaseThread::read, write or keep. Called by ConversationStore and the exchange
// of files.
#pragma once

#include "app/store/records.h"
#include "app/store/store_error.h"

#include <QSqlDatabase>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace firesteel::app {

// Conversations that are not deleted, the last used first.
StoreResult<std::vector<ConversationSummary>> listConversations(const QSqlDatabase &database);

// The branch that goes through `through` (without: the one on show) down to its newest leaf; the
// record's currentMessage is that leaf. NotFound.
StoreResult<StoredConversation> loadBranch(const QSqlDatabase &database, RecordId conversation,
                                           std::optional<RecordId> through);

// Every message, in the order they were made. NotFound.
StoreResult<StoredConversation> loadWhole(const QSqlDatabase &database, RecordId conversation);

StoreResult<bool> messageExists(const QSqlDatabase &database, RecordId message);

StoreResult<void> insertConversation(const QSqlDatabase &database,
                                     const ConversationRecord &conversation);
StoreResult<void> updateTitle(const QSqlDatabase &database, RecordId conversation,
                              const QString &title);
StoreResult<void> updateSettings(const QSqlDatabase &database, RecordId conversation,
                                 const QJsonObject &settings);

// The branch that a conversation shows when it is opened again.
StoreResult<void> updateCurrentMessage(const QSqlDatabase &database, RecordId conversation,
                                       RecordId leaf);

// What an imported conversation shows, and when it was last used.
StoreResult<void> setShown(const QSqlDatabase &database, const ConversationRecord &conversation);

// Deleting is an update first, so that it can be undone; purging ends that.
StoreResult<void> setDeleted(const QSqlDatabase &database, RecordId conversation, bool isDeleted);
StoreResult<void> purgeDeleted(const QSqlDatabase &database);
StoreResult<void> purgeDeleted(const QSqlDatabase &database, RecordId conversation); // only this

// A message that is complete. The conversation shows its branch from then on.
StoreResult<void> insertMessage(const QSqlDatabase &database, const MessageRecord &message);

// A user's message has its tokens only when the model has read it.
StoreResult<void> updateTokens(const QSqlDatabase &database, RecordId message,
                               const std::vector<std::int32_t> &tokens,
                               const std::string &vocabulary);

// A reply under way: begun empty, then any number of parts, then finished as a whole.
struct ReplyPart
{
    RecordId message = 0;
    int number = 0; // from 1, counting up
    std::string text; // what came since the last part
    std::string thinking;
    std::vector<std::int32_t> tokens;
};
StoreResult<void> beginReply(const QSqlDatabase &database, const MessageRecord &reply);
StoreResult<void> appendReplyPart(const QSqlDatabase &database, const ReplyPart &part);
StoreResult<void> finishReply(const QSqlDatabase &database, const MessageRecord &reply);

// Makes both search indexes anew.
StoreResult<void> rebuildIndexes(const QSqlDatabase &database);

// Joins the parts of replies whose process ended before they did. Returns how many.
StoreResult<int> recoverReplies(const QSqlDatabase &database);

} // namespace firesteel::app
