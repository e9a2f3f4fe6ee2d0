// SPDX-License-Identifier: MIT
//
// The store on a small file system that fills up. A suite of its own: where this process may not
// mount, CTest says that it was skipped.
#include "app/store/database_thread.h"
#include "app/store/sql.h"
#include "tests/app/store/store_fixture.h"

#include <QFile>
#include <QScopeGuard>
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

} // namespace

class DatabaseDiskTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init() { m_folder = std::make_unique<QTemporaryDir>(); }
    void keepsChangesWhileTheDiskIsFull();

private:
    QString file() const { return m_folder->filePath(u"firesteel.db"_s); }

    std::unique_ptr<QTemporaryDir> m_folder;
};

// A file system of one megabyte.
void DatabaseDiskTest::keepsChangesWhileTheDiskIsFull()
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

} // namespace firesteel::test

QTEST_GUILESS_MAIN(firesteel::test::DatabaseDiskTest)
#include "tst_database_disk.moc"
