// SPDX-License-Identifier: MIT
//
// Work handed to the database thread: order, states, and what happens while the disk is full.
#include "app/store/database_thread.h"
#include "app/store/sql.h"

#include <QProcess>
#include <QScopeGuard>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include <array>
#include <sched.h>
#include <sys/mount.h>

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
    void keepsChangesWhileTheDiskIsFull();
    void asksForARepairWhenItMeetsDamage();

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

// A file system of one megabyte, where this process may mount one.
void DatabaseThreadTest::keepsChangesWhileTheDiskIsFull()
{
    const QByteArray folder = QFile::encodeName(m_folder->path());
    if (::unshare(CLONE_NEWNS) != 0)
        QSKIP("cannot mount a small file system here");
    // Fails in a root that is no mount point, which then is already private to its program.
    (void)::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
    if (::mount("tmpfs", folder.constData(), "tmpfs", 0, "size=1m") != 0)
        QSKIP("cannot mount a small file system here");
    const auto unmount = qScopeGuard([&folder] { ::umount2(folder.constData(), MNT_DETACH); });
    {
        DatabaseThread database(file(), kSteps);
        QVERIFY(waitFor(database.keep(insertion(1))));
        QFile filler(m_folder->filePath(u"filler"_s));
        QVERIFY(filler.open(QIODevice::WriteOnly | QIODevice::Unbuffered));
        while (filler.write(QByteArray(4096, 'x')) == 4096) { }
        const auto failed = waitFor(database.keep(insertion(2, 100'000)));
        QCOMPARE(failed.error().code, StoreErrorCode::Full);
        QTRY_COMPARE(database.state(), State::Stalled);
        QVERIFY(filler.resize(0));
        database.retry();
        QTRY_COMPARE(database.state(), State::Ready);
        QCOMPARE(waitFor(database.read(countRows)), 2);
    }
    DatabaseThread again(file(), kSteps);
    QCOMPARE(waitFor(again.read([](const QSqlDatabase &sql) {
                 return app::singleValue(sql, u"PRAGMA integrity_check"_s);
             }))
                 .value()
                 .toString(),
             u"ok"_s);
    QCOMPARE(waitFor(again.read(countRows)), 2);
    QTRY_COMPARE(again.state(), State::Ready);
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

} // namespace firesteel::test

QTEST_GUILESS_MAIN(firesteel::test::DatabaseThreadTest)
#include "tst_database_thread.moc"
