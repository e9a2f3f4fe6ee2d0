// SPDX-License-Identifier: MIT
#include "app/store/conversation_markdown.h"

#include <QCoreApplication>
#include <QDateTime>
#include <QRegularExpression>

namespace firesteel::app {

namespace {

using namespace Qt::Literals::StringLiterals;

struct Words
{
    Q_DECLARE_TR_FUNCTIONS(Store)
};

QString speaker(const MessageRecord &message)
{
    switch (message.role) {
    case engine::Role::User:
        return Words::tr("You");
    case engine::Role::System:
        return Words::tr("System");
    case engine::Role::Tool:
        return Words::tr("Tool");
    case engine::Role::Assistant:
        break;
    }
    return message.model.isEmpty() ? Words::tr("Model") : message.model;
}

// The fence that an answer which broke off has left open, or nothing: what follows would be code.
QString openFence(const QString &text)
{
    static const QRegularExpression fence(u"^ {0,3}(`{3,}|~{3,})([^\\n]*)$"_s,
                                          QRegularExpression::MultilineOption);
    QString open;
    for (const QRegularExpressionMatch &match : fence.globalMatch(text)) {
        const QString marks = match.captured(1);
        const bool hasInfo = !match.captured(2).trimmed().isEmpty();
        if (open.isEmpty()) {
            // With backticks behind it the line is code within a paragraph.
            if (marks.front() == u'~' || !match.captured(2).contains(u'`'))
                open = marks;
        } else if (!hasInfo && marks.front() == open.front() && marks.size() >= open.size()) {
            open.clear();
        }
    }
    return open;
}

QString closed(const QString &text)
{
    const QString fence = openFence(text);
    return fence.isEmpty() ? text : u"%1\n%2"_s.arg(text, fence);
}

// Without blank lines around it. Spaces before its first word may be Markdown.
QString withoutBlankEnds(const QString &text)
{
    static const QRegularExpression ends(u"\\A(?:[^\\S\\n]*\\n)+|\\s+\\z"_s);
    return QString(text).remove(ends);
}

// A title is one line of plain words.
QString escapedTitle(const QString &title)
{
    static const QRegularExpression special(u"([\\\\`*_\\[\\]<>#])"_s);
    return title.simplified().replace(special, u"\\\\1"_s);
}

} // namespace

QString conversationMarkdown(const StoredConversation &branch)
{
    const ConversationSummary &summary = branch.record.summary;
    const QString title = escapedTitle(summary.title);
    QString document = u"# %1\n"_s.arg(title.isEmpty() ? Words::tr("Chat") : title);
    for (const MessageRecord &message : branch.messages) {
        const QString time
            = QDateTime::fromMSecsSinceEpoch(message.created).toString(u"yyyy-MM-dd HH:mm"_s);
        document += u"\n**%1** · %2\n"_s.arg(escapedTitle(speaker(message)), time);
        const QString text = withoutBlankEnds(QString::fromStdString(message.text));
        if (!text.isEmpty())
            document += u'\n' + closed(text) + u'\n';
        if (message.error)
            document
                += u"\n> %1\n"_s.arg(QString::fromStdString(message.error->message).simplified());
    }
    return document;
}

} // namespace firesteel::app
