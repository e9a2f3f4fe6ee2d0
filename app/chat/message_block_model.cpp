// SPDX-License-Identifier: MIT
#include "app/chat/message_block_model.h"

#include "app/chat/message_rows.h"
#include "app/markdown/code_document.h"
#include "app/markdown/markdown_renderer.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace firesteel::app {

namespace {

constexpr double kMillisecondsPerSecond = 1000.0;

QVariantList tableRowsValue(const MarkdownBlock &table)
{
    QVariantList rows;
    rows.reserve(table.tableRows.size());
    for (const QStringList &row : table.tableRows)
        rows.push_back(row);
    return rows;
}

QVariantList alignmentsValue(const MarkdownBlock &table)
{
    QVariantList values;
    for (const MarkdownBlock::Alignment alignment : table.tableAlignments) {
        values.push_back(
            static_cast<int>(alignment == MarkdownBlock::Alignment::Right        ? Qt::AlignRight
                                 : alignment == MarkdownBlock::Alignment::Center ? Qt::AlignHCenter
                                                                                 : Qt::AlignLeft));
    }
    return values;
}

int versionOf(const ShownMessage &message)
{
    const auto here = std::ranges::find(message.alternatives, message.id);
    return here == message.alternatives.end()
        ? 1
        : static_cast<int>(here - message.alternatives.begin()) + 1;
}

} // namespace

struct MessageBlockModel::Answer
{
    MarkdownBlockParser parser;
    QElapsedTimer thinkingClock;
    bool isThinkingLive = false;
    bool hasNewThinking = false;
    bool hasNewText = false;
    int thinkingTextRows = 0;
    bool hasStatusRow = false;
};

MessageBlockModel::MessageBlockModel(QObject *parent)
    : QAbstractListModel(parent)
{
    connect(this, &QAbstractItemModel::rowsInserted, this, &MessageBlockModel::countChanged);
    connect(this, &QAbstractItemModel::rowsRemoved, this, &MessageBlockModel::countChanged);
    connect(this, &QAbstractItemModel::modelReset, this, &MessageBlockModel::countChanged);
}

MessageBlockModel::~MessageBlockModel() = default;

int MessageBlockModel::rowCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : rowCountValue();
}

QHash<int, QByteArray> MessageBlockModel::roleNames() const
{
    return {
        { BlockTypeRole, "blockType" },
        { MessageIndexRole, "messageIndex" },
        { FromUserRole, "fromUser" },
        { FirstInMessageRole, "firstInMessage" },
        { LastInMessageRole, "lastInMessage" },
        { VersionRole, "version" },
        { VersionsRole, "versions" },
        { HtmlRole, "html" },
        { TextRole, "text" },
        { SourceRole, "source" },
        { LevelRole, "level" },
        { IndentRole, "indent" },
        { QuoteDepthRole, "quoteDepth" },
        { MarkerRole, "marker" },
        { LanguageRole, "language" },
        { LanguageLabelRole, "languageLabel" },
        { CodeRole, "code" },
        { TableHeaderRole, "tableHeader" },
        { TableRowsRole, "tableRows" },
        { TableAlignmentsRole, "tableAlignments" },
        { OpenRole, "open" },
        { ThinkingLiveRole, "thinkingLive" },
        { ElapsedSecondsRole, "elapsedSeconds" },
        { TokenCountRole, "tokenCount" },
        { ExpandedRole, "expanded" },
        { StatisticsRole, "statistics" },
        { ErrorTextRole, "errorText" },
        { ErrorActionRole, "errorAction" },
        { DirectionRole, "direction" },
    };
}

