// SPDX-License-Identifier: MIT
//
// TeX in Markdown: every formula is shown letter by letter, whatever its letters mean to Markdown,
// and nothing else is taken for one.
#include "app/markdown/markdown_block_parser.h"
#include "app/markdown/markdown_renderer.h"
#include "app/markdown/math_mask.h"

#include <QRandomGenerator>
#include <QTest>

#include <array>
#include <string>

namespace firesteel::test {

using namespace Qt::Literals::StringLiterals;
using app::MarkdownBlock;
using app::MarkdownBlockParser;
using app::maskMath;
using app::renderMarkdown;

namespace {

// A block a line: html, or the code between its language and the end.
QString described(const std::vector<MarkdownBlock> &blocks)
{
    QStringList lines;
    for (const MarkdownBlock &block : blocks) {
        QString line = QString(block.indent + block.quoteDepth, u'>') + block.marker;
        if (block.kind == MarkdownBlock::Kind::Code)
            line += block.language + u'{' + block.code + u'}';
        else if (block.kind == MarkdownBlock::Kind::Table)
            line += block.tableHeader.join(u'|');
        else
            line += block.html;
        for (const QStringList &row : block.tableRows)
            line += u'/' + row.join(u'|');
        lines << line.replace(u'\n', u"\\n"_s);
    }
    return lines.join(u'\n');
}

} // namespace

class FormulasTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void areShownLetterByLetter_data();
    void areShownLetterByLetter();
    void growWhileTheyAreWritten();
    void masksAreAsLongAsTheText();
    void stayProportional();
};

void FormulasTest::areShownLetterByLetter_data()
{
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QString>("blocks");
    const auto row = [](const char *name, const char *text, const QString &blocks) {
        QTest::newRow(name) << QByteArray(text) << blocks;
    };
    row("in the text", "So \\(a_1 * b_2 * c\\) and \\(x^*y^*\\).",
        u"So <code>a_1 * b_2 * c</code> and <code>x^*y^*</code>."_s);
    row("side by side", "\\(a\\)\\(b\\)", u"<code>a</code><code>b</code>"_s);
    row("behind a letter", "f\\(x\\)y", u"f<code>x</code>y"_s);
    row("between dollars", "$e^{i\\pi}$ and $x$", u"<code>e^{i\\pi}</code> and <code>x</code>"_s);
    row("money", "It costs $5 or $6$ here, $10 there",
        u"It costs $5 or <code>6</code> here, $10 there"_s);
    row("money in words", "from $five to ten$ a day", u"from $five to ten$ a day"_s);
    row("letters that are html", "\\(a < b & c\\)", u"<code>a &lt; b &amp; c</code>"_s);
    row("on its own", "\\[ E = mc^2 \\]", u"latex{E = mc^2}"_s);
    row("on its own, with dollars", "$$\na * b * c\n$$", u"latex{a * b * c}"_s);
    row("between words", "We have\n\\[\na = b\n\\]\nas said.",
        u"We have\nlatex{a = b}\nas said."_s);
    row("two after another", "\\[a\\]\n\\[b\\]", u"latex{a}\nlatex{b}"_s);
    row("lines that would be lists", "$$\na\n= b\n- c\n+ d\n1. e\n# f\n> g\n$$\n\nend",
        u"latex{a\\n= b\\n- c\\n+ d\\n1. e\\n# f\\n> g}\nend"_s);
    row("emphasis around", "**\\(a_b\\)** and *see \\[x\\]*",
        u"<b><code>a_b</code></b> and <i>see <code>x</code></i>"_s);
    row("in a list", "1. First\n   \\[\n   a\n   - b\n   \\]\n   then\n2. Next",
        u">1.First\n>latex{a\\n- b}\n>then\n>2.Next"_s);
    row("first in an item", "- $$x$$\n- b", u">•\n>latex{x}\n>•b"_s);
    row("in a quote", "> see\n> $$\n> a > b\n> $$", u">see\n>latex{a > b}"_s);
    row("in a table", "| \\(|x|\\) | $y_1$ |\n|---|---|\n| a | \\[z\\] |",
        u"<code>|x|</code>|<code>y_1</code>/a|<code>z</code>"_s);
    row("in a heading", "# The \\(O(n)\\) case", u"The <code>O(n)</code> case"_s);
    row("code", "`\\(x\\)` and ``$$ ` $$``", u"<code>\\(x\\)</code> and <code>$$ ` $$</code>"_s);
    row("a fence", "```sh\necho $$\n\\[ -f x \\]\n```\n\nand $$a$$",
        u"sh{echo $$\\n\\[ -f x \\]}\nand\nlatex{a}"_s);
    row("a fence in a list", "- ```sh\n  echo $$\n  ```\n- echo $$",
        u">•\n>sh{echo $$}\n>•echo $$"_s);
    row("indented code", "text\n\n    $$ a\n    b $$\n", u"text\n{$$ a\\nb $$}"_s);
    row("cut by a blank line", "\\[ a\n\nb \\]", u"\\[ a\nb \\]"_s);
    row("never closed", "\\(a + b", u"\\(a + b"_s);
    row("never opened", "a + b\\) and \\]", u"a + b\\) and \\]"_s);
    row("empty", "\\(\\) and \\[ \\] and $$$$", u"\\(\\) and \\[ \\] and $$$$"_s);
    row("a backslash before it", "\\\\(a\\\\)", u"\\(a\\)"_s);
    row("a row end before the closing", "\\[ a \\\\\\] \\]", u"latex{a \\\\}\n\\]"_s);
    row("a link with parentheses", "[w](https://e.org/a_\\(b\\)) \\(c\\)",
        u"<a href=\"https://e.org/a_(b)\">w</a> <code>c</code>"_s);
    row("other alphabets", "\\(ж_1 · 数\\) é", u"<code>ж_1 · 数</code> é"_s);
    row("line ends of others", "a\r\n\\[\r\nb\r\n+ c\r\n\\]\r\nd", u"a\nlatex{b\\n+ c}\nd"_s);
}

