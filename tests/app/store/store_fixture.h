// SPDX-License-Identifier: MIT
//
// What the store's suites share: waiting for its futures, and conversations to store.
#pragma once

#include "app/store/records.h"
#include "app/store/store_error.h"

#include <QFuture>
#include <QTest>

#include <utility>

namespace firesteel::test {

template <typename T> T waitFor(QFuture<T> future)
{
    if (!QTest::qWaitFor([&] { return future.isFinished(); }, 60'000))
        qFatal("the database thread does not answer");
    return future.takeResult();
}

// The value of a call that must succeed.
template <typename T> T valueOf(app::StoreResult<T> result)
{
    if (!result)
        qFatal("%s", qPrintable(result.error().message));
    if constexpr (!std::is_void_v<T>)
        return *std::move(result);
}

inline app::ConversationRecord newConversation(const QString &title)
{
    app::ConversationRecord record;
    record.summary.id = app::newRecordId();
    record.summary.title = title;
    record.summary.created = app::currentMilliseconds();
    record.summary.updated = record.summary.created;
    return record;
}

inline app::MessageRecord newMessage(const app::ConversationRecord &conversation,
                                     std::optional<app::RecordId> parent, std::string text,
                                     engine::Role role = engine::Role::User)
{
    app::MessageRecord message;
    message.id = app::newRecordId();
    message.conversation = conversation.summary.id;
    message.parent = parent;
    message.role = role;
    message.created = app::currentMilliseconds();
    message.text = std::move(text);
    if (role == engine::Role::Assistant)
        message.end = app::ReplyEnd::Stop;
    return message;
}

// Everything a reply can hold.
inline app::MessageRecord fullReply(const app::ConversationRecord &conversation,
                                    app::RecordId parent)
{
    app::MessageRecord reply = newMessage(
        conversation, parent, "Maps \xF0\x9F\x98\x80 \"a\\b\"\n\x01 東京", engine::Role::Assistant);
    reply.text += std::string("nul\0inside", 10);
    reply.thinking = "Let me think.";
    reply.tokens = { 1, 154'879, 0, 42 };
    reply.vocabulary = "00d1ce5";
    reply.toolCalls = { { "call_1", "weather", R"({"b":1.50,"a":[null,"x"]})" } };
    reply.end = app::ReplyEnd::Length;
    reply.statistics
        = app::ReplyStatistics { { 1000, 900, 4, 3 }, { 0.125, 1.5, 1.625, 0.1 }, 12.3 };
    reply.error = engine::Error { engine::ErrorCode::Internal, "lost it" };
    reply.model = QStringLiteral("GLM-5.3-Flash");
    return reply;
}

inline void compareMessages(const app::MessageRecord &actual, const app::MessageRecord &expected)
{
    QCOMPARE(actual.id, expected.id);
    QCOMPARE(actual.conversation, expected.conversation);
    QCOMPARE(actual.parent, expected.parent);
    QCOMPARE(actual.role, expected.role);
    QCOMPARE(actual.created, expected.created);
    QCOMPARE(actual.text, expected.text);
    QCOMPARE(actual.thinking, expected.thinking);
    QCOMPARE(actual.tokens, expected.tokens);
    QCOMPARE(actual.vocabulary, expected.vocabulary);
    QCOMPARE(actual.toolCalls.size(), expected.toolCalls.size());
    for (std::size_t i = 0; i < actual.toolCalls.size(); ++i) {
        QCOMPARE(actual.toolCalls[i].id, expected.toolCalls[i].id);
        QCOMPARE(actual.toolCalls[i].name, expected.toolCalls[i].name);
        QCOMPARE(actual.toolCalls[i].argumentsJson, expected.toolCalls[i].argumentsJson);
    }
    QCOMPARE(actual.toolCallId, expected.toolCallId);
    QCOMPARE(actual.end, expected.end);
    QCOMPARE(actual.model, expected.model);
    QCOMPARE(actual.error.has_value(), expected.error.has_value());
    if (expected.error) {
        QCOMPARE(actual.error->code, expected.error->code);
        QCOMPARE(actual.error->message, expected.error->message);
    }
    QCOMPARE(actual.statistics.has_value(), expected.statistics.has_value());
    if (expected.statistics) {
        QCOMPARE(actual.statistics->usage.promptTokens, expected.statistics->usage.promptTokens);
        QCOMPARE(actual.statistics->usage.cachedTokens, expected.statistics->usage.cachedTokens);
        QCOMPARE(actual.statistics->usage.completionTokens,
                 expected.statistics->usage.completionTokens);
        QCOMPARE(actual.statistics->usage.reasoningTokens,
                 expected.statistics->usage.reasoningTokens);
        // Exactly: doubles are written with as many digits as they need.
        QVERIFY(actual.statistics->timings.queueSeconds
                == expected.statistics->timings.queueSeconds);
        QVERIFY(actual.statistics->timings.prefillSeconds
                == expected.statistics->timings.prefillSeconds);
        QVERIFY(actual.statistics->timings.timeToFirstTokenSeconds
                == expected.statistics->timings.timeToFirstTokenSeconds);
        QVERIFY(actual.statistics->timings.decodeSeconds
                == expected.statistics->timings.decodeSeconds);
        QVERIFY(actual.statistics->thinkingSeconds == expected.statistics->thinkingSeconds);
    }
}

} // namespace firesteel::test
