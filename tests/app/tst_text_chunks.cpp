// SPDX-License-Identifier: MIT
#include "app/chat/text_chunks.h"

#include <QTest>

#include <string>

namespace firesteel::test {

using app::TextChunk;
using app::textChunks;

class TextChunksTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void losesNothing_data();
    void losesNothing();
    void keepsEarlierCuts();
};

void TextChunksTest::losesNothing_data()
{
    QTest::addColumn<QByteArray>("text");
    QTest::newRow("empty") << QByteArray();
    QTest::newRow("short") << QByteArray("one\ntwo");
    QTest::newRow("one long word") << QByteArray(50'000, 'w');
    QTest::newRow("words") << QByteArray("some words ").repeated(5'000);
    QTest::newRow("lines") << QByteArray("a line of text\n").repeated(20'000);
    QTest::newRow("long lines") << (QByteArray(5'000, 'x') + '\n').repeated(9);
    QTest::newRow("characters of four bytes")
        << QByteArray("a") + QByteArray("\xF0\x9F\x98\x80").repeated(9'000);
}

void TextChunksTest::losesNothing()
{
    QFETCH(QByteArray, text);
    const std::string_view whole(text.constData(), static_cast<std::size_t>(text.size()));
    std::size_t end = 0;
    for (const TextChunk chunk : textChunks(whole)) {
        QVERIFY(chunk.begin == end || (chunk.begin == end + 1 && whole[end] == '\n'));
        QVERIFY(chunk.end - chunk.begin <= 6000);
        const QByteArray piece = text.mid(static_cast<qsizetype>(chunk.begin),
                                          static_cast<qsizetype>(chunk.end - chunk.begin));
        QVERIFY(QString::fromUtf8(piece).toUtf8() == piece); // no character is cut
        end = chunk.end;
    }
    QVERIFY(end == whole.size() || (end + 1 == whole.size() && whole[end] == '\n'));
}

void TextChunksTest::keepsEarlierCuts()
{
    const std::string text
        = (QByteArray("words and a line\n").repeated(1'500) + QByteArray(9'000, 'w')).toStdString();
    const std::vector<TextChunk> all = textChunks(text);
    for (std::size_t size = 0; size < text.size(); size += 97) {
        const std::vector<TextChunk> some = textChunks(std::string_view(text).substr(0, size));
        for (std::size_t i = 0; i + 1 < some.size(); ++i)
            QVERIFY(some[i].begin == all[i].begin && some[i].end == all[i].end);
    }
}

} // namespace firesteel::test

QTEST_APPLESS_MAIN(firesteel::test::TextChunksTest)
#include "tst_text_chunks.moc"
