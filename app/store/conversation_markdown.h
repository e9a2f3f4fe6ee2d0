// SPDX-License-Identifier: MIT
//
// A conversation as a Markdown document for people: what was said on the branch on show, without
// reasoning. Nothing reads it back; conversation_json.h is for that. Used by the exchange of files.
#pragma once

#include "app/store/records.h"

#include <QString>

namespace firesteel::app {

// Ends with one line break.
QString conversationMarkdown(const StoredConversation &branch);

} // namespace firesteel::app
