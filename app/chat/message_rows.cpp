// SPDX-License-Identifier: MIT
#include "app/chat/message_rows.h"

#include "app/chat/statistics_text.h"
#include "app/chat/text_chunks.h"
#include "app/markdown/markdown_block_parser.h"
#include "app/markdown/markdown_renderer.h"

#include <QCoreApplication>

#include <iterator>
#include <utility>

namespace firesteel::app {

namespace {

using namespace Qt::Literals::StringLiterals;

struct Words
{
    Q_DECLARE_TR_FUNCTIONS(Conversation)
};

void addAnswerRows(const MessageRecord &reply, int index, ShownMessage &message,
                   std::vector<MessageBlock> &rows)
{
    if (!isBlankText(reply.thinking))
        rows.push_back(plainRow(MessageBlock::Type::Thinking, index, {}));
    message.thinking = reply.thinking;
    if (reply.statistics) {
        message.thinkingTokens = reply.statistics->usage.reasoningTokens;
        message.thinkingSeconds = reply.statistics->thinkingSeconds;
    }
    MarkdownBlockParser parser;
    parser.append(reply.text);
    parser.finish();
    for (const MarkdownBlock &block : parser.blocks())
        rows.push_back(markdownRow(index, block));
    rows.push_back(endingRow(index, reply));
}

} // namespace

MessageBlock::Type blockTypeOf(MarkdownBlock::Kind kind)
{
    switch (kind) {
    case MarkdownBlock::Kind::Paragraph:
        return MessageBlock::Type::Paragraph;
    case MarkdownBlock::Kind::Heading:
        return MessageBlock::Type::Heading;
    case MarkdownBlock::Kind::Code:
        return MessageBlock::Type::Code;
    case MarkdownBlock::Kind::Table:
        return MessageBlock::Type::Table;
    case MarkdownBlock::Kind::Quote:
        return MessageBlock::Type::Quote;
    case MarkdownBlock::Kind::ListItem:
        return MessageBlock::Type::ListItem;
    case MarkdownBlock::Kind::Rule:
        break;
    }
    return MessageBlock::Type::Rule;
}

MessageBlock markdownRow(int message, MarkdownBlock markdown)
{
    MessageBlock row;
    row.type = blockTypeOf(markdown.kind);
    row.message = message;
    row.markdown = std::move(markdown);
    return row;
}

MessageBlock plainRow(MessageBlock::Type type, int message, QString text)
{
    MessageBlock row;
    row.type = type;
    row.message = message;
    row.markdown.rightToLeft = isRightToLeft(text);
    row.text = std::move(text);
    return row;
}

std::vector<MessageBlock> plainTextRows(MessageBlock::Type type, int message, std::string_view utf8,
                                        std::size_t from)
{
    std::vector<MessageBlock> rows;
    for (const TextChunk chunk : textChunks(utf8.substr(from))) {
        const std::string_view text = utf8.substr(from + chunk.begin, chunk.end - chunk.begin);
        rows.push_back(plainRow(type, message, QString::fromUtf8(text)));
        rows.back().sourceBegin = from + chunk.begin;
        rows.back().sourceEnd = from + chunk.end;
    }
    return rows;
}

bool isBlankText(std::string_view text)
{
    return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

MessageBlock endingRow(int message, const MessageRecord &reply)
{
    if (reply.end == ReplyEnd::Failed && reply.error) {
        MessageBlock row = plainRow(MessageBlock::Type::Error, message, errorText(*reply.error));
        row.action = errorAction(reply.error->code);
        return row;
    }
    if (reply.end == ReplyEnd::Interrupted || reply.end == ReplyEnd::UnderWay) {
        MessageBlock row = plainRow(MessageBlock::Type::Error, message,
                                    Words::tr("Firesteel ended before the answer did."));
        row.action = u"retry"_s;
        return row;
    }
    const ReplyStatistics statistics = reply.statistics.value_or(ReplyStatistics {});
    const QString text
        = statisticsText({ finishReasonOf(reply.end), statistics.usage, statistics.timings, {} });
    return plainRow(MessageBlock::Type::Statistics, message,
                    text.isEmpty() ? Words::tr("The model gave no answer") : text);
}

ShownConversation shownConversation(const StoredConversation &branch)
{
    ShownConversation shown;
    for (const MessageRecord &record : branch.messages) {
        const bool isFromUser = record.role == engine::Role::User;
        if (!isFromUser && record.role != engine::Role::Assistant)
            continue;
        const int index = static_cast<int>(shown.messages.size());
        ShownMessage message;
        message.id = record.id;
        message.parent = record.parent;
        if (const auto found = branch.alternatives.find(record.id);
            found != branch.alternatives.end())
            message.alternatives = found->second;
        message.isFromUser = isFromUser;
        message.text = record.text;
        if (!isFromUser) {
            message.tokens = record.tokens;
            message.vocabulary = record.vocabulary;
        }
        message.firstRow = static_cast<int>(shown.rows.size());
        if (isFromUser)
            std::ranges::move(plainTextRows(MessageBlock::Type::UserText, index, record.text, 0),
                              std::back_inserter(shown.rows));
        else
            addAnswerRows(record, index, message, shown.rows);
        if (record.statistics)
            shown.contextTokens
                = record.statistics->usage.promptTokens + record.statistics->usage.completionTokens;
        message.rows = static_cast<int>(shown.rows.size()) - message.firstRow;
        shown.messages.push_back(std::move(message));
    }
    return shown;
}

} // namespace firesteel::app
