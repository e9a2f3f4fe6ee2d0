// SPDX-License-Identifier: MIT
#include "app/log_file.h"
#include "app/session_marker.h"

#include <QDateTime>
#include <QDir>
#include <QLoggingCategory>
#include <QTemporaryDir>
#include <QTest>
#include <QtConcurrentMap>

using namespace firesteel::app;
using namespace Qt::Literals::StringLiterals;

namespace {

Q_LOGGING_CATEGORY(logTest, "firesteel.test", QtInfoMsg)

QByteArray contents(const QString &file)
{
    QFile opened(file);
    return opened.open(QIODevice::ReadOnly) ? opened.readAll() : QByteArray();
}

// QTest counts what is logged; the file is what counts here.
void swallow(QtMsgType /*type*/, const QMessageLogContext & /*context*/, const QString & /*text*/)
{
}

} // namespace

class TestLogFile : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init() { m_before = qInstallMessageHandler(swallow); }
    void cleanup() { qInstallMessageHandler(m_before); }

    void keepsWhatIsLogged();
    void longLogsAreSplitAndTheOldestGo();
    void everyThreadMayLog();
    void withoutAFolderNothingFails();
    void aMarkIsLeftByARunThatDidNotEnd();

private:
    QtMessageHandler m_before = nullptr;
};

void TestLogFile::keepsWhatIsLogged()
{
    const QTemporaryDir folder;
    const QString logs = folder.filePath(u"data/logs"_s);
    {
        const LogFile log(logs);
        qCInfo(logTest) << "first";
        qCWarning(logTest).noquote() << "two\nlines";
        qCDebug(logTest) << "not at this level";
    }
    qCInfo(logTest) << "after the end";
    const LogFile next(logs); // goes on where the last one stopped
    qCCritical(logTest) << "next run";
    const QList<QByteArray> lines = contents(logs + u"/firesteel.log"_s).split('\n');
    QCOMPARE(lines.size(), 5);
    QVERIFY(lines[0].endsWith(" info firesteel.test: first"));
    QVERIFY(
        QDateTime::fromString(QString::fromUtf8(lines[0].left(24)), Qt::ISODateWithMs).isValid());
    QVERIFY(lines[1].endsWith(" warning firesteel.test: two"));
    QCOMPARE(lines[2], "    lines"_ba);
    QVERIFY(lines[3].endsWith(" error firesteel.test: next run"));
    const auto permissions = QFile::permissions(logs + u"/firesteel.log"_s);
    QVERIFY(!permissions.testAnyFlags(QFile::ReadGroup | QFile::ReadOther));
}

void TestLogFile::longLogsAreSplitAndTheOldestGo()
{
    const QTemporaryDir folder;
    const LogFile log(folder.path());
    const QString filling(100'000, u'x');
    constexpr int kMessages = 90; // nine files would be needed
    for (int i = 0; i < kMessages; ++i)
        qCInfo(logTest).noquote() << i << filling;
    const QFileInfoList files = QDir(folder.path()).entryInfoList(QDir::Files);
    QCOMPARE(files.size(), LogFile::kFiles);
    for (const QFileInfo &file : files)
        QVERIFY(file.size() <= LogFile::kMostBytes + filling.size() + 100);
    QVERIFY(contents(folder.filePath(u"firesteel.log"_s)).contains(" info firesteel.test: 89 "));
    QVERIFY(!contents(folder.filePath(u"firesteel.4.log"_s)).contains(" info firesteel.test: 0 "));
}

void TestLogFile::everyThreadMayLog()
{
    const QTemporaryDir folder;
    {
        const LogFile log(folder.path());
        QList<int> numbers(400);
        QtConcurrent::blockingMap(numbers, [](int &) { qCInfo(logTest) << "one whole line"; });
    }
    QList<QByteArray> lines = contents(folder.filePath(u"firesteel.log"_s)).split('\n');
    QVERIFY(lines.takeLast().isEmpty());
    QCOMPARE(lines.size(), 400);
    for (const QByteArray &line : lines)
        QVERIFY2(line.endsWith(" info firesteel.test: one whole line"), line.constData());
}

void TestLogFile::withoutAFolderNothingFails()
{
    const LogFile log(u"/proc/nowhere/logs"_s);
    qCInfo(logTest) << "lost";
    QVERIFY(!QFile::exists(u"/proc/nowhere/logs/firesteel.log"_s));
}

void TestLogFile::aMarkIsLeftByARunThatDidNotEnd()
{
    const QTemporaryDir folder;
    const QString file = folder.filePath(u"data/running"_s);
    {
        const SessionMarker first(file);
        QVERIFY(!first.wasLeftBehind());
        QVERIFY(QFile::exists(file));
    }
    QVERIFY(!QFile::exists(file));
    QFile left(file); // as a crash leaves it
    QVERIFY(left.open(QIODevice::WriteOnly));
    left.close();
    {
        const SessionMarker next(file);
        QVERIFY(next.wasLeftBehind());
    }
    const SessionMarker after(file);
    QVERIFY(!after.wasLeftBehind());
    const SessionMarker unwritable(u"/proc/nowhere/running"_s);
    QVERIFY(!unwritable.wasLeftBehind());
}

QTEST_GUILESS_MAIN(TestLogFile)

#include "tst_log_file.moc"