QVariant MessageBlockModel::data(const QModelIndex &index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid | CheckIndexOption::ParentIsInvalid))
        return {};
    const int row = index.row();
    const MessageBlock &block = m_rows[static_cast<std::size_t>(row)];
    const ShownMessage &message = m_messages[static_cast<std::size_t>(block.message)];
    switch (role) {
    case BlockTypeRole:
        return static_cast<int>(block.type);
    case MessageIndexRole:
        return block.message;
    case FromUserRole:
        return message.isFromUser;
    case FirstInMessageRole:
        return row == message.firstRow;
    case LastInMessageRole:
        return row == message.firstRow + message.rows - 1;
    case VersionRole:
        return versionOf(message);
    case VersionsRole:
        return std::max(1, static_cast<int>(message.alternatives.size()));
    case SourceRole:
        return blockSource(row);
    case OpenRole:
        return isOpenRow(row);
    case DirectionRole:
        return static_cast<int>(block.markdown.rightToLeft ? RightToLeft : LeftToRight);
    case ErrorActionRole:
        return block.action;
    case StatisticsRole:
        return block.type == BlockType::Statistics ? block.text : QString();
    case ErrorTextRole:
        return block.type == BlockType::Error ? block.text : QString();
    case Qt::DisplayRole:
    case TextRole:
        return block.text;
    case ThinkingLiveRole:
    case ElapsedSecondsRole:
    case TokenCountRole:
    case ExpandedRole:
        return thinkingData(block, role);
    default:
        return markdownData(block, role);
    }
}

QVariant MessageBlockModel::markdownData(const MessageBlock &row, int role) const
{
    const MarkdownBlock &block = row.markdown;
    switch (role) {
    case HtmlRole:
        return block.html;
    case LevelRole:
        return block.level;
    case IndentRole:
        return block.indent;
    case QuoteDepthRole:
        return block.quoteDepth;
    case MarkerRole:
        return block.marker;
    case LanguageRole:
        return block.language;
    case LanguageLabelRole:
        return CodeDocument::languageLabel(block.language);
    case CodeRole:
        return block.code;
    case TableHeaderRole:
        return block.tableHeader;
    case TableRowsRole:
        return tableRowsValue(block);
    case TableAlignmentsRole:
        return alignmentsValue(block);
    default:
        return {};
    }
}

QVariant MessageBlockModel::thinkingData(const MessageBlock &row, int role) const
{
    const ShownMessage &message = m_messages[static_cast<std::size_t>(row.message)];
    const bool isLive = m_answer && m_answer->isThinkingLive && &message == &m_messages.back();
    switch (role) {
    case ThinkingLiveRole:
        return isLive;
    case ElapsedSecondsRole:
        return isLive
            ? static_cast<double>(m_answer->thinkingClock.elapsed()) / kMillisecondsPerSecond
            : message.thinkingSeconds;
    case TokenCountRole:
        return message.thinkingTokens;
    default:
        return message.isThinkingExpanded;
    }
}

bool MessageBlockModel::isOpenRow(int row) const
{
    if (!m_answer)
        return false;
    const auto &blocks = m_answer->parser.blocks();
    if (blocks.empty())
        return m_answer->isThinkingLive
            && m_rows[static_cast<std::size_t>(row)].type == BlockType::ThinkingText
            && row == rowCountValue() - 1;
    return row == firstMarkdownRow() + static_cast<int>(blocks.size()) - 1;
}

int MessageBlockModel::thinkingRow(int message) const
{
    const ShownMessage &entry = m_messages[static_cast<std::size_t>(message)];
    const bool hasRow = entry.rows > 0
        && m_rows[static_cast<std::size_t>(entry.firstRow)].type == BlockType::Thinking;
    return hasRow ? entry.firstRow : -1;
}

int MessageBlockModel::firstMarkdownRow() const
{
    const int last = static_cast<int>(m_messages.size()) - 1;
    const int header = thinkingRow(last) >= 0 ? 1 : 0;
    return m_messages.back().firstRow + header + m_answer->thinkingTextRows;
}

std::string MessageBlockModel::messageText(int message) const
{
    if (message < 0 || message >= static_cast<int>(m_messages.size()))
        return {};
    if (m_answer && message == static_cast<int>(m_messages.size()) - 1)
        return m_answer->parser.text();
    return m_messages[static_cast<std::size_t>(message)].text;
}

QString MessageBlockModel::blockSource(int row) const
{
    if (row < 0 || row >= rowCountValue())
        return {};
    const MessageBlock &block = m_rows[static_cast<std::size_t>(row)];
    const ShownMessage &message = m_messages[static_cast<std::size_t>(block.message)];
    switch (block.type) {
    case BlockType::Thinking:
        return QString::fromStdString(message.thinking);
    case BlockType::UserText:
    case BlockType::ThinkingText:
    case BlockType::Status:
    case BlockType::Statistics:
    case BlockType::Error:
        return block.text;
    default:
        break;
    }
    const bool isStreaming = m_answer && &message == &m_messages.back();
    const std::string_view text = isStreaming ? m_answer->parser.text() : message.text;
    const std::size_t begin = std::min(block.markdown.sourceBegin, text.size());
    const std::size_t end = std::clamp(block.markdown.sourceEnd, begin, text.size());
    return QString::fromUtf8(text.substr(begin, end - begin));
}

