// SPDX-License-Identifier: MIT
#include "app/remote/server_sent_events.h"

#include <QTest>

namespace firesteel::test {

using app::ServerSentEvents;
using Events = std::vector<QByteArray>;

class ServerSentEventsTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void reads_data();
    void reads();
    void isTheSameForEverySplit();
    void knowsAnUnfinishedEvent();
    void endsAtAnEventWithoutEnd();
};

void ServerSentEventsTest::reads_data()
{
    QTest::addColumn<QByteArray>("stream");
    QTest::addColumn<QList<QByteArray>>("events");
    QTest::newRow("one") << QByteArray("data: a\n\n") << QList<QByteArray> { "a" };
    QTest::newRow("without the blank") << QByteArray("data:a\n\n") << QList<QByteArray> { "a" };
    QTest::newRow("only one blank is dropped")
        << QByteArray("data:  a\n\n") << QList<QByteArray> { " a" };
    QTest::newRow("CRLF") << QByteArray("data: a\r\n\r\ndata: b\r\n\r\n")
                          << QList<QByteArray> { "a", "b" };
    QTest::newRow("CR") << QByteArray("data: a\r\rdata: b\r\r") << QList<QByteArray> { "a", "b" };
    QTest::newRow("lines of data")
        << QByteArray("data: a\ndata\ndata: b\n\n") << QList<QByteArray> { "a\n\nb" };
    QTest::newRow("comments and other fields")
        << QByteArray(": ping\n\nevent: x\nid: 1\nretry: 5\ndata: a\n: ping\n\n")
        << QList<QByteArray> { "a" };
    QTest::newRow("no data, no event") << QByteArray("event: x\n\n\n\n") << QList<QByteArray> {};
    QTest::newRow("empty data") << QByteArray("data:\n\n") << QList<QByteArray> { "" };
    QTest::newRow("a name that only begins so")
        << QByteArray("database: a\n\n") << QList<QByteArray> {};
    QTest::newRow("byte order mark") << QByteArray("\xEF\xBB\xBF"
                                                   "data: a\n\n")
                                     << QList<QByteArray> { "a" };
    QTest::newRow("UTF-8") << QByteArray("data: \xE2\x82\xAC\n\n")
                           << QList<QByteArray> { "\xE2\x82\xAC" };
}

void ServerSentEventsTest::reads()
{
    QFETCH(QByteArray, stream);
    QFETCH(QList<QByteArray>, events);
    ServerSentEvents parser;
    QCOMPARE(parser.add(stream), Events(events.begin(), events.end()));
    QVERIFY(!parser.isTooLong());
}

void ServerSentEventsTest::isTheSameForEverySplit()
{
    const QByteArray stream = "\xEF\xBB\xBF: hello\r\n\r\ndata: {\"a\":\r\ndata: \"\xE2\x82\xAC\"}"
                              "\r\n\r\ndata: b\r\rdata: c\n\ndata: [DONE]\n\n";
    const Events expected { "{\"a\":\n\"\xE2\x82\xAC\"}", "b", "c", "[DONE]" };
    for (qsizetype first = 0; first <= stream.size(); ++first) {
        for (qsizetype second = first; second <= stream.size(); ++second) {
            ServerSentEvents parser;
            Events events;
            for (const QByteArray &part :
                 { stream.first(first), stream.sliced(first, second - first),
                   stream.sliced(second) }) {
                for (const QByteArray &event : parser.add(part))
                    events.push_back(event);
            }
            QCOMPARE(events, expected);
        }
    }
}

void ServerSentEventsTest::knowsAnUnfinishedEvent()
{
    ServerSentEvents parser;
    QCOMPARE(parser.add("data: a\n"), Events {});
    QCOMPARE(parser.add("data: b"), Events {});
    QCOMPARE(parser.add("\n"), Events {});
    QCOMPARE(parser.add("\n"), Events { "a\nb" });
}

void ServerSentEventsTest::endsAtAnEventWithoutEnd()
{
    ServerSentEvents parser;
    const QByteArray piece(1 << 20, 'a');
    parser.add("data: ");
    for (qsizetype sent = 0; sent < ServerSentEvents::kLongestEvent; sent += piece.size())
        parser.add(piece);
    QVERIFY(parser.isTooLong());
    QCOMPARE(parser.add("\n\ndata: b\n\n"), Events {});
}

} // namespace firesteel::test

QTEST_GUILESS_MAIN(firesteel::test::ServerSentEventsTest)
#include "tst_server_sent_events.moc"
