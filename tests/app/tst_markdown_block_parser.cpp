// SPDX-License-Identifier: MIT
//
// Streaming equals parsing the whole: whatever the pieces, the blocks at the end are those of one
// parse, and already before it wherever no later line can change them.
#include "app/markdown/markdown_block_parser.h"
#include "app/markdown/markdown_renderer.h"

#include <QElapsedTimer>
#include <QRandomGenerator>
#include <QRegularExpression>
#include <QTest>

#include <array>

namespace firesteel::test {

namespace {

using namespace Qt::Literals::StringLiterals;
using app::MarkdownBlock;
using app::MarkdownBlockParser;
using app::renderMarkdown;

QByteArray described(const std::vector<MarkdownBlock> &blocks)
{
    QString text;
    for (const MarkdownBlock &block : blocks) {
        text += u"%1 l%2 i%3 q%4 [%5] {%6} <%7|%8> (%9-%10)"_s.arg(static_cast<int>(block.kind))
                    .arg(block.level)
                    .arg(block.indent)
                    .arg(block.quoteDepth)
                    .arg(block.marker, block.html, block.language, block.code)
                    .arg(block.sourceBegin)
                    .arg(block.sourceEnd);
        text += block.tableHeader.join(u'|');
        for (const QStringList &row : block.tableRows)
            text += u'/' + row.join(u'|');
        text += u'\n';
    }
    return text.toUtf8();
}

// Everything but where the last block ends, which only the end of the text decides.
std::vector<MarkdownBlock> comparable(std::vector<MarkdownBlock> blocks)
{
    if (!blocks.empty())
        blocks.back().sourceEnd = 0;
    return blocks;
}

} // namespace

class MarkdownBlockParserTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void endsLikeOneParse_data();
    void endsLikeOneParse();
    void staysProportional_data();
    void staysProportional();
    void cutsLongParagraphs();
    void neverMakesForeignTags();
};

void MarkdownBlockParserTest::endsLikeOneParse_data()
{
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<bool>("isEqualBeforeEnd");
    const auto add = [](const char *name, QByteArray text, bool isEqualBeforeEnd = true) {
        QTest::newRow(name) << text << isEqualBeforeEnd;
    };
    add("setext underline", "Title\n===\n\ntext\n\nSecond\nline\n---\nafter\n");
    add("late table delimiter", "a | b\n--- | :-:\n1 | **2**\n3 | 4\n\nend\n");
    add("lazy continuation", "> quote\nlazy\n\n- item\nlazy too\n\ntext\n");
    add("tight and loose lists",
        "- a\n- b\n\ntext\n\n1. one\n\n2. two\n\n   more\n\n   - deep\n\ntext\n");
    add("two lists", "- a\n- b\n\n* c\n* d\n\n1) x\n2) y\n\nend");
    add("reference defined later",
        "See [it] and [that][t].\n\nmore\n\n[it]: https://a.example\n[t]: https://b.example 'x'\n",
        false);
    add("reference defined before", "[it]: https://a.example\n\nSee [it].\n\nand [it] again\n");
    add("fences of different length", "````md\n```py\nx\n```\n````\n\n~~~\na\n```\n~~~~\nafter\n");
    add("fence in list", "- item\n\n  ```c\n  int x;\n\n  int y;\n  ```\n- next\n\nend\n");
    add("fence below list", "1. item\n\n```sh\nls\n\nls -l\n```\n\n2. next\n\n```sh\npwd\n```\n");
    add("unclosed fence", "text\n```py\ndef f():\n\n    return 1\n");
    add("indented fence", "text\n\n  ```\n  a\n    b\n c\n  ```\nend\n");
    add("empty fence", "```\n```\n\n```js\n\n```\n");
    add("open emphasis", "**bold and *nested\n\nnext `code\n\n~~gone~~\n");
    add("crlf",
        "# Title\r\n\r\ntext\r\nmore\r\n\r\n```py\r\nx\r\n\r\ny\r\n```\r\n\r\n- a\r\n- b\r\n");
    add("tabs", "-\titem\n\n\tpara\n\n\tcode\n\n```make\nall:\n\tgcc x.c\n \tnext\n```\n");
    add("tags", "a <tag> b\n\n<div>\n*x*\n</div>\n\n<!-- c -->\n\nvector<int>\n");
    add("nul", QByteArray("a\0b\n\n```\nx\0y\n```\n", 17));
    add("unicode", "Grüße 漢字 😀\n\n- 日本\n- עברית\n\n> مرحبا\n\n```\n😀\n```\n");
    add("task list", "- [ ] open\n- [x] done\n  - [ ] deep\n\ntext\n");
    add("headings", "# One\n## Two\ntext\n### Three ###\n\n####### seven\n#no\n");
    add("rules", "a\n\n---\n\nb\n***\nc\n\n- - -\n\n_ _ _\n");
    add("quote with code", "> text\n>\n> ```py\n> x = 1\n>\n> y = 2\n> ```\n> - item\n\nend\n");
    add("indented code", "text\n\n    code\n\n    more\n\n- a\n\n      deep code\n\nend\n");
    add("tex",
        "\\( a_1 \\) and $x_1 * y * z_2$ and\n\n\\[\nx = y \\\\ z\n\\]\n\n$$\na * b * c\n$$\n");
    add("links",
        "[a](https://x.example) [b](javascript:alert(1)) ![p](http://x.example/i.png) "
        "<https://y.example> www.z.example\n");
    add("entities", "&lt;b&gt; &amp; &copy; &#65; &#x1F600; &nope; &#0;\n");
    add("empty item", "-\n- a\n-\n\n1.\n\ntext\n");
    add("blank", "\n\n   \n\n");
    add("numbers", "2. two\n3. three\n\npara\n2. not a list\n```\ncode\n\ncode\n```\n");
}

