// SPDX-License-Identifier: MIT
//
// Words, pairs of CJK characters, and what is marked as found.
#include "app/store/search_text.h"

#include <QTest>

namespace firesteel::test {

using namespace Qt::Literals::StringLiterals;

class SearchTextTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void indexesPairs_data();
    void indexesPairs();
    void makesAnExpression_data();
    void makesAnExpression();
    void marksMatches_data();
    void marksMatches();
    void cutsAnExcerpt_data();
    void cutsAnExcerpt();
};

void SearchTextTest::indexesPairs_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("words");
    QTest::newRow("Latin") << u"How does a hash-map work?"_s << u"How does a hash map work"_s;
    QTest::newRow("kanji") << u"東京都へ行く"_s << u"東京 京都 都へ へ行 行く く"_s;
    QTest::newRow("one character") << u"山"_s << u"山"_s;
    QTest::newRow("long vowel") << u"タワー"_s << u"タワ ワー ー"_s;
    QTest::newRow("mixed") << u"GPUの温度は61℃"_s << u"GPU の温 温度 度は は 61 C"_s;
    QTest::newRow("Hangul") << u"안녕 세계"_s << u"안녕 녕 세계 계"_s;
    QTest::newRow("full width") << u"ＡＢＣ１２"_s << u"ABC12"_s;
    QTest::newRow("half width kana") << u"ﾀﾜｰ"_s << u"タワ ワー ー"_s;
    QTest::newRow("beyond the BMP") << u"𠮷野家"_s << u"𠮷野 野家 家"_s;
    QTest::newRow("nothing") << u" \n…!"_s << QString();
    QTest::newRow("lone surrogate") << QString(QChar(0xD842)) + u"a"_s << u"a"_s;
}

void SearchTextTest::indexesPairs()
{
    QFETCH(QString, text);
    QFETCH(QString, words);
    QCOMPARE(app::indexedText(text), words);
}

void SearchTextTest::makesAnExpression_data()
{
    QTest::addColumn<QString>("query");
    QTest::addColumn<QString>("expression");
    QTest::newRow("prefixes") << u"hash ma"_s << u"\"hash\"* AND \"ma\"*"_s;
    QTest::newRow("operators are words")
        << u"NOT \"x\" OR y*"_s << u"\"NOT\"* AND \"x\"* AND \"OR\"* AND \"y\"*"_s;
    QTest::newRow("a run of CJK") << u"東京都"_s << u"\"東京 京都\""_s;
    QTest::newRow("one CJK character") << u"都"_s << u"\"都\"*"_s;
    QTest::newRow("twice") << u"a a"_s << u"\"a\"*"_s;
    QTest::newRow("nothing to search for") << u"?! --"_s << QString();
}

void SearchTextTest::makesAnExpression()
{
    QFETCH(QString, query);
    QFETCH(QString, expression);
    QCOMPARE(app::matchExpression(query), expression);
}

void SearchTextTest::marksMatches_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("query");
    QTest::addColumn<QString>("marked"); // in brackets
    QTest::newRow("beginnings of words")
        << u"Maps, a map, a roadmap"_s << u"map"_s << u"[Map]s, a [map], a roadmap"_s;
    QTest::newRow("accents") << u"Une fête à Zürich"_s << u"fete zur"_s
                             << u"Une [fête] à [Zür]ich"_s;
    QTest::newRow("combining accent") << u"cafe\u0301s"_s << u"café"_s << u"[cafe\u0301]s"_s;
    QTest::newRow("inside a run of CJK") << u"東京都と京都"_s << u"京都"_s << u"東[京都]と[京都]"_s;
    QTest::newRow("Latin behind CJK") << u"温度GPU"_s << u"gpu"_s << u"温度[GPU]"_s;
    QTest::newRow("voicing marks differ") << u"はな ばな"_s << u"ばな"_s << u"はな [ばな]"_s;
    QTest::newRow("overlapping") << u"ababa"_s << u"ab aba"_s << u"[aba]ba"_s;
    QTest::newRow("full width") << u"ＧＰＵ use"_s << u"gpu"_s << u"[ＧＰＵ] use"_s;
    QTest::newRow("none") << u"abc"_s << u"x"_s << u"abc"_s;
}

void SearchTextTest::marksMatches()
{
    QFETCH(QString, text);
    QFETCH(QString, query);
    QFETCH(QString, marked);
    QString result = text;
    const QList<app::TextRange> found = app::matchesIn(text, query);
    for (auto range = found.rbegin(); range != found.rend(); ++range) {
        result.insert(range->begin + range->length, u']');
        result.insert(range->begin, u'[');
    }
    QCOMPARE(result, marked);
}

void SearchTextTest::cutsAnExcerpt_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("query");
    QTest::addColumn<int>("length");
    QTest::addColumn<QString>("html");
    QTest::newRow("whole") << u"a <b> & map\nof it"_s << u"map"_s << 40
                           << u"a &lt;b&gt; &amp; <b>map</b> of it"_s;
    QTest::newRow("cut on both sides") << u"one two three four five six seven"_s << u"four"_s << 16
                                       << u"…<b>four</b> five six se…"_s;
    QTest::newRow("without a match") << u"one two three"_s << u"x"_s << 7 << u"one two…"_s;
    QTest::newRow("no half characters") << u"ab😀😀"_s << u"ab"_s << 3 << u"<b>ab</b>…"_s;
}

void SearchTextTest::cutsAnExcerpt()
{
    QFETCH(QString, text);
    QFETCH(QString, query);
    QFETCH(int, length);
    QFETCH(QString, html);
    QCOMPARE(app::excerptHtml(text, query, length), html);
}

} // namespace firesteel::test

QTEST_GUILESS_MAIN(firesteel::test::SearchTextTest)
#include "tst_search_text.moc"
