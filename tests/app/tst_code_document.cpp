// SPDX-License-Identifier: MIT
//
// Code in a real TextEdit: appended, coloured line by line, recoloured with the theme.
#include "app/markdown/code_document.h"

#include <QAbstractTextDocumentLayout>
#include <QQmlComponent>
#include <QQmlEngine>
#include <QQuickItem>
#include <QQuickTextDocument>
#include <QTest>
#include <QTextBlock>
#include <QTextDocument>

#include <memory>

namespace firesteel::test {

using namespace Qt::Literals::StringLiterals;
using app::CodeDocument;

class CodeDocumentTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init();
    void cleanup();
    void appendsOnlyTheTail();
    void replacesOtherCode();
    void coloursFinishedLinesOnly();
    void followsTheTheme();
    void coloursLongCodeInSlices();
    void knowsLanguagesByManyNames();
    void leavesItsDocumentAsItIs();

private:
    QTextDocument *document() const { return m_quickDocument->textDocument(); }
    QList<QTextLayout::FormatRange> formats(int line) const
    {
        return document()->findBlockByNumber(line).layout()->formats();
    }

    QQmlEngine m_engine;
    std::unique_ptr<QObject> m_edit;
    QQuickTextDocument *m_quickDocument = nullptr;
};

void CodeDocumentTest::init()
{
    QQmlComponent component(&m_engine);
    component.setData("import QtQuick\nTextEdit { readOnly: true; textFormat: TextEdit.PlainText }",
                      {});
    m_edit.reset(component.create());
    QVERIFY2(m_edit, qPrintable(component.errorString()));
    m_quickDocument = m_edit->property("textDocument").value<QQuickTextDocument *>();
    QVERIFY(m_quickDocument);
}

void CodeDocumentTest::cleanup() { m_edit.reset(); }

void CodeDocumentTest::appendsOnlyTheTail()
{
    CodeDocument code;
    code.setTextDocument(m_quickDocument);
    code.setCode(u"x = 1\n"_s);
    QList<int> positions;
    connect(document(), &QTextDocument::contentsChange, this,
            [&](int at, int, int) { positions << at; });
    code.setCode(u"x = 1\ny = 2"_s);
    QCOMPARE(document()->toPlainText(), u"x = 1\ny = 2"_s);
    QCOMPARE(positions, QList<int>({ 6 }));
    QCOMPARE(m_edit->property("text").toString(), u"x = 1\ny = 2"_s);
}

void CodeDocumentTest::replacesOtherCode()
{
    CodeDocument code;
    code.setTextDocument(m_quickDocument);
    code.setLanguage(u"python"_s);
    code.setCode(u"import this\n"_s);
    code.setCode(u"def f():\n    pass"_s);
    QCOMPARE(document()->toPlainText(), u"def f():\n    pass"_s);
    QTRY_VERIFY(!formats(0).isEmpty());
    code.setCode({});
    QCOMPARE(document()->toPlainText(), QString());
}

void CodeDocumentTest::coloursFinishedLinesOnly()
{
    CodeDocument code;
    code.setOpen(true);
    code.setTextDocument(m_quickDocument);
    code.setLanguage(u"py"_s);
    code.setCode(u"import os\nimport sy"_s);
    QTRY_VERIFY(!formats(0).isEmpty());
    QTest::qWait(20);
    QVERIFY(formats(1).isEmpty());
    code.setCode(u"import os\nimport sys\n"_s);
    QTRY_VERIFY(!formats(1).isEmpty());
    QVERIFY(!formats(0).isEmpty());
    code.setCode(u"import os\nimport sys\ndef f():"_s);
    QTest::qWait(20);
    QVERIFY(formats(2).isEmpty());
    code.setOpen(false);
    QTRY_VERIFY(!formats(2).isEmpty());
}

// A block that scrolls out of sight, or the end of the program: nothing is laid out again.
void CodeDocumentTest::leavesItsDocumentAsItIs()
{
    auto code = std::make_unique<CodeDocument>();
    code->setTextDocument(m_quickDocument);
    code->setLanguage(u"python"_s);
    code->setCode(u"import this\n"_s);
    QTRY_VERIFY(!formats(0).isEmpty());
    int changes = 0;
    connect(document(), &QTextDocument::contentsChange, this, [&] { ++changes; });
    connect(document()->documentLayout(), &QAbstractTextDocumentLayout::update, this,
            [&] { ++changes; });
    code.reset();
    QVERIFY(!formats(0).isEmpty());
    m_edit.reset();
    QCOMPARE(changes, 0);
}

void CodeDocumentTest::followsTheTheme()
{
    CodeDocument code;
    code.setTextDocument(m_quickDocument);
    code.setLanguage(u"C++"_s);
    code.setCode(u"return 1;"_s);
    QTRY_VERIFY(!formats(0).isEmpty());
    const QBrush light = formats(0).front().format.foreground();
    code.setDark(true);
    QTRY_VERIFY(!formats(0).isEmpty() && formats(0).front().format.foreground() != light);
}

void CodeDocumentTest::coloursLongCodeInSlices()
{
    CodeDocument code;
    code.setTextDocument(m_quickDocument);
    code.setLanguage(u"python"_s);
    code.setCode(u"def function(x): return \"text\" + str(x)  # comment\n"_s.repeated(2'000));
    QVERIFY(formats(1'999).isEmpty()); // not in one go
    QTRY_VERIFY_WITH_TIMEOUT(!formats(1'999).isEmpty(), 30'000);
}

void CodeDocumentTest::knowsLanguagesByManyNames()
{
    QCOMPARE(CodeDocument::languageLabel(u"py"_s), u"Python"_s);
    QCOMPARE(CodeDocument::languageLabel(u"Python"_s), u"Python"_s);
    QCOMPARE(CodeDocument::languageLabel(u"cpp"_s), u"C++"_s);
    QCOMPARE(CodeDocument::languageLabel(u"rs"_s), u"Rust"_s);
    QCOMPARE(CodeDocument::languageLabel(u"js"_s), u"JavaScript"_s);
    QCOMPARE(CodeDocument::languageLabel(u"no such thing"_s), u"no such thing"_s);
    QCOMPARE(CodeDocument::languageLabel({}), QString());
}

} // namespace firesteel::test

QTEST_MAIN(firesteel::test::CodeDocumentTest)
#include "tst_code_document.moc"
