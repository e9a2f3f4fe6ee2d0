// SPDX-License-Identifier: MIT
//
// Streaming equals parsing the whole: whatever the pieces, the blocks at the end are those of one
// parse, and already before it wherever no later line can change them.
#include "app/markdown/markdown_block_parser.h"
#include "app/markdown/markdown_renderer.h"

#include <QRandomGenerator>
#include <QTest>

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

} // namespace firesteel::test

QTEST_APPLESS_MAIN(firesteel::test::MarkdownBlockParserTest)
#include "tst_markdown_block_parser.moc"
