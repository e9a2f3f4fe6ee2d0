// SPDX-License-Identifier: MIT
#include "app/store/database.h"

#include "app/store/salvage.h"
#include "app/store/sql.h"

#include <QCoreApplication>
#include <QDateTime>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QLocale>
#include <QLoggingCategory>
#include <QSqlError>
#include <QUrl>

#include <array>
#include <atomic>

namespace firesteel::app {

namespace {

using namespace Qt::Literals::StringLiterals;

Q_LOGGING_CATEGORY(logStore, "firesteel.store", QtInfoMsg)

constexpr int kBusyMilliseconds = 2000; // another process may hold a lock while it closes
constexpr auto kCheckMarker = ".check"_L1;
// A file this small is checked at every start; a larger one before it is opened only after a
// reported fault, and while it is used after a crash.
constexpr qint64 kSmallFileBytes = 64LL << 20;
constexpr int kBackupsKept = 2;

struct Words
{
    Q_DECLARE_TR_FUNCTIONS(Store)
};

QString stamp() { return QDateTime::currentDateTimeUtc().toString(u"yyyyMMdd-HHmmss"_s); }

// "firesteel.db", "damaged" -> "firesteel.damaged-20261130-0850.db", and a number if that exists.
QString siblingName(const QString &file, const QString &kind)
{
    const QFileInfo info(file);
    const QString stem
        = info.dir().filePath(u"%1.%2-%3"_s.arg(info.completeBaseName(), kind, stamp()));
    QString name = stem + u".db"_s;
    for (int copy = 2; QFile::exists(name); ++copy)
        name = u"%1-%2.db"_s.arg(stem, QString::number(copy));
    return name;
}

// SQLite's name of a file that nobody changes while it is open.
QString immutableName(const QString &file)
{
    return QString::fromUtf8(QUrl::fromLocalFile(file).toEncoded()) + u"?immutable=1"_s;
}

void removeOldBackups(const QString &file)
{
    const QFileInfo info(file);
    const QStringList backups = info.dir().entryList(
        { info.completeBaseName() + u".backup-*.db"_s }, QDir::Files, QDir::Time);
    for (qsizetype i = kBackupsKept; i < backups.size(); ++i)
        QFile::remove(info.dir().filePath(backups[i]));
}

} // namespace

Database::Database(std::span<const Migration> steps)
    : m_steps(steps)
{
    static std::atomic<int> count = 0;
    m_connectionName = u"firesteel-%1"_s.arg(count++);
}

Database::~Database() { close(); }

StoreError Database::reason() const
{
    return m_trouble.value_or(
        StoreError { StoreErrorCode::Unavailable, Words::tr("No database is open.") });
}

void Database::open(const QString &file)
{
    close();
    m_file = file;
    m_trouble.reset();
    m_notice.clear();
    const QString folder = QFileInfo(file).absolutePath();
    if (!QFileInfo::exists(folder)) {
        // What people say to the model is nobody else's business.
        const auto ownerOnly
            = QFileDevice::ReadOwner | QFileDevice::WriteOwner | QFileDevice::ExeOwner;
        QDir().mkpath(QFileInfo(folder).absolutePath());
        QDir().mkdir(folder, ownerOnly);
    }
    if (auto locked = m_lock.acquire(file + u".lock"_s); !locked)
        openReadOnly(locked.error());
    else
        openWritable();
}

void Database::openWritable()
{
    // The log is removed when a database is closed: one that is left means a crash.
    const bool isAfterCrash = QFileInfo(m_file + u"-wal"_s).size() > 0;
    const bool isFaulty = QFile::exists(m_file + kCheckMarker);
    m_wantsCheck = isAfterCrash && isLarge() && !isFaulty;
    auto opened = connect({});
    if (opened && (isFaulty || !isLarge()))
        opened = checkPages();
    if (opened)
        opened = setUpWriting();
    if (opened)
        opened = prepareTables();
    if (!opened && opened.error().code == StoreErrorCode::Damaged) {
        replaceDamaged(opened.error());
        return;
    }
    if (!opened) {
        disconnect();
        openReadOnly(opened.error());
        return;
    }
    QFile::remove(m_file + kCheckMarker);
    m_access = Access::ReadWrite;
}

void Database::openReadOnly(const StoreError &why)
{
    m_trouble = why;
    if (!QFile::exists(m_file))
        return;
    // Without a right to write beside it, a reader of a WAL database must be told that nobody else
    // changes the file.
    const bool isShared = why.code == StoreErrorCode::InUse || QFile::exists(m_file + u"-wal"_s);
    auto opened = connect(isShared ? u"QSQLITE_OPEN_READONLY"_s
                                   : u"QSQLITE_OPEN_READONLY;QSQLITE_OPEN_URI"_s);
    if (opened) {
        const auto version = databaseVersion(m_connection);
        // A later version may have changed the tables: a list half right is worse than none.
        if (!version || *version != newestVersion(m_steps)) {
            disconnect();
            return;
        }
        m_access = Access::ReadOnly;
    }
}

StoreResult<void> Database::connect(const QString &options)
{
    m_connection = QSqlDatabase::addDatabase(u"QSQLITE"_s, m_connectionName);
    const bool isImmutable = options.contains("OPEN_URI"_L1);
    m_connection.setDatabaseName(isImmutable ? immutableName(m_file) : m_file);
    m_connection.setConnectOptions(
        options
        + (options.isEmpty() ? u"QSQLITE_BUSY_TIMEOUT=%1"_s : u";QSQLITE_BUSY_TIMEOUT=%1"_s)
              .arg(kBusyMilliseconds));
    if (!m_connection.open())
        return std::unexpected(storeErrorOf(m_connection.lastError()));
    return executeAll(m_connection,
                      { u"PRAGMA foreign_keys = ON"_s, u"PRAGMA cache_size = -8192"_s });
}

// After the check: these write, and a damaged file is to be kept as it was found.
StoreResult<void> Database::setUpWriting() const
{
    QFile::setPermissions(m_file, QFileDevice::ReadOwner | QFileDevice::WriteOwner);
    // A commit is on the disk when it returns: FULL syncs the log each time. Deleted text is
    // overwritten where that costs no extra write.
    return executeAll(m_connection,
                      { u"PRAGMA auto_vacuum = INCREMENTAL"_s, u"PRAGMA journal_mode = WAL"_s,
                        u"PRAGMA synchronous = FULL"_s, u"PRAGMA secure_delete = FAST"_s,
                        u"PRAGMA journal_size_limit = 16777216"_s });
}

bool Database::isLarge() const { return QFileInfo(m_file).size() > kSmallFileBytes; }

StoreResult<void> Database::checkPages() const
{
    const auto result = singleValue(m_connection, u"PRAGMA quick_check(1)"_s);
    if (!result)
        return std::unexpected(result.error());
    if (result->toString() != "ok"_L1)
        return storeFailure(StoreErrorCode::Damaged, result->toString());
    return {};
}

StoreResult<void> Database::backUp() const
{
    const QString copy = siblingName(m_file, u"backup"_s);
    auto copied = execute(m_connection, u"VACUUM INTO ?"_s, { copy });
    if (!copied) {
        QFile::remove(copy);
        return std::unexpected(copied.error());
    }
    QFile::setPermissions(copy, QFileDevice::ReadOwner | QFileDevice::WriteOwner);
    removeOldBackups(m_file);
    qCInfo(logStore).noquote() << "backup before a migration:" << copy;
    return {};
}

StoreResult<void> Database::prepareTables()
{
    const auto version = databaseVersion(m_connection);
    if (!version)
        return std::unexpected(version.error());
    if (*version > 0 && *version < newestVersion(m_steps)) {
        if (auto saved = backUp(); !saved)
            return saved;
    }
    return migrate(m_connection, m_steps);
}

void Database::replaceDamaged(const StoreError &damage)
{
    qCWarning(logStore).noquote() << m_file << "is damaged:" << damage.message;
    disconnect();
    const QString kept = siblingName(m_file, u"damaged"_s);
    bool isAside = QFile::rename(m_file, kept);
    // The log belongs to the file it stands beside: both move, under the names SQLite expects.
    for (const QString &suffix : { u"-wal"_s, u"-shm"_s }) {
        if (QFile::exists(m_file + suffix))
            isAside = QFile::rename(m_file + suffix, kept + suffix) && isAside;
    }
    auto opened = isAside
        ? connect({})
        : storeFailure(StoreErrorCode::Damaged,
                       Words::tr("%1 is damaged and could not be set aside.").arg(m_file));
    if (opened)
        opened = setUpWriting();
    if (opened)
        opened = prepareTables();
    if (!opened) {
        disconnect();
        m_trouble = opened.error();
        return;
    }
    QFile::remove(m_file + kCheckMarker);
    m_access = Access::ReadWrite;
    const Salvaged saved = salvageFrom(kept);
    m_notice = Words::tr("The stored conversations were damaged. %1 messages of %2 conversations "
                         "could still be read and are here. The damaged file is kept as %3.")
                   .arg(QLocale().toString(saved.messages), QLocale().toString(saved.conversations),
                        kept);
}

Salvaged Database::salvageFrom(const QString &kept) const
{
    const QString name = m_connectionName + u"-damaged"_s;
    Salvaged saved;
    {
        QSqlDatabase damaged = QSqlDatabase::addDatabase(u"QSQLITE"_s, name);
        // Nothing of the kept file changes: without a log it is read as it lies there.
        const bool hasLog = QFile::exists(kept + u"-wal"_s);
        damaged.setConnectOptions(hasLog ? u"QSQLITE_OPEN_READONLY"_s
                                         : u"QSQLITE_OPEN_READONLY;QSQLITE_OPEN_URI"_s);
        damaged.setDatabaseName(hasLog ? kept : immutableName(kept));
        if (damaged.open()) {
            if (auto copied = salvage(damaged, m_connection))
                saved = *copied;
            else
                qCWarning(logStore).noquote() << "salvage:" << copied.error().message;
        }
        damaged.close();
    }
    QSqlDatabase::removeDatabase(name);
    return saved;
}

void Database::markDamaged() const
{
    QFile marker(m_file + kCheckMarker);
    if (!marker.open(QIODevice::WriteOnly))
        qCWarning(logStore).noquote() << "cannot write" << marker.fileName();
}

void Database::disconnect()
{
    if (!m_connection.isValid())
        return;
    m_connection.close();
    m_connection = {};
    QSqlDatabase::removeDatabase(m_connectionName);
}

void Database::close()
{
    disconnect();
    m_lock.release();
    m_access = Access::Closed;
}

StoreResult<void> Database::begin() const
{
    return executeAll(m_connection, { u"BEGIN IMMEDIATE"_s });
}

StoreResult<void> Database::commit() const { return executeAll(m_connection, { u"COMMIT"_s }); }

// After some errors SQLite has rolled back itself; then there is nothing to do and this fails.
void Database::rollBack() const
{
    [[maybe_unused]] const auto rolledBack = execute(m_connection, u"ROLLBACK"_s);
}

} // namespace firesteel::app
