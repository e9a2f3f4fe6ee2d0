// SPDX-License-Identifier: MIT
#include "app/store/conversation_json.h"

#include "app/store/record_json.h"

#include <QCoreApplication>
#include <QHash>
#include <QJsonArray>

#include <algorithm>

namespace firesteel::app {

namespace {

using namespace Qt::Literals::StringLiterals;

// As text: JSON numbers lose the last digits of 63 bits in many programs.
QJsonValue idJson(std::optional<RecordId> id)
{
    return id ? QJsonValue(QString::number(*id)) : QJsonValue();
}

std::optional<RecordId> idFrom(const QJsonValue &json)
{
    bool isNumber = false;
    const RecordId id = json.toString().toLongLong(&isNumber);
    return isNumber && id > 0 ? std::optional(id) : std::nullopt;
}

QString text(const std::string &utf8) { return QString::fromStdString(utf8); }

QJsonArray tokensJson(const std::vector<std::int32_t> &tokens)
{
    QJsonArray json;
    for (const std::int32_t token : tokens)
        json.append(token);
    return json;
}

std::optional<std::vector<std::int32_t>> tokensFrom(const QJsonValue &json)
{
    if (!json.isArray())
        return std::nullopt;
    std::vector<std::int32_t> tokens;
    for (const auto &value : json.toArray()) {
        const int token = value.toInt(-1);
        if (token < 0)
            return std::nullopt; // ids with a hole would be another text
        tokens.push_back(token);
    }
    return tokens;
}

QJsonObject messageJson(const MessageRecord &message)
{
    QJsonObject json {
        { u"id"_s, idJson(message.id) },
        { u"parent"_s, idJson(message.parent) },
        { u"role"_s, QString::fromUtf8(roleName(message.role)) },
        { u"created"_s, static_cast<qint64>(message.created) },
        { u"text"_s, text(message.text) },
    };
    if (!message.thinking.empty())
        json[u"thinking"_s] = text(message.thinking);
    if (message.tokens)
        json[u"tokens"_s] = tokensJson(*message.tokens);
    if (!message.vocabulary.empty())
        json[u"vocabulary"_s] = text(message.vocabulary);
    if (!message.toolCalls.empty())
        json[u"toolCalls"_s] = toolCallsJson(message.toolCalls);
    if (!message.toolCallId.empty())
        json[u"toolCallId"_s] = text(message.toolCallId);
    if (message.end != ReplyEnd::UnderWay)
        json[u"finish"_s] = QString::fromUtf8(replyEndName(message.end));
    if (message.statistics)
        json[u"statistics"_s] = statisticsJson(*message.statistics);
    if (message.error)
        json[u"error"_s] = errorJson(*message.error);
    if (!message.model.isEmpty())
        json[u"model"_s] = message.model;
    return json;
}

MessageRecord messageFrom(const QJsonObject &json, RecordId conversation)
{
    MessageRecord message;
    message.id = idFrom(json["id"_L1]).value_or(0);
    message.conversation = conversation;
    message.parent = idFrom(json["parent"_L1]);
    message.role = roleNamed(json["role"_L1].toString().toStdString()).value_or(engine::Role::User);
    message.created = json["created"_L1].toInteger();
    message.text = json["text"_L1].toString().toStdString();
    message.thinking = json["thinking"_L1].toString().toStdString();
    message.tokens = tokensFrom(json["tokens"_L1]);
    message.vocabulary = json["vocabulary"_L1].toString().toStdString();
    message.toolCalls = toolCallsFrom(json["toolCalls"_L1].toArray());
    message.toolCallId = json["toolCallId"_L1].toString().toStdString();
    message.end
        = replyEndNamed(json["finish"_L1].toString().toStdString()).value_or(ReplyEnd::UnderWay);
    // Nobody writes on at a reply that was under way when the file was made.
    if (message.role == engine::Role::Assistant && message.end == ReplyEnd::UnderWay)
        message.end = ReplyEnd::Interrupted;
    if (json["statistics"_L1].isObject())
        message.statistics = statisticsFrom(json["statistics"_L1].toObject());
    if (json["error"_L1].isObject())
        message.error = errorFrom(json["error"_L1].toObject());
    message.model = json["model"_L1].toString();
    return message;
}

void mendIds(StoredConversation &conversation)
{
    QHash<RecordId, qsizetype> known;
    for (MessageRecord &message : conversation.messages) {
        if (message.id == 0 || known.contains(message.id))
            message.id = newRecordId();
        known.insert(message.id, known.size());
    }
    for (MessageRecord &message : conversation.messages) {
        // A parent comes earlier in the file: that also rules out circles.
        if (message.parent && known.value(*message.parent, known.size()) >= known.value(message.id))
            message.parent.reset();
    }
    auto &current = conversation.record.currentMessage;
    if (current && !known.contains(*current))
        current.reset();
}

} // namespace

QJsonObject conversationJson(const StoredConversation &conversation)
{
    const ConversationSummary &summary = conversation.record.summary;
    QJsonArray messages;
    for (const MessageRecord &message : conversation.messages)
        messages.append(messageJson(message));
    return {
        { u"id"_s, idJson(summary.id) },
        { u"title"_s, summary.title },
        { u"created"_s, static_cast<qint64>(summary.created) },
        { u"updated"_s, static_cast<qint64>(summary.updated) },
        { u"currentMessage"_s, idJson(conversation.record.currentMessage) },
        { u"settings"_s, conversation.record.settings },
        { u"messages"_s, messages },
    };
}

std::expected<StoredConversation, QString> conversationFrom(const QJsonObject &json)
{
    if (!json["messages"_L1].isArray())
        return std::unexpected(
            QCoreApplication::translate("Store", "a conversation lacks the array \"messages\""));
    StoredConversation conversation;
    ConversationSummary &summary = conversation.record.summary;
    summary.id = idFrom(json["id"_L1]).value_or(newRecordId());
    summary.title = json["title"_L1].toString();
    summary.created = json["created"_L1].toInteger();
    summary.updated = json["updated"_L1].toInteger(summary.created);
    conversation.record.currentMessage = idFrom(json["currentMessage"_L1]);
    conversation.record.settings = json["settings"_L1].toObject();
    for (const auto &value : json["messages"_L1].toArray())
        conversation.messages.push_back(messageFrom(value.toObject(), summary.id));
    mendIds(conversation);
    return conversation;
}

} // namespace firesteel::app
