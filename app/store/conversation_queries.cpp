// SPDX-License-Identifier: MIT
#include "app/store/conversation_queries.h"

#include "app/store/record_json.h"
#include "app/store/search_text.h"
#include "app/store/sql.h"

#include <QJsonDocument>

#include <utility>

namespace firesteel::app {

namespace {

using namespace Qt::Literals::StringLiterals;

// More messages on one branch than a person can make; ends a circle in a file that was tampered
// with.
constexpr int kLongestBranch = 1'000'000;

const QString &messageColumns()
{
    static const QString columns
        = u"m.id, m.conversation, m.parent, m.role, m.created, m.text, m.thinking, m.tokens,"
          " m.tool_calls, m.tool_call_id, m.finish, m.statistics, m.error, m.model,"
          " m.vocabulary"_s;
    return columns;
}

StoreResult<void> run(const QSqlDatabase &database, const QString &statement,
                      const QVariantList &values)
{
    return execute(database, statement, values).transform([](const QSqlQuery &) { });
}

QVariant idOrNull(std::optional<RecordId> id)
{
    return id ? QVariant::fromValue<qlonglong>(*id) : QVariant(QMetaType::fromType<qlonglong>());
}

QString utf16(const std::string &utf8) { return QString::fromStdString(utf8); }

QVariant textOrNull(const QString &text)
{
    return text.isEmpty() ? QVariant(QMetaType::fromType<QString>()) : QVariant(text);
}

template <typename Json> QString compact(const Json &json)
{
    return QString::fromUtf8(QJsonDocument(json).toJson(QJsonDocument::Compact));
}

std::optional<RecordId> optionalId(const QVariant &value)
{
    return value.isNull() ? std::nullopt : std::optional<RecordId>(value.toLongLong());
}

QJsonDocument jsonOf(const QVariant &value)
{
    return QJsonDocument::fromJson(value.toString().toUtf8());
}

// The columns that a reply gets when it is finished, in the order of kReplyColumns.
QVariantList replyValues(const MessageRecord &message)
{
    return {
        message.text.empty() ? u""_s : utf16(message.text),
        message.thinking.empty() ? u""_s : utf16(message.thinking),
        message.tokens ? QVariant(tokenBytes(*message.tokens))
                       : QVariant(QMetaType::fromType<QByteArray>()),
        message.toolCalls.empty() ? QVariant(QMetaType::fromType<QString>())
                                  : QVariant(compact(toolCallsJson(message.toolCalls))),
        textOrNull(QString::fromUtf8(replyEndName(message.end))),
        message.statistics ? QVariant(compact(statisticsJson(*message.statistics)))
                           : QVariant(QMetaType::fromType<QString>()),
        message.error ? QVariant(compact(errorJson(*message.error)))
                      : QVariant(QMetaType::fromType<QString>()),
        textOrNull(message.model),
        textOrNull(utf16(message.vocabulary)),
    };
}

MessageRecord messageFrom(const QSqlQuery &row)
{
    enum Column {
        Id,
        Conversation,
        Parent,
        Role,
        Created,
        Text,
        Thinking,
        Tokens,
        ToolCalls,
        ToolCallId,
        Finish,
        Statistics,
        Error,
        Model,
        Vocabulary,
    };
    MessageRecord message;
    message.id = row.value(Id).toLongLong();
    message.conversation = row.value(Conversation).toLongLong();
    message.parent = optionalId(row.value(Parent));
    message.role = roleNamed(row.value(Role).toString().toStdString()).value_or(engine::Role::User);
    message.created = row.value(Created).toLongLong();
    message.text = row.value(Text).toString().toStdString();
    message.thinking = row.value(Thinking).toString().toStdString();
    if (!row.isNull(Tokens))
        message.tokens = tokensFrom(row.value(Tokens).toByteArray());
    message.toolCalls = toolCallsFrom(jsonOf(row.value(ToolCalls)).array());
    message.toolCallId = row.value(ToolCallId).toString().toStdString();
    message.end
        = replyEndNamed(row.value(Finish).toString().toStdString()).value_or(ReplyEnd::Interrupted);
    if (!row.isNull(Statistics))
        message.statistics = statisticsFrom(jsonOf(row.value(Statistics)).object());
    if (!row.isNull(Error))
        message.error = errorFrom(jsonOf(row.value(Error)).object());
    message.model = row.value(Model).toString();
    message.vocabulary = row.value(Vocabulary).toString().toStdString();
    return message;
}

StoreResult<void> indexMessage(const QSqlDatabase &database, RecordId id, const std::string &text)
{
    const QString words = indexedText(utf16(text));
    if (words.isEmpty())
        return {};
    return run(database, u"INSERT OR REPLACE INTO message_index (rowid, text) VALUES (?, ?)"_s,
               { QVariant::fromValue<qlonglong>(id), words });
}

StoreResult<void> indexTitle(const QSqlDatabase &database, RecordId id, const QString &title)
{
    return run(database, u"INSERT OR REPLACE INTO title_index (rowid, title) VALUES (?, ?)"_s,
               { QVariant::fromValue<qlonglong>(id), indexedText(title) });
}

StoreResult<void> insertRow(const QSqlDatabase &database, const MessageRecord &message)
{
    QVariantList values { QVariant::fromValue<qlonglong>(message.id),
                          QVariant::fromValue<qlonglong>(message.conversation),
                          idOrNull(message.parent),
                          QString::fromUtf8(roleName(message.role)),
                          QVariant::fromValue<qlonglong>(message.created),
                          textOrNull(utf16(message.toolCallId)) };
    values += replyValues(message);
    return run(database,
               u"INSERT INTO messages (id, conversation, parent, role, created, tool_call_id, text,"
               " thinking, tokens, tool_calls, finish, statistics, error, model, vocabulary)"
               " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"_s,
               values);
}

StoreResult<void> show(const QSqlDatabase &database, const MessageRecord &message)
{
    return run(database,
               u"UPDATE conversations SET current_message = ?, updated = max(updated, ?)"
               " WHERE id = ?"_s,
               { QVariant::fromValue<qlonglong>(message.id),
                 QVariant::fromValue<qlonglong>(message.created),
                 QVariant::fromValue<qlonglong>(message.conversation) });
}

StoreResult<ConversationRecord> loadRecord(const QSqlDatabase &database, RecordId id)
{
    auto query = execute(database,
                         u"SELECT title, created, updated, current_message, settings"
                         " FROM conversations WHERE id = ?"_s,
                         { QVariant::fromValue<qlonglong>(id) });
    if (!query)
        return std::unexpected(query.error());
    ConversationRecord record;
    bool isFound = false;
    auto read = forEachRow(*query, [&](const QSqlQuery &row) {
        isFound = true;
        record.summary
            = { id, row.value(0).toString(), row.value(1).toLongLong(), row.value(2).toLongLong() };
        record.currentMessage = optionalId(row.value(3));
        record.settings = jsonOf(row.value(4)).object();
        return false;
    });
    if (!read)
        return std::unexpected(read.error());
    if (!isFound)
        return storeFailure(StoreErrorCode::NotFound, u"There is no such conversation."_s);
    return record;
}

StoreResult<std::vector<MessageRecord>> loadMessages(const QSqlDatabase &database,
                                                     const QString &statement, RecordId id)
{
    auto query = execute(database, statement, { QVariant::fromValue<qlonglong>(id) });
    if (!query)
        return std::unexpected(query.error());
    std::vector<MessageRecord> messages;
    auto read = forEachRow(*query, [&messages](const QSqlQuery &row) {
        messages.push_back(messageFrom(row));
        return true;
    });
    if (!read)
        return std::unexpected(read.error());
    return messages;
}

// The newest leaf below a message: an answer made last is the one a person saw last.
StoreResult<RecordId> leafBelow(const QSqlDatabase &database, RecordId message)
{
    for (int depth = 0; depth < kLongestBranch; ++depth) {
        const auto child = singleValue(database, u"SELECT max(id) FROM messages WHERE parent = ?"_s,
                                       { QVariant::fromValue<qlonglong>(message) });
        if (!child)
            return std::unexpected(child.error());
        if (child->isNull())
            break;
        message = child->toLongLong();
    }
    return message;
}

StoreResult<std::optional<RecordId>> leafToShow(const QSqlDatabase &database,
                                                const ConversationRecord &record,
                                                std::optional<RecordId> through)
{
    if (through) {
        const auto owner
            = singleValue(database, u"SELECT conversation FROM messages WHERE id = ?"_s,
                          { QVariant::fromValue<qlonglong>(*through) });
        if (owner && owner->toLongLong() == record.summary.id)
            return leafBelow(database, *through).transform([](RecordId leaf) {
                return std::optional(leaf);
            });
    }
    if (record.currentMessage)
        return record.currentMessage;
    return singleValue(database, u"SELECT max(id) FROM messages WHERE conversation = ?"_s,
                       { QVariant::fromValue<qlonglong>(record.summary.id) })
        .transform(optionalId);
}

// Of the messages of a branch. Reads no text: parents stand in front of it in their rows.
StoreResult<std::map<RecordId, std::vector<RecordId>>>
loadAlternatives(const QSqlDatabase &database, RecordId conversation,
                 const std::vector<MessageRecord> &branch)
{
    auto query
        = execute(database, u"SELECT id, parent FROM messages WHERE conversation = ? ORDER BY id"_s,
                  { QVariant::fromValue<qlonglong>(conversation) });
    if (!query)
        return std::unexpected(query.error());
    std::map<std::optional<RecordId>, std::vector<RecordId>> children;
    auto read = forEachRow(*query, [&children](const QSqlQuery &row) {
        children[optionalId(row.value(1))].push_back(row.value(0).toLongLong());
        return true;
    });
    if (!read)
        return std::unexpected(read.error());
    std::map<RecordId, std::vector<RecordId>> alternatives;
    for (const MessageRecord &message : branch) {
        std::vector<RecordId> &siblings = children[message.parent];
        if (siblings.size() > 1)
            alternatives.emplace(message.id, std::move(siblings));
    }
    return alternatives;
}

} // namespace

StoreResult<std::vector<ConversationSummary>> listConversations(const QSqlDatabase &database)
{
    auto query = execute(database,
                         u"SELECT id, title, created, updated FROM conversations"
                         " WHERE deleted IS NULL ORDER BY updated DESC, id DESC"_s);
    if (!query)
        return std::unexpected(query.error());
    std::vector<ConversationSummary> all;
    auto read = forEachRow(*query, [&all](const QSqlQuery &row) {
        all.push_back({ row.value(0).toLongLong(), row.value(1).toString(),
                        row.value(2).toLongLong(), row.value(3).toLongLong() });
        return true;
    });
    if (!read)
        return std::unexpected(read.error());
    return all;
}

StoreResult<StoredConversation> loadBranch(const QSqlDatabase &database, RecordId conversation,
                                           std::optional<RecordId> through)
{
    auto record = loadRecord(database, conversation);
    if (!record)
        return std::unexpected(record.error());
    const auto leaf = leafToShow(database, *record, through);
    if (!leaf)
        return std::unexpected(leaf.error());
    record->currentMessage = *leaf;
    if (!*leaf)
        return StoredConversation { *std::move(record), {}, {} };
    auto messages = loadMessages(
        database,
        u"WITH RECURSIVE branch (id, parent, depth) AS ("
        " SELECT id, parent, 0 FROM messages WHERE id = ?"
        " UNION ALL SELECT m.id, m.parent, depth + 1 FROM messages m"
        " JOIN branch ON m.id = branch.parent LIMIT %1)"
        " SELECT %2 FROM branch JOIN messages m ON m.id = branch.id ORDER BY depth DESC"_s.arg(
            QString::number(kLongestBranch), messageColumns()),
        **leaf);
    if (!messages)
        return std::unexpected(messages.error());
    auto alternatives = loadAlternatives(database, conversation, *messages);
    if (!alternatives)
        return std::unexpected(alternatives.error());
    return StoredConversation { *std::move(record), *std::move(messages),
                                *std::move(alternatives) };
}

StoreResult<StoredConversation> loadWhole(const QSqlDatabase &database, RecordId conversation)
{
    auto record = loadRecord(database, conversation);
    if (!record)
        return std::unexpected(record.error());
    auto messages = loadMessages(
        database,
        u"SELECT %1 FROM messages m WHERE m.conversation = ? ORDER BY m.id"_s.arg(messageColumns()),
        conversation);
    if (!messages)
        return std::unexpected(messages.error());
    return StoredConversation { *std::move(record), *std::move(messages), {} };
}

StoreResult<bool> messageExists(const QSqlDatabase &database, RecordId message)
{
    return singleValue(database, u"SELECT EXISTS (SELECT 1 FROM messages WHERE id = ?)"_s,
                       { QVariant::fromValue<qlonglong>(message) })
        .transform([](const QVariant &value) { return value.toBool(); });
}

StoreResult<void> insertConversation(const QSqlDatabase &database,
                                     const ConversationRecord &conversation)
{
    const ConversationSummary &summary = conversation.summary;
    auto done = run(database,
                    u"INSERT INTO conversations (id, title, created, updated, current_message,"
                    " settings) VALUES (?, ?, ?, ?, ?, ?)"_s,
                    { QVariant::fromValue<qlonglong>(summary.id),
                      summary.title.isNull() ? u""_s : summary.title,
                      QVariant::fromValue<qlonglong>(summary.created),
                      QVariant::fromValue<qlonglong>(summary.updated),
                      idOrNull(conversation.currentMessage), compact(conversation.settings) });
    if (!done)
        return done;
    return indexTitle(database, summary.id, summary.title);
}

StoreResult<void> updateTitle(const QSqlDatabase &database, RecordId conversation,
                              const QString &title)
{
    auto done = run(database, u"UPDATE conversations SET title = ? WHERE id = ?"_s,
                    { title, QVariant::fromValue<qlonglong>(conversation) });
    if (!done)
        return done;
    return indexTitle(database, conversation, title);
}

StoreResult<void> updateSettings(const QSqlDatabase &database, RecordId conversation,
                                 const QJsonObject &settings)
{
    return run(database, u"UPDATE conversations SET settings = ? WHERE id = ?"_s,
               { compact(settings), QVariant::fromValue<qlonglong>(conversation) });
}

StoreResult<void> setShown(const QSqlDatabase &database, const ConversationRecord &conversation)
{
    return run(database,
               u"UPDATE conversations SET current_message = ?, updated = ? WHERE id = ?"_s,
               { idOrNull(conversation.currentMessage),
                 QVariant::fromValue<qlonglong>(conversation.summary.updated),
                 QVariant::fromValue<qlonglong>(conversation.summary.id) });
}

StoreResult<void> updateCurrentMessage(const QSqlDatabase &database, RecordId conversation,
                                       RecordId leaf)
{
    return run(
        database, u"UPDATE conversations SET current_message = ? WHERE id = ?"_s,
        { QVariant::fromValue<qlonglong>(leaf), QVariant::fromValue<qlonglong>(conversation) });
}

StoreResult<void> setDeleted(const QSqlDatabase &database, RecordId conversation, bool isDeleted)
{
    return run(database, u"UPDATE conversations SET deleted = ? WHERE id = ?"_s,
               { isDeleted ? QVariant::fromValue<qlonglong>(currentMilliseconds())
                           : QVariant(QMetaType::fromType<qlonglong>()),
                 QVariant::fromValue<qlonglong>(conversation) });
}

StoreResult<void> purgeDeleted(const QSqlDatabase &database)
{
    return executeAll(database, { u"DELETE FROM conversations WHERE deleted IS NOT NULL"_s });
}

StoreResult<void> purgeDeleted(const QSqlDatabase &database, RecordId conversation)
{
    return run(database, u"DELETE FROM conversations WHERE deleted IS NOT NULL AND id = ?"_s,
               { QVariant::fromValue<qlonglong>(conversation) });
}

StoreResult<void> insertMessage(const QSqlDatabase &database, const MessageRecord &message)
{
    if (auto inserted = insertRow(database, message); !inserted)
        return inserted;
    if (auto indexed = indexMessage(database, message.id, message.text); !indexed)
        return indexed;
    return show(database, message);
}

StoreResult<void> updateTokens(const QSqlDatabase &database, RecordId message,
                               const std::vector<std::int32_t> &tokens,
                               const std::string &vocabulary)
{
    return run(database, u"UPDATE messages SET tokens = ?, vocabulary = ? WHERE id = ?"_s,
               { tokenBytes(tokens), textOrNull(utf16(vocabulary)),
                 QVariant::fromValue<qlonglong>(message) });
}

StoreResult<void> beginReply(const QSqlDatabase &database, const MessageRecord &reply)
{
    if (auto inserted = insertRow(database, reply); !inserted)
        return inserted;
    // A row without text marks the reply as under way until it is finished or recovered.
    if (auto begun = appendReplyPart(database, { reply.id, 0, {}, {}, {} }); !begun)
        return begun;
    return show(database, reply);
}

StoreResult<void> appendReplyPart(const QSqlDatabase &database, const ReplyPart &part)
{
    // The conversation may have been deleted for good meanwhile.
    return run(database,
               u"INSERT INTO reply_parts (message, part, text, thinking, tokens)"
               " SELECT id, ?, ?, ?, ? FROM messages WHERE id = ?"_s,
               { part.number, part.text.empty() ? u""_s : utf16(part.text),
                 part.thinking.empty() ? u""_s : utf16(part.thinking), tokenBytes(part.tokens),
                 QVariant::fromValue<qlonglong>(part.message) });
}

StoreResult<void> finishReply(const QSqlDatabase &database, const MessageRecord &reply)
{
    QVariantList values = replyValues(reply);
    values << QVariant::fromValue<qlonglong>(reply.id);
    const auto updated
        = execute(database,
                  u"UPDATE messages SET text = ?, thinking = ?, tokens = ?, tool_calls = ?,"
                  " finish = ?, statistics = ?, error = ?, model = ?, vocabulary = ?"
                  " WHERE id = ?"_s,
                  values);
    if (!updated)
        return std::unexpected(updated.error());
    if (updated->numRowsAffected() == 0)
        return {}; // deleted for good meanwhile
    auto done = run(database, u"DELETE FROM reply_parts WHERE message = ?"_s,
                    { QVariant::fromValue<qlonglong>(reply.id) });
    if (!done)
        return done;
    return indexMessage(database, reply.id, reply.text);
}

StoreResult<int> recoverReplies(const QSqlDatabase &database)
{
    auto unfinished = loadMessages(
        database,
        u"SELECT %1 FROM messages m WHERE m.id > ? AND m.id IN (SELECT message FROM reply_parts)"_s
            .arg(messageColumns()),
        0);
    if (!unfinished)
        return std::unexpected(unfinished.error());
    for (MessageRecord &reply : *unfinished) {
        auto parts = execute(database,
                             u"SELECT text, thinking, tokens FROM reply_parts WHERE message = ?"
                             " ORDER BY part"_s,
                             { QVariant::fromValue<qlonglong>(reply.id) });
        if (!parts)
            return std::unexpected(parts.error());
        std::vector<std::int32_t> tokens;
        auto joined = forEachRow(*parts, [&](const QSqlQuery &row) {
            reply.text += row.value(0).toString().toStdString();
            reply.thinking += row.value(1).toString().toStdString();
            if (const auto ids = tokensFrom(row.value(2).toByteArray()))
                tokens.insert(tokens.end(), ids->begin(), ids->end());
            return true;
        });
        if (!joined)
            return std::unexpected(joined.error());
        if (!tokens.empty())
            reply.tokens = std::move(tokens);
        reply.end = ReplyEnd::Interrupted;
        if (auto done = finishReply(database, reply); !done)
            return std::unexpected(done.error());
    }
    return static_cast<int>(unfinished->size());
}

StoreResult<void> rebuildIndexes(const QSqlDatabase &database)
{
    auto cleared
        = executeAll(database, { u"DELETE FROM message_index"_s, u"DELETE FROM title_index"_s });
    if (!cleared)
        return cleared;
    auto titles = execute(database, u"SELECT id, title FROM conversations"_s);
    if (!titles)
        return std::unexpected(titles.error());
    StoreResult<void> done;
    auto read = forEachRow(*titles, [&](const QSqlQuery &row) {
        done = indexTitle(database, row.value(0).toLongLong(), row.value(1).toString());
        return done.has_value();
    });
    if (!read || !done)
        return read ? done : read;
    auto messages = execute(database, u"SELECT id, text FROM messages"_s);
    if (!messages)
        return std::unexpected(messages.error());
    read = forEachRow(*messages, [&](const QSqlQuery &row) {
        done = indexMessage(database, row.value(0).toLongLong(),
                            row.value(1).toString().toStdString());
        return done.has_value();
    });
    return read ? done : read;
}

} // namespace firesteel::app
