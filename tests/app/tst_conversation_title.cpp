// SPDX-License-Identifier: MIT
#include "app/chat/conversation_title.h"

#include <QTest>

namespace firesteel::test {

using namespace Qt::Literals::StringLiterals;

class ConversationTitleTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void takesTheFirstLineWithText_data();
    void takesTheFirstLineWithText();
    void staysShort();
    void groupsByDay();
};

void ConversationTitleTest::takesTheFirstLineWithText_data()
{
    QTest::addColumn<QString>("message");
    QTest::addColumn<QString>("title");
    QTest::newRow("plain") << u"Hash maps"_s << u"Hash maps"_s;
    QTest::newRow("second line") << u"\n  \n  What is   this?\nmore"_s << u"What is this?"_s;
    QTest::newRow("heading") << u"## Plan\ntext"_s << u"Plan"_s;
    QTest::newRow("code first") << u"```py\nx = 1\n```"_s << u"x = 1"_s;
    QTest::newRow("nothing") << u" \n\t\n"_s << QString();
    QTest::newRow("cut at a word")
        << u"Please explain in simple words how a hash map works inside"_s
        << u"Please explain in simple words how a hash map…"_s;
    QTest::newRow("one long word") << QString(200, u'w') << QString(48, u'w') + u'…';
}

void ConversationTitleTest::takesTheFirstLineWithText()
{
    QFETCH(QString, message);
    QTEST(app::titleFromMessage(message), "title");
}

void ConversationTitleTest::staysShort()
{
    QString pairs;
    for (int i = 0; i < 100; ++i)
        pairs += u"😀"_s;
    for (const QString &message : { u'a' + pairs, pairs, QString(1'000'000, u'x') }) {
        const QString title = app::titleFromMessage(message);
        QVERIFY(title.size() <= 50);
        QVERIFY(title.toUcs4().last() == U'…');
        QVERIFY(!title.at(title.size() - 2).isHighSurrogate());
    }
}

void ConversationTitleTest::groupsByDay()
{
    const QDate today(2026, 11, 30);
    QCOMPARE(app::sectionOf(today, today), u"Today"_s);
    QCOMPARE(app::sectionOf(today.addDays(1), today), u"Today"_s); // a clock that was wrong
    QCOMPARE(app::sectionOf(today.addDays(-1), today), u"Yesterday"_s);
    QCOMPARE(app::sectionOf(today.addDays(-7), today), u"Previous 7 days"_s);
    QCOMPARE(app::sectionOf(today.addDays(-30), today), u"Previous 30 days"_s);
    QVERIFY(app::sectionOf(today.addDays(-100), today).endsWith(u"2026"_s));
}

} // namespace firesteel::test

QTEST_APPLESS_MAIN(firesteel::test::ConversationTitleTest)
#include "tst_conversation_title.moc"
