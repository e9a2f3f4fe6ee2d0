// SPDX-License-Identifier: MIT
//
// One conversation in the exchange format: a JSON object that holds everything the database does.
// docs/conversations.md describes the format.
#pragma once

#include "app/store/records.h"

#include <QJsonObject>
#include <QString>

#include <expected>

namespace firesteel::app {

constexpr int kExchangeVersion = 1;
constexpr auto kExchangeFormat = "firesteel.conversations";

QJsonObject conversationJson(const StoredConversation &conversation);

// Fields of a wrong type get their defaults; the rest of the conversation stays. A message without
// an id, or with one that another message has, gets a new one; a parent that does not exist is
// none. Unexpected: not a conversation at all; the text says why.
std::expected<StoredConversation, QString> conversationFrom(const QJsonObject &json);

} // namespace firesteel::app
