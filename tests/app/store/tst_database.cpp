// SPDX-License-Identifier: MIT
//
// Opening a database file: new, of an earlier version, of a later one, damaged, locked, not
// writable.
#include "app/store/database.h"
#include "app/store/sql.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <array>
#include <sys/stat.h>
#include <unistd.h>

namespace firesteel::test {

namespace {

using namespace Qt::Literals::StringLiterals;
using app::Database;
using app::Migration;
using app::StoreErrorCode;

const std::array kOneStep { Migration {
    1, u"test"_s, { u"CREATE TABLE a (x INTEGER) STRICT"_s } } };
const std::array kTwoSteps {
    Migration { 1, u"test"_s, { u"CREATE TABLE a (x INTEGER) STRICT"_s } },
    Migration {
        2,
        u"test"_s,
        { u"CREATE TABLE b (y TEXT) STRICT"_s, u"INSERT INTO b SELECT 'from ' || x FROM a"_s } },
};
const std::array kFailingStep {
    Migration { 1, u"test"_s, { u"CREATE TABLE a (x INTEGER) STRICT"_s } },
    Migration { 2,
                u"test"_s,
                { u"CREATE TABLE b (y TEXT) STRICT"_s, u"INSERT INTO nowhere VALUES (1)"_s } },
};

QVariant value(const Database &database, const QString &statement)
{
    return app::singleValue(database.connection(), statement).value_or(QVariant());
}

void addRow(Database &database, int x)
{
    const auto done = database.write([x](const QSqlDatabase &sql) {
        return app::execute(sql, u"INSERT INTO a VALUES (?)"_s, { x })
            .transform([](const QSqlQuery &) { });
    });
    QVERIFY2(done.has_value(), done ? "" : qPrintable(done.error().message));
}

// Root may write anywhere: what is refused to a person is tried as nobody.
class AsNobody
{
public:
    AsNobody()
    {
        constexpr uid_t kNobody = 65534;
        if (::geteuid() == 0)
            m_isRoot = ::seteuid(kNobody) == 0;
    }
    ~AsNobody()
    {
        if (m_isRoot && ::seteuid(0) != 0)
            qFatal("cannot become root again");
    }
    AsNobody(const AsNobody &) = delete;
    AsNobody &operator=(const AsNobody &) = delete;

private:
    bool m_isRoot = false;
};

} // namespace

class DatabaseTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init() { m_folder = std::make_unique<QTemporaryDir>(); }
    void makesFolderAndFileForTheOwnerOnly();
    void keepsWhatWasWritten();
    void rollsBackAFailedWrite();
    void migratesAndKeepsABackup();
    void leavesTheOldVersionWhenAMigrationFails();
    void leavesANewerDatabaseAlone();
    void setsADamagedFileAside_data();
    void setsADamagedFileAside();
    void checksALargeFileOnlyAfterACrash();
    void asksForACheckAfterACrash();
    void refusesASecondOwner();
    void readsWhatItMayNotWrite();
    void saysWhenNothingCanBeMade();
    void shippedStepsAreNumberedInOrder();

private:
    QString file() const { return m_folder->filePath(u"data/firesteel.db"_s); }
    QStringList siblings(const QString &pattern) const
    {
        return QDir(m_folder->filePath(u"data"_s)).entryList({ pattern }, QDir::Files);
    }

    std::unique_ptr<QTemporaryDir> m_folder;
};

void DatabaseTest::makesFolderAndFileForTheOwnerOnly()
{
    Database database(kOneStep);
    database.open(file());
    QCOMPARE(database.access(), Database::Access::ReadWrite);
    QVERIFY(!database.trouble());
    struct stat info = {};
    QCOMPARE(::stat(QFile::encodeName(file()).constData(), &info), 0);
    QCOMPARE(info.st_mode & 0777U, 0600U);
    QCOMPARE(::stat(QFile::encodeName(m_folder->filePath(u"data"_s)).constData(), &info), 0);
    QCOMPARE(info.st_mode & 0777U, 0700U);
    QCOMPARE(value(database, u"PRAGMA journal_mode"_s).toString(), u"wal"_s);
    QCOMPARE(value(database, u"PRAGMA synchronous"_s).toInt(), 2);
}

void DatabaseTest::keepsWhatWasWritten()
{
    Database database(kOneStep);
    database.open(file());
    addRow(database, 7);
    database.close();
    QCOMPARE(database.access(), Database::Access::Closed);
    QVERIFY(siblings(u"*-wal"_s).isEmpty()); // closed cleanly: one file holds everything
    database.open(file());
    QCOMPARE(value(database, u"SELECT x FROM a"_s).toInt(), 7);
}

