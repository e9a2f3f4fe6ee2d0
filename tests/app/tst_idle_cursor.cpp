// SPDX-License-Identifier: MIT
#include "app/idle_cursor.h"

#include <QSignalSpy>
#include <QStyleHints>
#include <QTest>
#include <QWindow>

namespace firesteel::test {

class IdleCursorTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void restsWithoutInputAndGoesOnWithIt();
    void isAsItWasAtTheEnd();
};

void IdleCursorTest::restsWithoutInputAndGoesOnWithIt()
{
    QStyleHints &hints = *QGuiApplication::styleHints();
    const int before = hints.cursorFlashTime();
    QVERIFY(before > 0);
    const app::IdleCursor cursor(*qGuiApp, std::chrono::milliseconds(20));
    QWindow window;
    QTRY_COMPARE(hints.cursorFlashTime(), 0);
    QSignalSpy changed(&hints, &QStyleHints::cursorFlashTimeChanged);
    QTest::keyClick(&window, Qt::Key_A);
    QCOMPARE(changed.first().first().toInt(), before);
    QTRY_COMPARE(hints.cursorFlashTime(), 0);
    changed.clear();
    QTest::mouseClick(&window, Qt::LeftButton);
    QCOMPARE(changed.first().first().toInt(), before);
}

void IdleCursorTest::isAsItWasAtTheEnd()
{
    QStyleHints &hints = *QGuiApplication::styleHints();
    const int before = hints.cursorFlashTime();
    {
        const app::IdleCursor cursor(*qGuiApp, std::chrono::milliseconds(1));
        QTRY_COMPARE(hints.cursorFlashTime(), 0);
    }
    QCOMPARE(hints.cursorFlashTime(), before);
}

} // namespace firesteel::test

QTEST_MAIN(firesteel::test::IdleCursorTest)

#include "tst_idle_cursor.moc"
