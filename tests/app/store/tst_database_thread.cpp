// SPDX-License-Identifier: MIT
//
// Work handed to the database thread: order, states, and what happens while the disk is full.
#include "app/store/database_thread.h"
#include "app/store/page_check.h"
#include "app/store/sql.h"

#include <QAtomicInt>
#include <QProcess>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include <array>
#include <optional>

namespace firesteel::test {

namespace {

using namespace Qt::Literals::StringLiterals;
using app::DatabaseThread;
using app::Migration;
using app::StoreErrorCode;
using app::StoreResult;
using State = DatabaseThread::State;

const std::array kSteps { Migration {
    1, u"test"_s, { u"CREATE TABLE a (x INTEGER PRIMARY KEY, z BLOB) STRICT"_s } } };

DatabaseThread::Change insertion(int x, int bytes = 1)
{
    return [x, bytes](const QSqlDatabase &sql) {
        return app::execute(sql, u"INSERT INTO a VALUES (?, zeroblob(?))"_s, { x, bytes })
            .transform([](const QSqlQuery &) { });
    };
}

StoreResult<int> countRows(const QSqlDatabase &sql)
{
    return app::singleValue(sql, u"SELECT count(*) FROM a"_s).transform([](const QVariant &count) {
        return count.toInt();
    });
}

template <typename T> T waitFor(QFuture<T> future)
{
    if (!QTest::qWaitFor([&] { return future.isFinished(); }, 30'000))
        qFatal("the database thread does not answer");
    return future.result();
}

} // namespace

class DatabaseThreadTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init() { m_folder = std::make_unique<QTemporaryDir>(); }
    void runsInOrderAndOffTheCallersThread();
    void finishesItsWorkWhenDestroyed();
    void finishesItsWorkWithoutAnApplication();
    void tellsTheStateOfASecondInstance();
    void keepsChangesWhileTheDatabaseIsFull();
    void asksForARepairWhenItMeetsDamage();
    void findsDamageOfALargeFileWhileItIsUsed();
    void aCheckIsStoppedByTheEnd();

private:
    QString file() const { return m_folder->filePath(u"firesteel.db"_s); }

    std::unique_ptr<QTemporaryDir> m_folder;
};

void DatabaseThreadTest::runsInOrderAndOffTheCallersThread()
{
    DatabaseThread database(file(), kSteps);
    QCOMPARE(database.state(), State::Opening);
    QThread *worker = nullptr;
    QList<QFuture<StoreResult<void>>> writes;
    for (int i = 0; i < 100; ++i)
        writes << database.keep(insertion(i));
    const auto count = waitFor(database.read([&worker](const QSqlDatabase &sql) {
        worker = QThread::currentThread();
        return countRows(sql);
    }));
    QCOMPARE(count, 100);
    QVERIFY(worker != nullptr && worker != QThread::currentThread());
    for (const auto &write : writes)
        QVERIFY(write.isFinished() && write.result().has_value());
    QTRY_COMPARE(database.state(), State::Ready);
    QCOMPARE(database.stateText(), QString());

    const auto twice = waitFor(database.write(insertion(5)));
    QCOMPARE(twice.error().code, StoreErrorCode::Refused);
    QCOMPARE(database.state(), State::Ready);
}

void DatabaseThreadTest::finishesItsWorkWhenDestroyed()
{
    {
        DatabaseThread database(file(), kSteps);
        for (int i = 0; i < 50; ++i)
            database.keep(insertion(i));
    }
    DatabaseThread database(file(), kSteps);
    QCOMPARE(waitFor(database.read(countRows)), 50);
}

// In a process of its own: this one has its application to the end.
void DatabaseThreadTest::finishesItsWorkWithoutAnApplication()
{
    QProcess process;
    process.setProcessChannelMode(QProcess::ForwardedErrorChannel);
    process.start(QStringLiteral(OUTLIVING_DATABASE), { file(), u"200"_s });
    const bool hasEnded = process.waitForFinished(30'000);
    if (!hasEnded)
        process.kill();
    QVERIFY2(hasEnded, "it waits for ever");
    QCOMPARE(process.exitStatus(), QProcess::NormalExit);
    QCOMPARE(process.exitCode(), 0);
    DatabaseThread database(file());
    QCOMPARE(waitFor(database.read([](const QSqlDatabase &sql) {
                 return app::singleValue(sql, u"SELECT count(*) FROM conversations"_s);
             }))
                 .value()
                 .toInt(),
             200);
}

void DatabaseThreadTest::tellsTheStateOfASecondInstance()
{
    DatabaseThread first(file(), kSteps);
    QVERIFY(waitFor(first.keep(insertion(1))));
    DatabaseThread second(file(), kSteps);
    QTRY_COMPARE(second.state(), State::InUse);
    QVERIFY(second.stateText().contains(u"already running"_s));
    QCOMPARE(waitFor(second.read(countRows)), 1);
    QCOMPARE(waitFor(second.keep(insertion(2))).error().code, StoreErrorCode::InUse);
    QCOMPARE(waitFor(first.read(countRows)), 1);
}

void DatabaseThreadTest::keepsChangesWhileTheDatabaseIsFull()
{
    DatabaseThread database(file(), kSteps);
    const auto setLimit = [&database](int pages) {
        return waitFor(database.read([pages](const QSqlDatabase &sql) {
            return app::execute(sql, u"PRAGMA max_page_count = %1"_s.arg(pages))
                .transform([](const QSqlQuery &) { });
        }));
    };
    QVERIFY(setLimit(10));
    const auto failed = waitFor(database.keep(insertion(1, 1 << 20)));
    QCOMPARE(failed.error().code, StoreErrorCode::Full);
    QTRY_COMPARE(database.state(), State::Stalled);
    // Later changes wait behind it: their order is kept.
    QCOMPARE(waitFor(database.keep(insertion(2))).error().code, StoreErrorCode::Full);
    QCOMPARE(waitFor(database.read(countRows)), 0);
    QVERIFY(setLimit(1'000'000));
    database.retry();
    QTRY_COMPARE(database.state(), State::Ready);
    QCOMPARE(waitFor(database.read(countRows)), 2);
}

void DatabaseThreadTest::asksForARepairWhenItMeetsDamage()
{
    {
        DatabaseThread database(file(), kSteps);
        const auto damage = waitFor(database.read([](const QSqlDatabase &) -> StoreResult<int> {
            return app::storeFailure(StoreErrorCode::Damaged, u"malformed page"_s);
        }));
        QVERIFY(!damage);
        QTRY_COMPARE(database.state(), State::Damaged);
        QVERIFY(database.stateText().contains(u"starts again"_s));
        QVERIFY(QFile::exists(file() + u".check"_s));
    }
    DatabaseThread database(file(), kSteps); // it was a false alarm: the check finds nothing
    QTRY_COMPARE(database.state(), State::Ready);
    QVERIFY(!QFile::exists(file() + u".check"_s));
}

// People go on working while a large file is checked after a crash.
void DatabaseThreadTest::findsDamageOfALargeFileWhileItIsUsed()
{
    constexpr int kRows = 17'000; // of 4 KiB: too large to be checked before it is used
    {
        DatabaseThread database(file(), kSteps);
        const auto done = waitFor(database.write([](const QSqlDatabase &sql) {
            return app::executeAll(
                sql,
                { u"CREATE TABLE big (z BLOB) STRICT"_s,
                  u"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %1)"
                  " INSERT INTO big SELECT zeroblob(4000) FROM n"_s.arg(kRows) });
        }));
        QVERIFY2(done.has_value(), done ? "" : qPrintable(done.error().message));
    }
    QFile bytes(file());
    QVERIFY(bytes.open(QIODevice::ReadWrite));
    QVERIFY(bytes.size() > (64LL << 20));
    QVERIFY(bytes.seek(bytes.size() / 2 / 4096 * 4096));
    bytes.write(QByteArray(64, '\xA5'));
    bytes.close();
    QFile log(file() + u"-wal"_s); // what a crash leaves
    QVERIFY(log.open(QIODevice::WriteOnly));
    log.write(QByteArray(32, 'x'));
    log.close();
    {
        DatabaseThread database(file(), kSteps);
        QCOMPARE(waitFor(database.read(countRows)), 0); // at once
        QTRY_COMPARE_WITH_TIMEOUT(database.state(), State::Damaged, 60'000);
        QVERIFY(QFile::exists(file() + u".check"_s));
    }
    DatabaseThread database(file(), kSteps);
    QTRY_VERIFY_WITH_TIMEOUT(!database.notice().isEmpty(), 60'000);
}

void DatabaseThreadTest::aCheckIsStoppedByTheEnd()
{
    {
        DatabaseThread database(file(), kSteps);
        QVERIFY(waitFor(database.read(countRows)).has_value());
    }
    QAtomicInt ended = 0;
    std::optional<QString> found;
    const auto note = [&](const std::optional<QString> &damage) {
        found = damage;
        ended.storeRelease(1);
    };
    {
        const app::PageCheck check(file(), note);
        QTRY_COMPARE(ended.loadAcquire(), 1);
        QVERIFY(!found);
    }
    ended = 0;
    {
        const app::PageCheck check(file(), note);
    }
    QCOMPARE(ended.loadAcquire(), 1); // nothing goes on behind it
    QVERIFY(!found);
    {
        const app::PageCheck check(file() + u".absent"_s, note);
    }
    QVERIFY(!found);
}

} // namespace firesteel::test

QTEST_GUILESS_MAIN(firesteel::test::DatabaseThreadTest)
#include "tst_database_thread.moc"