void DatabaseTest::rollsBackAFailedWrite()
{
    Database database(kOneStep);
    database.open(file());
    const auto done = database.write([](const QSqlDatabase &sql) {
        return app::executeAll(sql, { u"INSERT INTO a VALUES (1)"_s, u"INSERT INTO a VALUES"_s });
    });
    QVERIFY(!done);
    QCOMPARE(done.error().code, StoreErrorCode::Refused);
    QCOMPARE(value(database, u"SELECT count(*) FROM a"_s).toInt(), 0);
    addRow(database, 2); // no transaction was left open
}

void DatabaseTest::migratesAndKeepsABackup()
{
    {
        Database old(kOneStep);
        old.open(file());
        addRow(old, 5);
    }
    Database database(kTwoSteps);
    database.open(file());
    QCOMPARE(database.access(), Database::Access::ReadWrite);
    QCOMPARE(value(database, u"SELECT y FROM b"_s).toString(), u"from 5"_s);
    QCOMPARE(value(database, u"PRAGMA user_version"_s).toInt(), 2);
    const QStringList backups = siblings(u"firesteel.backup-*.db"_s);
    QCOMPARE(backups.size(), 1);
    Database backup(kOneStep);
    backup.open(m_folder->filePath(u"data/"_s + backups.front()));
    QCOMPARE(value(backup, u"SELECT x FROM a"_s).toInt(), 5);
    QCOMPARE(value(backup, u"PRAGMA user_version"_s).toInt(), 1);
}

void DatabaseTest::leavesTheOldVersionWhenAMigrationFails()
{
    {
        Database old(kOneStep);
        old.open(file());
        addRow(old, 5);
    }
    {
        Database database(kFailingStep);
        database.open(file());
        QVERIFY(database.access() != Database::Access::ReadWrite);
        QVERIFY(database.trouble()->message.contains(u"nowhere"_s));
    }
    Database database(kTwoSteps); // the corrected program
    database.open(file());
    QCOMPARE(value(database, u"SELECT y FROM b"_s).toString(), u"from 5"_s);
}

void DatabaseTest::leavesANewerDatabaseAlone()
{
    {
        Database newer(kTwoSteps);
        newer.open(file());
        addRow(newer, 5);
    }
    Database database(kOneStep);
    database.open(file());
    QCOMPARE(database.access(), Database::Access::Closed);
    QCOMPARE(database.trouble()->code, StoreErrorCode::Newer);
    QVERIFY(database.trouble()->message.contains(u"2"_s));
    QCOMPARE(siblings(u"firesteel.*-*.db"_s), QStringList());
    database.close();
    Database newer(kTwoSteps);
    newer.open(file());
    QCOMPARE(value(newer, u"SELECT x FROM a"_s).toInt(), 5);
}

void DatabaseTest::setsADamagedFileAside_data()
{
    QTest::addColumn<qint64>("at");
    QTest::addColumn<qint64>("length");
    QTest::newRow("first page") << 0LL << 4096LL;
    QTest::newRow("a table page") << 4096LL << 4096LL;
    QTest::newRow("everything, as after a power cut") << 0LL << -1LL;
}

void DatabaseTest::setsADamagedFileAside()
{
    QFETCH(qint64, at);
    QFETCH(qint64, length);
    {
        Database database(kOneStep);
        database.open(file());
        addRow(database, 5);
    }
    QFile bytes(file());
    QVERIFY(bytes.open(QIODevice::ReadWrite));
    QVERIFY(bytes.seek(at));
    bytes.write(QByteArray(length < 0 ? bytes.size() : length, '\xA5'));
    bytes.close();
    QVERIFY(bytes.open(QIODevice::ReadOnly));
    const QByteArray damaged = bytes.readAll();
    bytes.close();

    Database database(kOneStep);
    database.open(file());
    QCOMPARE(database.access(), Database::Access::ReadWrite);
    const QStringList kept = siblings(u"firesteel.damaged-*.db"_s);
    QCOMPARE(kept.size(), 1);
    QVERIFY2(database.notice().contains(kept.front()), qPrintable(database.notice()));
    QFile copy(m_folder->filePath(u"data/"_s + kept.front()));
    QVERIFY(copy.open(QIODevice::ReadOnly));
    QCOMPARE(copy.readAll(), damaged); // kept as it was found
    addRow(database, 6);
}

