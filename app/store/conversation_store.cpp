// SPDX-License-Identifier: MIT
#include "app/store/conversation_store.h"

#include <QLoggingCategory>

#include <utility>

namespace firesteel::app {

namespace {

Q_LOGGING_CATEGORY(logStore, "firesteel.store", QtInfoMsg)

StoreResult<void> tidyUp(const QSqlDatabase &sql)
{
    const auto recovered = recoverReplies(sql);
    if (!recovered)
        return std::unexpected(recovered.error());
    if (*recovered > 0)
        qCInfo(logStore) << "replies cut short by the end of the program:" << *recovered;
    return purgeDeleted(sql);
}

} // namespace

ConversationStore::ConversationStore(DatabaseThread &database, QObject *parent)
    : QObject(parent)
    , m_database(database)
    , m_search(std::make_shared<std::atomic<int>>(0))
{
}

QFuture<StoreResult<std::vector<ConversationSummary>>> ConversationStore::open()
{
    m_database.keep(tidyUp);
    return list();
}

QFuture<StoreResult<std::vector<ConversationSummary>>> ConversationStore::list()
{
    return m_database.read(listConversations);
}

QFuture<StoreResult<StoredConversation>> ConversationStore::load(RecordId conversation,
                                                                 std::optional<RecordId> through)
{
    return m_database.read([conversation, through](const QSqlDatabase &sql) {
        return loadBranch(sql, conversation, through);
    });
}

QFuture<StoreResult<std::vector<SearchHit>>> ConversationStore::search(const QString &query,
                                                                       int limit)
{
    const int number = ++*m_search;
    return m_database.read([newest = m_search, number, query, limit](const QSqlDatabase &sql) {
        if (*newest != number)
            return StoreResult<std::vector<SearchHit>>();
        return searchConversations(sql, query, limit);
    });
}

ConversationStore::Done ConversationStore::addConversation(const ConversationRecord &conversation)
{
    return m_database.keep(
        [conversation](const QSqlDatabase &sql) { return insertConversation(sql, conversation); });
}

ConversationStore::Done ConversationStore::rename(RecordId conversation, const QString &title)
{
    return m_database.keep([conversation, title](const QSqlDatabase &sql) {
        return updateTitle(sql, conversation, title);
    });
}

ConversationStore::Done ConversationStore::setSettings(RecordId conversation,
                                                       const QJsonObject &settings)
{
    return m_database.keep([conversation, settings](const QSqlDatabase &sql) {
        return updateSettings(sql, conversation, settings);
    });
}

ConversationStore::Done ConversationStore::remove(RecordId conversation)
{
    return m_database.keep([conversation](const QSqlDatabase &sql) {
        // Only the last deletion can be undone.
        if (auto purged = purgeDeleted(sql); !purged)
            return purged;
        return setDeleted(sql, conversation, true);
    });
}

ConversationStore::Done ConversationStore::restore(RecordId conversation)
{
    return m_database.keep(
        [conversation](const QSqlDatabase &sql) { return setDeleted(sql, conversation, false); });
}

ConversationStore::Done ConversationStore::addMessage(const MessageRecord &message)
{
    return m_database.keep(
        [message](const QSqlDatabase &sql) { return insertMessage(sql, message); });
}

ConversationStore::Done ConversationStore::setTokens(RecordId message,
                                                     std::vector<std::int32_t> tokens,
                                                     const std::string &vocabulary)
{
    return m_database.keep(
        [message, tokens = std::move(tokens), vocabulary](const QSqlDatabase &sql) {
            return updateTokens(sql, message, tokens, vocabulary);
        });
}

ConversationStore::Done ConversationStore::showBranch(RecordId conversation, RecordId leaf)
{
    return m_database.keep([conversation, leaf](const QSqlDatabase &sql) {
        return updateCurrentMessage(sql, conversation, leaf);
    });
}

ConversationStore::Done ConversationStore::beginTurn(const std::optional<MessageRecord> &question,
                                                     const MessageRecord &reply)
{
    return m_database.keep([question, reply](const QSqlDatabase &sql) {
        if (question) {
            if (auto asked = insertMessage(sql, *question); !asked)
                return asked;
        }
        return beginReply(sql, reply);
    });
}

ConversationStore::Done ConversationStore::appendToReply(ReplyPart part)
{
    return m_database.keep(
        [part = std::move(part)](const QSqlDatabase &sql) { return appendReplyPart(sql, part); });
}

ConversationStore::Done ConversationStore::finishReply(const MessageRecord &reply)
{
    return m_database.keep(
        [reply](const QSqlDatabase &sql) { return app::finishReply(sql, reply); });
}

} // namespace firesteel::app
