// SPDX-License-Identifier: MIT
//
// Finding words in the open conversation: where they are, in what order the reader meets them, and
// what happens to that while rows come and go.
#include "app/chat/chat_find.h"
#include "app/chat/message_block_model.h"
#include "app/markdown/inline_html.h"

#include <QSignalSpy>
#include <QTest>

#include <vector>

namespace firesteel::test {

using namespace Qt::Literals::StringLiterals;
using app::ChatFind;
using app::MessageBlockModel;

namespace {

struct Chat
{
    void ask(const QString &text) { model.appendUserMessage(text, { ++lastId, {}, {} }); }
    void answer(const char *markdown, bool isFinished = true)
    {
        model.beginAnswer(u"…"_s, { ++lastId, {}, {} });
        model.appendText(markdown);
        model.flush();
        if (isFinished)
            model.endAnswer({});
    }
    // Where the current match is, as "row.part.nth".
    QString place() const
    {
        for (int row = 0; row < model.rowCount(); ++row) {
            for (int part = 0; part < 20; ++part) {
                for (int nth = 0; nth < 20; ++nth) {
                    if (find.isCurrent({ row, part, nth }))
                        return u"%1.%2.%3"_s.arg(row).arg(part).arg(nth);
                }
            }
        }
        return u"none"_s;
    }

    app::RecordId lastId = 0;
    MessageBlockModel model;
    ChatFind find { model };
};

} // namespace

class ChatFindTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void textIsWhatIsShown();
    void findsInEveryKindOfRow();
    void goesOnFromWhereTheReaderIs();
    void goesRound();
    void typingOnStaysInPlace();
    void nothingIsFoundWhileItIsNotShown();
    void rowsThatComeAreSearched();
    void theReaderKeepsTheMatchWhileRowsComeAndGo();
    void tellsThePlaceOnce();
};

void ChatFindTest::textIsWhatIsShown()
{
    QCOMPARE(app::htmlText(u"a <b>b</b> &lt;c&gt; &amp;amp;"), u"a b <c> &amp;"_s);
    QCOMPARE(app::htmlText(u"one\ntwo  three<br>four"), u"one two three\u2028four"_s);
    QCOMPARE(app::htmlText(u"<a href=\"https://x.org/?a&gt;b\">link</a> &"), u"link &"_s);
    QCOMPARE(app::htmlText(u""), QString());
}

void ChatFindTest::findsInEveryKindOfRow()
{
    Chat chat;
    chat.ask(u"Key? key!"_s); // two
    chat.answer("# A Key\n\nThe **ke**y is a `key`.\n\n- key\n\n> key\n\n"
                "| key | x |\n|---|---|\n| a | a key<key> |\n\n```py\nkey = 1\n```\n");
    chat.find.setShown(true);
    chat.find.find(u"KEY"_s, 0);
    // 2 asked, 1 heading, 2 paragraph (one across the end of bold), list, quote, 3 in cells, code.
    QCOMPARE(chat.find.count(), 11);
    QCOMPARE(chat.find.current(), 1);
    QCOMPARE(chat.place(), u"0.0.0"_s);
    chat.find.find(u"strong"_s, 0); // a tag is no text
    QCOMPARE(chat.find.count(), 0);
    QCOMPARE(chat.find.current(), 0);
    QCOMPARE(chat.place(), u"none"_s);
    chat.find.next(); // nothing to go to
    chat.find.previous();
    QCOMPARE(chat.find.current(), 0);
}

void ChatFindTest::goesOnFromWhereTheReaderIs()
{
    Chat chat;
    chat.ask(u"one"_s);
    chat.answer("one\n\ntwo\n\none one");
    chat.find.setShown(true);
    QSignalSpy revealed(&chat.find, &ChatFind::revealRequested);
    chat.find.find(u"one"_s, 2);
    QCOMPARE(chat.place(), u"3.0.0"_s);
    QCOMPARE(chat.find.current(), 3);
    QCOMPARE(revealed.last().first().toInt(), 3);
    chat.find.find(u"two"_s, 0); // nothing after the match before: round to the first
    QCOMPARE(chat.place(), u"2.0.0"_s);
}