void MessageBlockModel::addRows(int at, std::vector<MessageBlock> rows)
{
    if (rows.empty())
        return;
    const int count = static_cast<int>(rows.size());
    const int message = rows.front().message;
    beginInsertRows({}, at, at + count - 1);
    m_rows.insert(m_rows.begin() + at, std::make_move_iterator(rows.begin()),
                  std::make_move_iterator(rows.end()));
    m_messages[static_cast<std::size_t>(message)].rows += count;
    for (std::size_t later = static_cast<std::size_t>(message) + 1; later < m_messages.size();
         ++later)
        m_messages[later].firstRow += count;
    endInsertRows();
}

void MessageBlockModel::eraseRows(int first, int last)
{
    if (first >= last)
        return;
    const int count = last - first;
    const int message = m_rows[static_cast<std::size_t>(first)].message;
    beginRemoveRows({}, first, last - 1);
    m_rows.erase(m_rows.begin() + first, m_rows.begin() + last);
    m_messages[static_cast<std::size_t>(message)].rows -= count;
    for (std::size_t later = static_cast<std::size_t>(message) + 1; later < m_messages.size();
         ++later)
        m_messages[later].firstRow -= count;
    endRemoveRows();
}

void MessageBlockModel::setExpanded(int row, bool expanded)
{
    if (row < 0 || row >= rowCountValue()
        || m_rows[static_cast<std::size_t>(row)].type != BlockType::Thinking)
        return;
    const int index = m_rows[static_cast<std::size_t>(row)].message;
    ShownMessage &message = m_messages[static_cast<std::size_t>(index)];
    if (message.isThinkingExpanded == expanded)
        return;
    message.isThinkingExpanded = expanded;
    int changedRows = 0;
    if (expanded) {
        auto rows = plainTextRows(BlockType::ThinkingText, index, message.thinking, 0);
        changedRows = static_cast<int>(rows.size());
        if (m_answer && &message == &m_messages.back())
            m_answer->thinkingTextRows = changedRows;
        addRows(row + 1, std::move(rows));
    } else {
        int end = row + 1;
        while (end < rowCountValue()
               && m_rows[static_cast<std::size_t>(end)].type == BlockType::ThinkingText)
            ++end;
        if (m_answer && &message == &m_messages.back())
            m_answer->thinkingTextRows = 0;
        eraseRows(row + 1, end);
    }
    Q_EMIT dataChanged(rowIndex(row), rowIndex(row), { ExpandedRole });
}

void MessageBlockModel::show(ShownConversation conversation)
{
    const auto [mine, theirs] = std::ranges::mismatch(m_messages, conversation.messages, {},
                                                      &ShownMessage::id, &ShownMessage::id);
    if (mine == m_messages.begin()) {
        beginResetModel();
        m_answer.reset();
        m_messages = std::move(conversation.messages);
        m_rows = std::move(conversation.rows);
        endResetModel();
        return;
    }
    const bool hasMore = theirs != conversation.messages.end();
    const std::ptrdiff_t shared = hasMore ? theirs->firstRow : std::ssize(conversation.rows);
    removeFrom(static_cast<int>(mine - m_messages.begin()));
    // The rows that stay may be more: reasoning that was opened.
    const int at = rowCountValue();
    std::for_each(theirs, conversation.messages.end(), [&](ShownMessage &message) {
        message.firstRow += at - static_cast<int>(shared);
    });
    const auto added = static_cast<int>(std::ssize(conversation.rows) - shared);
    if (added > 0)
        beginInsertRows({}, at, at + added - 1);
    std::move(theirs, conversation.messages.end(), std::back_inserter(m_messages));
    std::move(conversation.rows.begin() + shared, conversation.rows.end(),
              std::back_inserter(m_rows));
    if (added > 0)
        endInsertRows();
}

int MessageBlockModel::indexOfMessage(RecordId id) const
{
    const auto found = std::ranges::find(m_messages, id, &ShownMessage::id);
    return found == m_messages.end() ? -1 : static_cast<int>(found - m_messages.begin());
}

