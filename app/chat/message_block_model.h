// SPDX-License-Identifier: MIT
//
// A whole conversation as a flat list of typed blocks, for one virtualised ListView. It holds the
// messages' source texts and keeps the rows in step with them: while an answer streams, each
// flush() makes at most one set of changes, at the end of the list, and rows before the open block
// are never touched.
//
// Filled by ConversationController; read by QML. It knows nothing of the engine.
#pragma once

#include "app/chat/message_block.h"
#include "app/chat/message_rows.h"
#include "app/chat/shown_message.h"
#include "app/markdown/markdown_block_parser.h"

#include <QAbstractListModel>
#include <QElapsedTimer>
#include <QtQml/qqmlregistration.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace firesteel::app {

class MessageBlockModel : public QAbstractListModel
{
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("A conversation owns its blocks")
    Q_PROPERTY(int count READ rowCountValue NOTIFY countChanged FINAL)

public:
    using BlockType = MessageBlock::Type;
    // The same values as MessageBlock::Type, visible to QML as MessageBlockModel.Paragraph and so
    // on.
    enum Type {
        UserText = static_cast<int>(BlockType::UserText),
        Thinking = static_cast<int>(BlockType::Thinking),
        ThinkingText = static_cast<int>(BlockType::ThinkingText),
        Paragraph = static_cast<int>(BlockType::Paragraph),
        Heading = static_cast<int>(BlockType::Heading),
        Code = static_cast<int>(BlockType::Code),
        Table = static_cast<int>(BlockType::Table),
        Quote = static_cast<int>(BlockType::Quote),
        ListItem = static_cast<int>(BlockType::ListItem),
        Rule = static_cast<int>(BlockType::Rule),
        Status = static_cast<int>(BlockType::Status),
        Statistics = static_cast<int>(BlockType::Statistics),
        Error = static_cast<int>(BlockType::Error),
    };
    Q_ENUM(Type)

    enum Direction { LeftToRight, RightToLeft };
    Q_ENUM(Direction)

    // Names in QML are these without "Role", first letter small: blockType, messageIndex, html ...
    enum Role {
        BlockTypeRole = Qt::UserRole, // int, a Type
        MessageIndexRole, // int
        FromUserRole, // bool
        FirstInMessageRole, // bool: the rows of one message form one card
        LastInMessageRole, // bool
        VersionRole, // int, from 1: which of the message's alternatives this is
        VersionsRole, // int: how many there are; 1 without others
        HtmlRole, // QString: Paragraph, Heading, Quote, ListItem
        TextRole, // QString, plain: UserText, ThinkingText, Status
        SourceRole, // QString: the original text of this block
        LevelRole, // int: Heading 1-6; ListItem 1 = outermost list
        IndentRole, // int: lists around the block
        QuoteDepthRole, // int: block quotes around the block
        MarkerRole, // QString: ListItem "•", "2.", "☐", "☑"
        LanguageRole, // QString: Code, as written after the fence
        LanguageLabelRole, // QString: Code, for a person
        CodeRole, // QString: Code
        TableHeaderRole, // QStringList of html; empty on later parts of a long table
        TableRowsRole, // QVariantList of QStringList of html
        TableAlignmentsRole, // QVariantList of int: Qt.AlignLeft, Qt.AlignHCenter, Qt.AlignRight
        OpenRole, // bool: still being written
        ThinkingLiveRole, // bool: Thinking, while it runs
        ElapsedSecondsRole, // double: Thinking
        TokenCountRole, // int: Thinking
        ExpandedRole, // bool: Thinking; writable through setExpanded()
        StatisticsRole, // QString: Statistics
        ErrorTextRole, // QString: Error
        ErrorActionRole, // QString: Error: "retry", "reloadModel", "newConversation" or ""
        DirectionRole, // int, a Direction
    };
    Q_ENUM(Role)

    explicit MessageBlockModel(QObject *parent = nullptr);
    ~MessageBlockModel() override;

    int rowCount(const QModelIndex &parent = {}) const override;
    QVariant data(const QModelIndex &index, int role) const override;
    QHash<int, QByteArray> roleNames() const override;

    // Opens or closes the reasoning below a Thinking row.
    Q_INVOKABLE void setExpanded(int row, bool expanded);

    const std::vector<ShownMessage> &messages() const { return m_messages; }
    std::string messageText(int message) const; // of the streaming answer too
    QString blockSource(int row) const;

    int indexOfMessage(RecordId id) const; // -1 when it is not shown, likewise below
    int rowOfMessage(RecordId id) const; // its first
    int lastRowOfMessage(RecordId id) const;

    // A stored conversation, in one step. Rows of the messages that both have at the beginning stay
    // as they are: whoever reads there sees nothing move when another branch is shown.
    void show(ShownConversation conversation);

    void appendUserMessage(const QString &text, MessagePlace place);

    // An answer: begin, then any number of append and flush, then end. After endText() the time of
    // its reasoning stands.
    void beginAnswer(const QString &status, MessagePlace place);
    void setStatus(const QString &status);
    void appendThinking(std::string_view utf8, int tokens);
    void appendText(std::string_view utf8);
    void flush();
    void endText();
    void endAnswer(const MessageRecord &reply); // its text is what was appended
    bool isAnswering() const { return m_answer != nullptr; }
    void refreshElapsed(); // of running reasoning

    void removeFrom(int message); // it and all that follow

Q_SIGNALS:
    void countChanged();

private:
    struct Answer;

    int rowCountValue() const { return static_cast<int>(m_rows.size()); }
    QVariant markdownData(const MessageBlock &row, int role) const;
    QVariant thinkingData(const MessageBlock &row, int role) const;
    bool isOpenRow(int row) const;
    void addRows(int at, std::vector<MessageBlock> rows);
    void eraseRows(int first, int last); // [first, last)
    void removeStatusRow();
    void flushThinking();
    void flushText(MarkdownBlockParser::Change change);
    void endThinking();
    int thinkingRow(int message) const; // -1 without reasoning
    int firstMarkdownRow() const; // of the streaming answer
    QModelIndex rowIndex(int row) const { return index(row, 0); }

    std::vector<MessageBlock> m_rows;
    std::vector<ShownMessage> m_messages;
    std::unique_ptr<Answer> m_answer; // the last message, while it streams
};

} // namespace firesteel::app
