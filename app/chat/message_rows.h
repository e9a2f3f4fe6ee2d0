// SPDX-License-Identifier: MIT
//
// The rows that messages are shown as: of single blocks while an answer streams, of whole stored
// conversations when one is opened. Pure functions: a long conversation is laid out in rows on a
// worker.
#pragma once

#include "app/chat/message_block.h"
#include "app/chat/shown_message.h"
#include "app/store/records.h"

#include <QString>

#include <cstddef>
#include <string_view>
#include <vector>

namespace firesteel::app {

MessageBlock::Type blockTypeOf(MarkdownBlock::Kind kind);
MessageBlock markdownRow(int message, MarkdownBlock markdown);
MessageBlock plainRow(MessageBlock::Type type, int message, QString text);

// Rows of a plain text from byte `from` on.
std::vector<MessageBlock> plainTextRows(MessageBlock::Type type, int message, std::string_view utf8,
                                        std::size_t from);

bool isBlankText(std::string_view text);

// The line under an answer that has ended: its statistics, or what went wrong.
MessageBlock endingRow(int message, const MessageRecord &reply);

// What a branch of a stored conversation shows. Messages that are neither of the user nor of the
// model have no rows.
struct ShownConversation
{
    std::vector<ShownMessage> messages;
    std::vector<MessageBlock> rows;
    int contextTokens = 0; // of the whole branch, as the last answer counted them
};
ShownConversation shownConversation(const StoredConversation &branch);

} // namespace firesteel::app