// A large file is not read from end to end at each start; a log left by a crash asks for it.
void DatabaseTest::checksALargeFileOnlyAfterACrash()
{
    constexpr int kRows = 17'000; // of 4 KiB: above the size that is always checked
    {
        Database database(kOneStep);
        database.open(file());
        const auto done = database.write([](const QSqlDatabase &sql) {
            return app::executeAll(
                sql,
                { u"CREATE TABLE big (z BLOB) STRICT"_s,
                  u"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %1)"
                  " INSERT INTO big SELECT zeroblob(4000) FROM n"_s.arg(kRows) });
        });
        QVERIFY2(done.has_value(), done ? "" : qPrintable(done.error().message));
    }
    QVERIFY(QFileInfo(file()).size() > (64LL << 20));
    QFile bytes(file());
    QVERIFY(bytes.open(QIODevice::ReadWrite));
    QVERIFY(bytes.seek(bytes.size() / 2 / 4096 * 4096));
    bytes.write(QByteArray(64, '\xA5'));
    bytes.close();
    {
        Database database(kOneStep);
        database.open(file());
        QCOMPARE(database.notice(), QString());
        database.markDamaged(); // what a reader does that meets the page
    }
    Database database(kOneStep);
    database.open(file());
    QVERIFY(!database.notice().isEmpty());
}

void DatabaseTest::asksForACheckAfterACrash()
{
    const auto leaveLog = [this] { // a kill does
        QFile log(file() + u"-wal"_s);
        QVERIFY(log.open(QIODevice::WriteOnly));
        QVERIFY(log.write(QByteArray(32, 'x')) > 0);
    };
    {
        Database database(kOneStep);
        database.open(file());
        addRow(database, 5);
    }
    leaveLog();
    {
        Database database(kOneStep);
        database.open(file());
        QCOMPARE(database.access(), Database::Access::ReadWrite);
        QVERIFY(!database.wantsCheck()); // it is small: that was done
        const auto done = database.write([](const QSqlDatabase &sql) {
            return app::executeAll(sql,
                                   { u"CREATE TABLE big (z BLOB) STRICT"_s,
                                     u"INSERT INTO big VALUES (zeroblob(70000000))"_s });
        });
        QVERIFY2(done.has_value(), done ? "" : qPrintable(done.error().message));
    }
    {
        Database database(kOneStep);
        database.open(file());
        QVERIFY(!database.wantsCheck());
    }
    leaveLog();
    Database database(kOneStep);
    database.open(file());
    QCOMPARE(database.access(), Database::Access::ReadWrite);
    QVERIFY(database.wantsCheck());
    QCOMPARE(value(database, u"SELECT x FROM a"_s).toInt(), 5);
}

void DatabaseTest::refusesASecondOwner()
{
    Database first(kOneStep);
    first.open(file());
    addRow(first, 5);
    Database second(kOneStep);
    second.open(file());
    QCOMPARE(second.access(), Database::Access::ReadOnly);
    QCOMPARE(second.trouble()->code, StoreErrorCode::InUse);
    QCOMPARE(value(second, u"SELECT x FROM a"_s).toInt(), 5);
    const auto done = second.write([](const QSqlDatabase &sql) {
        return app::executeAll(sql, { u"INSERT INTO a VALUES (1)"_s });
    });
    QVERIFY(!done);
    QCOMPARE(done.error().code, StoreErrorCode::InUse);
    first.close();
    second.open(file());
    QCOMPARE(second.access(), Database::Access::ReadWrite);
}

void DatabaseTest::readsWhatItMayNotWrite()
{
    {
        Database database(kOneStep);
        database.open(file());
        addRow(database, 5);
    }
    const QString folder = m_folder->filePath(u"data"_s);
    QFile::remove(file() + u".lock"_s);
    ::chmod(QFile::encodeName(m_folder->path()).constData(), 0755);
    ::chmod(QFile::encodeName(folder).constData(), 0555);
    ::chmod(QFile::encodeName(file()).constData(), 0444);
    {
        const AsNobody nobody;
        Database database(kOneStep);
        database.open(file());
        QCOMPARE(database.access(), Database::Access::ReadOnly);
        QCOMPARE(database.trouble()->code, StoreErrorCode::ReadOnly);
        QCOMPARE(value(database, u"SELECT x FROM a"_s).toInt(), 5);
    }
    ::chmod(QFile::encodeName(folder).constData(), 0700);
}

void DatabaseTest::saysWhenNothingCanBeMade()
{
    QFile blocker(m_folder->filePath(u"data"_s)); // a file where the folder should be
    QVERIFY(blocker.open(QIODevice::WriteOnly));
    Database database(kOneStep);
    database.open(file());
    QCOMPARE(database.access(), Database::Access::Closed);
    QVERIFY(database.trouble()->message.contains(file()));
}

void DatabaseTest::shippedStepsAreNumberedInOrder()
{
    int version = 0;
    for (const Migration &step : app::migrations())
        QCOMPARE(step.version, ++version);
    Database database;
    database.open(file());
    QCOMPARE(database.access(), Database::Access::ReadWrite);
    QCOMPARE(value(database, u"PRAGMA user_version"_s).toInt(), version);
}

} // namespace firesteel::test

QTEST_GUILESS_MAIN(firesteel::test::DatabaseTest)
#include "tst_database.moc"
