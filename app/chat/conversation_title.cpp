// SPDX-License-Identifier: MIT
#include "app/chat/conversation_title.h"

#include <QCoreApplication>
#include <QLocale>
#include <QRegularExpression>

namespace firesteel::app {

namespace {

using namespace Qt::Literals::StringLiterals;

constexpr qsizetype kLongestTitle = 48; // characters; the sidebar elides what is still too wide
constexpr qsizetype kLongestLineRead = 1000; // of a first line that may be a whole pasted file

QString translated(const char *text)
{
    return QCoreApplication::translate("ConversationSection", text);
}

QString shortenedAtWord(const QString &line)
{
    if (line.size() <= kLongestTitle)
        return line;
    qsizetype end = line.lastIndexOf(u' ', kLongestTitle);
    if (end < kLongestTitle / 2) {
        end = kLongestTitle; // one long word, or a script without spaces
        if (line.at(end).isLowSurrogate())
            --end;
    }
    return line.first(end).trimmed() + u'…';
}

} // namespace

QString titleFromMessage(const QString &message)
{
    static const QRegularExpression marks(u"^(#{1,6}|>|[-*+]|```\\S*)\\s+"_s);
    for (const QStringView line : QStringView(message).tokenize(u'\n')) {
        QString text = line.first(qMin(line.size(), kLongestLineRead)).toString().simplified();
        text.remove(marks);
        if (!text.isEmpty() && !text.startsWith("```"_L1))
            return shortenedAtWord(text);
    }
    return {};
}

QString sectionOf(QDate day, QDate today)
{
    const qint64 age = day.daysTo(today);
    if (age <= 0)
        return translated(QT_TRANSLATE_NOOP("ConversationSection", "Today"));
    if (age == 1)
        return translated(QT_TRANSLATE_NOOP("ConversationSection", "Yesterday"));
    if (age <= 7)
        return translated(QT_TRANSLATE_NOOP("ConversationSection", "Previous 7 days"));
    if (age <= 30)
        return translated(QT_TRANSLATE_NOOP("ConversationSection", "Previous 30 days"));
    return QLocale().standaloneMonthName(day.month()) + u' ' + QString::number(day.year());
}

} // namespace firesteel::app
