// SPDX-License-Identifier: MIT
//
// The parts of a message that are kept as JSON, in columns of the database and in exported files.
// Readers are tolerant: a value of the wrong type is left out, the rest of the message stays.
#pragma once

#include "app/store/records.h"

#include <QByteArray>
#include <QJsonArray>
#include <QJsonObject>

#include <optional>
#include <span>
#include <vector>

namespace firesteel::app {

QJsonObject statisticsJson(const ReplyStatistics &statistics);
ReplyStatistics statisticsFrom(const QJsonObject &json);

QJsonObject errorJson(const engine::Error &error);
engine::Error errorFrom(const QJsonObject &json);

QJsonArray toolCallsJson(std::span<const engine::ToolCall> calls);
std::vector<engine::ToolCall> toolCallsFrom(const QJsonArray &json);

// int32, little endian. Bytes that are no whole ids give none.
QByteArray tokenBytes(std::span<const std::int32_t> tokens);
std::optional<std::vector<std::int32_t>> tokensFrom(const QByteArray &bytes);

} // namespace firesteel::app