void MarkdownBlockParserTest::endsLikeOneParse()
{
    QFETCH(QByteArray, text);
    QFETCH(bool, isEqualBeforeEnd);
    const std::string_view whole(text.constData(), static_cast<std::size_t>(text.size()));
    const std::vector<MarkdownBlock> expected = renderMarkdown(whole);
    QRandomGenerator random(7);
    for (int round = 0; round < 12; ++round) {
        MarkdownBlockParser parser;
        std::vector<MarkdownBlock> shown; // as a model that trusts the reported changes has it
        const auto apply = [&](MarkdownBlockParser::Change change) {
            QCOMPARE(change.blocksBefore, shown.size());
            if (change.isEmpty)
                return;
            shown.resize(std::min(shown.size(), change.firstChanged));
            shown.insert(shown.end(),
                         parser.blocks().begin() + static_cast<std::ptrdiff_t>(change.firstChanged),
                         parser.blocks().end());
        };
        for (std::size_t at = 0; at < whole.size();) {
            const std::size_t piece = round == 0 ? 1 : 1 + random.bounded(round * 3);
            parser.append(whole.substr(at, piece));
            at += piece;
            apply(parser.update());
        }
        QCOMPARE(described(shown), described(parser.blocks()));
        if (isEqualBeforeEnd)
            QCOMPARE(described(comparable(parser.blocks())), described(comparable(expected)));
        apply(parser.finish());
        QCOMPARE(described(parser.blocks()), described(expected));
        QCOMPARE(described(shown), described(expected));
    }
}