void ChatFindTest::goesRound()
{
    Chat chat;
    chat.ask(u"x"_s);
    chat.answer("| x | y |\n|---|---|\n| z | x x |\n");
    chat.find.setShown(true);
    chat.find.find(u"x"_s, 0);
    QStringList places;
    for (int i = 0; i < 5; ++i) {
        places << chat.place();
        chat.find.next();
    }
    QCOMPARE(places, QStringList({ u"0.0.0"_s, u"1.0.0"_s, u"1.3.0"_s, u"1.3.1"_s, u"0.0.0"_s }));
    chat.find.previous();
    chat.find.previous();
    QCOMPARE(chat.place(), u"1.3.1"_s);
}

void ChatFindTest::typingOnStaysInPlace()
{
    Chat chat;
    chat.ask(u"map, mat"_s);
    chat.answer("map mat matter");
    chat.find.setShown(true);
    chat.find.find(u"ma"_s, 1);
    QCOMPARE(chat.place(), u"1.0.0"_s);
    chat.find.next();
    QCOMPARE(chat.place(), u"1.0.1"_s);
    chat.find.find(u"mat"_s, 0);
    QCOMPARE(chat.place(), u"1.0.0"_s); // the same word, the first of its row now
    chat.find.find(u"matt"_s, 0);
    QCOMPARE(chat.find.count(), 1);
    QCOMPARE(chat.place(), u"1.0.0"_s); // "matter"
}

void ChatFindTest::nothingIsFoundWhileItIsNotShown()
{
    Chat chat;
    chat.ask(u"here"_s);
    chat.find.find(u"here"_s, 0);
    QCOMPARE(chat.find.count(), 0);
    chat.find.setShown(true);
    QCOMPARE(chat.find.count(), 1);
    chat.find.setShown(false);
    QCOMPARE(chat.find.count(), 0);
    QCOMPARE(chat.find.query(), u"here"_s); // for the next time
}

void ChatFindTest::rowsThatComeAreSearched()
{
    Chat chat;
    chat.ask(u"tree"_s);
    chat.find.setShown(true);
    chat.find.find(u"tree"_s, 0);
    QCOMPARE(chat.find.count(), 1);
    chat.answer("A tree", false);
    QTRY_COMPARE(chat.find.count(), 2);
    chat.model.appendText(" and a tree");
    chat.model.flush();
    chat.find.next(); // at once: a step never goes by an old list
    QCOMPARE(chat.find.count(), 3);
    chat.model.endAnswer({});
    chat.model.removeFrom(0);
    QTRY_COMPARE(chat.find.count(), 0);
}

void ChatFindTest::theReaderKeepsTheMatchWhileRowsComeAndGo()
{
    Chat chat;
    chat.ask(u"a"_s);
    chat.answer("a\n\na a\n\n```\na\n```\n");
    chat.find.setShown(true);
    chat.find.find(u"a"_s, 2);
    chat.find.next();
    QCOMPARE(chat.place(), u"2.0.1"_s);
    QSignalSpy changed(&chat.find, &ChatFind::changed);
    QSignalSpy revealed(&chat.find, &ChatFind::revealRequested);
    chat.ask(u"a"_s);
    QVERIFY(changed.wait());
    QCOMPARE(chat.find.count(), 6);
    QCOMPARE(chat.place(), u"2.0.1"_s);
    QCOMPARE(revealed.size(), 0); // nobody is pulled along
}

void ChatFindTest::tellsThePlaceOnce()
{
    Chat chat;
    chat.ask(u"a a"_s);
    chat.find.setShown(true);
    QSignalSpy placed(&chat.find, &ChatFind::placed);
    QQuickItem item;
    chat.find.place(&item, {}); // no step was made
    QCOMPARE(placed.size(), 0);
    chat.find.find(u"a"_s, 0);
    chat.find.place(&item, QRectF(1, 2, 3, 4));
    chat.find.place(&item, QRectF(1, 2, 3, 4)); // drawn again
    QCOMPARE(placed.size(), 1);
    QCOMPARE(placed.first().at(1).toRectF(), QRectF(1, 2, 3, 4));
    chat.find.next();
    chat.find.place(&item, {});
    QCOMPARE(placed.size(), 2);
}

} // namespace firesteel::test

QTEST_MAIN(firesteel::test::ChatFindTest)

#include "tst_chat_find.moc"
