// SPDX-License-Identifier: MIT
//
// Full-text search over titles and messages of all conversations. Run on the database thread.
#pragma once

#include "app/store/records.h"
#include "app/store/store_error.h"

#include <QSqlDatabase>
#include <QString>

#include <optional>
#include <vector>

namespace firesteel::app {

// The newest match in one conversation.
struct SearchHit
{
    ConversationSummary conversation;
    std::optional<RecordId> message; // none: only the title matches
    QString titleHtml; // matches in <b>
    QString excerptHtml; // of the message; empty when only the title matches
};

// Conversations that match, those with the newest match first; at most `limit`.
StoreResult<std::vector<SearchHit>> searchConversations(const QSqlDatabase &database,
                                                        const QString &query, int limit);

} // namespace firesteel::app