int MessageBlockModel::rowOfMessage(RecordId id) const
{
    const auto found = std::ranges::find(m_messages, id, &ShownMessage::id);
    return found == m_messages.end() || found->rows == 0 ? -1 : found->firstRow;
}

int MessageBlockModel::lastRowOfMessage(RecordId id) const
{
    const auto found = std::ranges::find(m_messages, id, &ShownMessage::id);
    return found == m_messages.end() || found->rows == 0 ? -1 : found->firstRow + found->rows - 1;
}

void MessageBlockModel::appendUserMessage(const QString &text, MessagePlace place)
{
    ShownMessage message;
    static_cast<MessagePlace &>(message) = std::move(place);
    message.isFromUser = true;
    message.text = text.toStdString();
    message.firstRow = rowCountValue();
    m_messages.push_back(std::move(message));
    const int index = static_cast<int>(m_messages.size()) - 1;
    addRows(rowCountValue(), plainTextRows(BlockType::UserText, index, m_messages.back().text, 0));
}

void MessageBlockModel::beginAnswer(const QString &status, MessagePlace place)
{
    ShownMessage message;
    static_cast<MessagePlace &>(message) = std::move(place);
    message.firstRow = rowCountValue();
    m_messages.push_back(std::move(message));
    m_answer = std::make_unique<Answer>();
    m_answer->hasStatusRow = true;
    addRows(rowCountValue(),
            { plainRow(BlockType::Status, static_cast<int>(m_messages.size()) - 1, status) });
}

void MessageBlockModel::setStatus(const QString &status)
{
    if (!m_answer || !m_answer->hasStatusRow || m_rows.back().text == status)
        return;
    m_rows.back().text = status;
    Q_EMIT dataChanged(rowIndex(rowCountValue() - 1), rowIndex(rowCountValue() - 1), { TextRole });
}

void MessageBlockModel::removeStatusRow()
{
    if (!m_answer->hasStatusRow)
        return;
    m_answer->hasStatusRow = false;
    eraseRows(rowCountValue() - 1, rowCountValue());
}

void MessageBlockModel::appendThinking(std::string_view utf8, int tokens)
{
    if (!m_answer)
        return;
    ShownMessage &message = m_messages.back();
    message.thinking += utf8;
    message.thinkingTokens += tokens;
    m_answer->hasNewThinking = true;
}

void MessageBlockModel::appendText(std::string_view utf8)
{
    if (!m_answer || utf8.empty())
        return;
    m_answer->parser.append(utf8);
    m_answer->hasNewText = true;
}

void MessageBlockModel::flush()
{
    if (!m_answer)
        return;
    if (std::exchange(m_answer->hasNewThinking, false))
        flushThinking();
    if (std::exchange(m_answer->hasNewText, false))
        flushText(m_answer->parser.update());
}

void MessageBlockModel::flushThinking()
{
    const ShownMessage &message = m_messages.back();
    if (isBlankText(message.thinking))
        return;
    const int index = static_cast<int>(m_messages.size()) - 1;
    const int header = thinkingRow(index);
    if (header < 0) {
        removeStatusRow();
        m_answer->thinkingClock.start();
        m_answer->isThinkingLive = true;
        addRows(message.firstRow, { plainRow(BlockType::Thinking, index, {}) });
        return;
    }
    Q_EMIT dataChanged(rowIndex(header), rowIndex(header), { TokenCountRole, ElapsedSecondsRole });
    if (!message.isThinkingExpanded)
        return;
    const int last = header + m_answer->thinkingTextRows;
    const bool hasRows = m_answer->thinkingTextRows > 0;
    const std::size_t from = hasRows ? m_rows[static_cast<std::size_t>(last)].sourceBegin : 0;
    auto rows = plainTextRows(BlockType::ThinkingText, index, message.thinking, from);
    if (hasRows && !rows.empty()) {
        m_rows[static_cast<std::size_t>(last)] = std::move(rows.front());
        rows.erase(rows.begin());
        Q_EMIT dataChanged(rowIndex(last), rowIndex(last),
                           { TextRole, SourceRole, OpenRole, DirectionRole });
    }
    m_answer->thinkingTextRows += static_cast<int>(rows.size());
    addRows(last + 1, std::move(rows));
}

