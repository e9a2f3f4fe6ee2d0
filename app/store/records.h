// SPDX-License-Identifier: MIT
//
// Conversations and messages as they are stored: plain data between the window, the database thread
// and the exchange format.
#pragma once

#include "app/store/record_id.h"
#include "engine/api/event.h"
#include "engine/api/request.h"

#include <QJsonObject>
#include <QString>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace firesteel::app {

// How a reply ended. The names in the database and in exported files are those of replyEndName().
enum class ReplyEnd {
    UnderWay,
    Stop,
    StopString,
    ToolCalls,
    Length,
    Repetition, // stopped because it said the same again and again
    Cancelled, // by the user
    Failed, // MessageRecord::error says why
    Interrupted, // the program ended before the reply did
};

std::string_view replyEndName(ReplyEnd end); // "" while under way
std::optional<ReplyEnd> replyEndNamed(std::string_view name);
ReplyEnd replyEndOf(engine::FinishReason reason);
engine::FinishReason finishReasonOf(ReplyEnd end); // Cancelled where the engine has no word

std::string_view roleName(engine::Role role);
std::optional<engine::Role> roleNamed(std::string_view name);

std::optional<engine::ErrorCode> errorCodeNamed(std::string_view name);

struct ReplyStatistics
{
    engine::Usage usage;
    engine::Timings timings;
    double thinkingSeconds = 0;
};

struct MessageRecord
{
    RecordId id = 0;
    RecordId conversation = 0;
    std::optional<RecordId> parent; // none: the first message
    engine::Role role = engine::Role::User;
    std::int64_t created = 0; // milliseconds since 1970, UTC
    std::string text; // UTF-8
    std::string thinking;
    std::optional<std::vector<std::int32_t>> tokens; // as the model read or wrote them
    std::string vocabulary; // that they belong to, see engine::ModelInfo; empty: not known
    std::vector<engine::ToolCall> toolCalls;
    std::string toolCallId; // role Tool
    ReplyEnd end = ReplyEnd::UnderWay; // role Assistant
    std::optional<ReplyStatistics> statistics;
    std::optional<engine::Error> error;
    QString model; // that wrote it
};

struct ConversationSummary
{
    RecordId id = 0;
    QString title;
    std::int64_t created = 0; // milliseconds since 1970, UTC
    std::int64_t updated = 0;
};

struct ConversationRecord
{
    ConversationSummary summary;
    std::optional<RecordId> currentMessage; // leaf of the branch on show
    QJsonObject settings; // of this conversation only
};

// A conversation with messages of it: one branch from the first message on, or all of them.
struct StoredConversation
{
    ConversationRecord record;
    std::vector<MessageRecord> messages;
    // With a branch: every message that has alternatives, and those in the order they were made,
    // itself among them.
    std::map<RecordId, std::vector<RecordId>> alternatives = {};
};

std::int64_t currentMilliseconds();

} // namespace firesteel::app