void MarkdownBlockParserTest::staysProportional_data()
{
    QTest::addColumn<QByteArray>("text");
    QTest::newRow("10,000 paragraphs") << QByteArray("A line of *text* here.\n\n").repeated(10'000);
    QTest::newRow("10,000 lines of one paragraph")
        << QByteArray("A line of *text* here.\n").repeated(10'000);
    QTest::newRow("10,000 lines of code")
        << "```py\n" + QByteArray("x = f(1)  # comment\n").repeated(10'000) + "```\n";
    QTest::newRow("10,000 items") << QByteArray("- an item with `code`\n").repeated(10'000);
    QTest::newRow("10,000 table rows")
        << "|a|b|\n|-|-|\n" + QByteArray("| one | **two** |\n").repeated(10'000);
    QTest::newRow("one long word") << QByteArray(300'000, 'w');
    QTest::newRow("deep quotes") << QByteArray("> ").repeated(500) + "text\n";
    QTest::newRow("open brackets") << QByteArray("[").repeated(20'000);
}

// The bound is far above what it takes and far below what parsing everything for each token would.
void MarkdownBlockParserTest::staysProportional()
{
    QFETCH(QByteArray, text);
    const std::string_view whole(text.constData(), static_cast<std::size_t>(text.size()));
    QElapsedTimer clock;
    clock.start();
    MarkdownBlockParser parser;
    const std::size_t piece = whole.size() / 1000 + 1;
    for (std::size_t at = 0; at < whole.size(); at += piece) {
        parser.append(whole.substr(at, piece));
        parser.update();
    }
    parser.finish();
    QVERIFY2(clock.elapsed() < 60'000, qPrintable(QString::number(clock.elapsed())));
    QCOMPARE(described(parser.blocks()), described(renderMarkdown(whole)));
}

void MarkdownBlockParserTest::cutsLongParagraphs()
{
    const std::string text = QByteArray("some **bold words** and [a link](https://x.example) ")
                                 .repeated(2'000)
                                 .toStdString();
    const std::vector<MarkdownBlock> blocks = renderMarkdown(text);
    QVERIFY(blocks.size() > 10);
    for (const MarkdownBlock &block : blocks) {
        QVERIFY(block.html.size() < 2 * app::kLongestParagraph);
        QCOMPARE(block.html.count(u"<b>"_s), block.html.count(u"</b>"_s));
        QCOMPARE(block.html.count(u"<a "_s), block.html.count(u"</a>"_s));
    }
}

// Whatever the source, the only tags are ours: raw HTML is text, and only web and mail links can be
// clicked.
void MarkdownBlockParserTest::neverMakesForeignTags()
{
    static const QRegularExpression ours(
        u"</?(?:b|i|s|code)>|<br>|</a>|<a href=\"(?:https?:|mailto:)[^\"<>]*\">"_s);
    QRandomGenerator random(11);
    static constexpr std::array kPieces { "<script>",
                                          "</b>",
                                          "<a href='x'>",
                                          "[a](javascript:x)",
                                          "[b](https://e.example/\"><img>)",
                                          "![i](file:///etc)",
                                          "**",
                                          "*",
                                          "`",
                                          "~~",
                                          "\n",
                                          "\n\n",
                                          "- ",
                                          "> ",
                                          "|",
                                          "|-|-|\n",
                                          "```",
                                          "&lt;",
                                          "&#60;",
                                          "\\<",
                                          "<http://a.example>",
                                          "text ",
                                          "$",
                                          "\\(" };
    for (int round = 0; round < 3'000; ++round) {
        std::string text;
        for (int i = 0; i < 24; ++i)
            text += kPieces.at(random.bounded(static_cast<quint32>(kPieces.size())));
        for (const MarkdownBlock &block : renderMarkdown(text)) {
            QStringList htmls = block.tableHeader + QStringList { block.html };
            for (const QStringList &row : block.tableRows)
                htmls += row;
            for (QString html : htmls)
                QVERIFY2(!html.remove(ours).contains(QRegularExpression(u"[<>]"_s)), text.c_str());
        }
    }
}

} // namespace firesteel::test

QTEST_APPLESS_MAIN(firesteel::test::MarkdownBlockParserTest)
#include "tst_markdown_block_parser.moc"