void MessageBlockModel::endThinking()
{
    if (!m_answer->isThinkingLive)
        return;
    m_answer->isThinkingLive = false;
    m_messages.back().thinkingSeconds
        = static_cast<double>(m_answer->thinkingClock.elapsed()) / kMillisecondsPerSecond;
    const int header = thinkingRow(static_cast<int>(m_messages.size()) - 1);
    const int last = header + m_answer->thinkingTextRows;
    Q_EMIT dataChanged(rowIndex(header), rowIndex(last),
                       { ThinkingLiveRole, ElapsedSecondsRole, OpenRole });
}

void MessageBlockModel::refreshElapsed()
{
    if (!m_answer || !m_answer->isThinkingLive)
        return;
    const int header = thinkingRow(static_cast<int>(m_messages.size()) - 1);
    Q_EMIT dataChanged(rowIndex(header), rowIndex(header), { ElapsedSecondsRole });
}

void MessageBlockModel::flushText(MarkdownBlockParser::Change change)
{
    const auto &blocks = m_answer->parser.blocks();
    if (change.isEmpty)
        return;
    if (!blocks.empty()) {
        removeStatusRow();
        endThinking();
    }
    const int base = firstMarkdownRow();
    const int message = static_cast<int>(m_messages.size()) - 1;
    std::size_t i = change.firstChanged;
    for (; i < std::min(change.blocksBefore, blocks.size()); ++i) {
        MessageBlock &row = m_rows[static_cast<std::size_t>(base) + i];
        if (row.type != blockTypeOf(blocks[i].kind))
            break; // a delegate cannot change its type
        row.markdown = blocks[i];
    }
    // The row that was last is no longer open when others follow: it changes too.
    const std::size_t lastBefore = change.blocksBefore - (change.blocksBefore > 0 ? 1 : 0);
    const std::size_t firstTouched = std::min(change.firstChanged, lastBefore);
    const std::size_t endTouched = std::max(i, std::min(change.firstChanged, change.blocksBefore));
    if (firstTouched < endTouched)
        Q_EMIT dataChanged(rowIndex(base + static_cast<int>(firstTouched)),
                           rowIndex(base + static_cast<int>(endTouched) - 1));
    eraseRows(base + static_cast<int>(i), base + static_cast<int>(change.blocksBefore));
    std::vector<MessageBlock> added;
    for (; i < blocks.size(); ++i)
        added.push_back(markdownRow(message, blocks[i]));
    const int at = base + static_cast<int>(blocks.size() - added.size());
    addRows(at, std::move(added));
}

void MessageBlockModel::endText()
{
    if (!m_answer)
        return;
    flush();
    flushText(m_answer->parser.finish());
    removeStatusRow();
    endThinking();
}

void MessageBlockModel::endAnswer(const MessageRecord &reply)
{
    if (!m_answer)
        return;
    endText();
    const int open = m_answer->parser.blocks().empty()
        ? -1
        : firstMarkdownRow() + static_cast<int>(m_answer->parser.blocks().size()) - 1;
    m_messages.back().text = m_answer->parser.text();
    m_messages.back().tokens = reply.tokens;
    m_messages.back().vocabulary = reply.vocabulary;
    // As it will be shown when the chat is opened again: the end of the thinking counts too.
    const bool isThought = reply.statistics && m_messages.back().thinkingTokens > 0;
    if (isThought)
        m_messages.back().thinkingTokens = reply.statistics->usage.reasoningTokens;
    m_answer.reset();
    if (const int row = m_messages.back().firstRow; isThought && row < rowCountValue())
        Q_EMIT dataChanged(rowIndex(row), rowIndex(row), { TokenCountRole });
    if (open >= 0)
        Q_EMIT dataChanged(rowIndex(open), rowIndex(open), { OpenRole });
    addRows(rowCountValue(), { endingRow(static_cast<int>(m_messages.size()) - 1, reply) });
}

void MessageBlockModel::removeFrom(int message)
{
    if (message < 0 || message >= static_cast<int>(m_messages.size()))
        return;
    const int first = m_messages[static_cast<std::size_t>(message)].firstRow;
    const bool hasRows = first < rowCountValue();
    if (hasRows)
        beginRemoveRows({}, first, rowCountValue() - 1);
    m_answer.reset();
    m_rows.erase(m_rows.begin() + first, m_rows.end());
    m_messages.erase(m_messages.begin() + message, m_messages.end());
    if (hasRows)
        endRemoveRows();
}

} // namespace firesteel::app