void FormulasTest::areShownLetterByLetter()
{
    QFETCH(const QByteArray, text);
    QFETCH(const QString, blocks);
    QCOMPARE(described(renderMarkdown(text.toStdString())), blocks);
}

// What is being written is a formula from its first letter on, and never anything else again.
void FormulasTest::growWhileTheyAreWritten()
{
    MarkdownBlockParser parser;
    QStringList seen;
    for (const char *piece : { "Then\n\n\\[", "\n", "a\n", "+ b", "\n\\]", "\n\nso" }) {
        parser.append(piece);
        parser.update();
        seen << described(parser.blocks());
    }
    QCOMPARE(seen.first(2), QStringList({ u"Then\n\\["_s, u"Then\n\\["_s }));
    QCOMPARE(seen.sliced(2),
             QStringList({ u"Then\nlatex{a}"_s, u"Then\nlatex{a\\n+ b}"_s,
                           u"Then\nlatex{a\\n+ b}"_s, u"Then\nlatex{a\\n+ b}\nso"_s }));
    parser.finish();
    QCOMPARE(described(parser.blocks()), seen.last());
}

void FormulasTest::masksAreAsLongAsTheText()
{
    static constexpr std::array kPieces { "\\(", "\\)",  "\\[",  "\\]", "$$",  "$",   "`",  "```\n",
                                          "a",   "\n",   "\r\n", " ",   "- ",  "> ",  "\\", "](",
                                          ")",   "\n\n", "é",    "|",   "1. ", "~~~", ",",  "*" };
    QRandomGenerator random(6);
    for (int round = 0; round < 20'000; ++round) {
        std::string text;
        for (int i = 0; i < 12; ++i)
            text += kPieces.at(random.bounded(static_cast<quint32>(kPieces.size())));
        const std::string masked = maskMath(text);
        const std::size_t added = masked.size() - text.size();
        QVERIFY2(added == 0 || (added == 2 && masked.ends_with("$$")), text.c_str());
        for (std::size_t i = 0; i < text.size(); ++i) {
            if (text[i] == '\n' || text[i] == '\r')
                QVERIFY2(masked[i] == text[i], text.c_str());
        }
        renderMarkdown(text); // what stands where is looked up by offset
    }
}

void FormulasTest::stayProportional()
{
    constexpr int kPieces = 50'000; // quadratic work would take an hour
    for (const char *piece : { "\\(", "\\[ ", "$$ ", "`` ", "[](", "\\(a\\)", "$$a\n", "1. " }) {
        const std::string text = QByteArray(piece).repeated(kPieces).toStdString();
        QVERIFY(maskMath(text).size() >= text.size());
    }
}

} // namespace firesteel::test

QTEST_GUILESS_MAIN(firesteel::test::FormulasTest)

#include "tst_formulas.moc"
