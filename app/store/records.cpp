// SPDX-License-Identifier: MIT
#include "app/store/records.h"

#include <QDateTime>

#include <array>
#include <utility>

namespace firesteel::app {

namespace {

template <typename Value, std::size_t N>
using Names = std::array<std::pair<Value, std::string_view>, N>;

constexpr Names<ReplyEnd, 9> kEnds { {
    { ReplyEnd::UnderWay, "" },
    { ReplyEnd::Stop, "stop" },
    { ReplyEnd::StopString, "stop_string" },
    { ReplyEnd::ToolCalls, "tool_calls" },
    { ReplyEnd::Length, "length" },
    { ReplyEnd::Cancelled, "cancelled" },
    { ReplyEnd::Repetition, "repetition" },
    { ReplyEnd::Failed, "failed" },
    { ReplyEnd::Interrupted, "interrupted" },
} };

constexpr Names<engine::Role, 4> kRoles { {
    { engine::Role::System, "system" },
    { engine::Role::User, "user" },
    { engine::Role::Assistant, "assistant" },
    { engine::Role::Tool, "tool" },
} };

template <typename Value, std::size_t N>
std::string_view nameIn(const Names<Value, N> &names, Value value)
{
    for (const auto &[known, name] : names) {
        if (known == value)
            return name;
    }
    return {};
}

template <typename Value, std::size_t N>
std::optional<Value> valueIn(const Names<Value, N> &names, std::string_view name)
{
    for (const auto &[value, known] : names) {
        if (known == name)
            return value;
    }
    return std::nullopt;
}

} // namespace

std::string_view replyEndName(ReplyEnd end) { return nameIn(kEnds, end); }
std::optional<ReplyEnd> replyEndNamed(std::string_view name) { return valueIn(kEnds, name); }
std::string_view roleName(engine::Role role) { return nameIn(kRoles, role); }
std::optional<engine::Role> roleNamed(std::string_view name) { return valueIn(kRoles, name); }

ReplyEnd replyEndOf(engine::FinishReason reason)
{
    switch (reason) {
    case engine::FinishReason::Stop:
        return ReplyEnd::Stop;
    case engine::FinishReason::StopString:
        return ReplyEnd::StopString;
    case engine::FinishReason::ToolCalls:
        return ReplyEnd::ToolCalls;
    case engine::FinishReason::Length:
        return ReplyEnd::Length;
    case engine::FinishReason::Repetition:
        return ReplyEnd::Repetition;
    case engine::FinishReason::Cancelled:
        break;
    }
    return ReplyEnd::Cancelled;
}

engine::FinishReason finishReasonOf(ReplyEnd end)
{
    switch (end) {
    case ReplyEnd::Stop:
        return engine::FinishReason::Stop;
    case ReplyEnd::StopString:
        return engine::FinishReason::StopString;
    case ReplyEnd::ToolCalls:
        return engine::FinishReason::ToolCalls;
    case ReplyEnd::Length:
        return engine::FinishReason::Length;
    case ReplyEnd::Repetition:
        return engine::FinishReason::Repetition;
    case ReplyEnd::UnderWay:
    case ReplyEnd::Cancelled:
    case ReplyEnd::Failed:
    case ReplyEnd::Interrupted:
        break;
    }
    return engine::FinishReason::Cancelled;
}

std::optional<engine::ErrorCode> errorCodeNamed(std::string_view name)
{
    for (int code = 0; code <= static_cast<int>(engine::ErrorCode::Internal); ++code) {
        if (engine::errorCodeName(static_cast<engine::ErrorCode>(code)) == name)
            return static_cast<engine::ErrorCode>(code);
    }
    return std::nullopt;
}

std::int64_t currentMilliseconds() { return QDateTime::currentMSecsSinceEpoch(); }

} // namespace firesteel::app
