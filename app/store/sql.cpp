// SPDX-License-Identifier: MIT
#include "app/store/sql.h"

#include <QSqlError>

namespace firesteel::app {

namespace {

using namespace Qt::Literals::StringLiterals;

// Primary result codes of SQLite (sqlite.org/rescode.html); extended ones keep them in the low
// byte.
enum SqliteCode : unsigned {
    Perm = 3,
    Busy = 5,
    Locked = 6,
    NoMemory = 7,
    ReadOnly = 8,
    IoError = 10,
    Corrupt = 11,
    Full = 13,
    CantOpen = 14,
    NotDatabase = 26,
};
constexpr unsigned kPrimaryMask = 0xFF;

StoreErrorCode codeOf(const QSqlError &error)
{
    if (error.type() == QSqlError::ConnectionError && error.nativeErrorCode().isEmpty())
        return StoreErrorCode::Unavailable;
    switch (error.nativeErrorCode().toUInt() & kPrimaryMask) {
    case Full:
    case IoError:
    case Busy:
    case Locked:
    case NoMemory:
        return StoreErrorCode::Full;
    case ReadOnly:
    case Perm:
        return StoreErrorCode::ReadOnly;
    case Corrupt:
    case NotDatabase:
        return StoreErrorCode::Damaged;
    case CantOpen:
        return StoreErrorCode::Unavailable;
    default:
        return StoreErrorCode::Refused;
    }
}

} // namespace

StoreError storeErrorOf(const QSqlError &error)
{
    const QString text = error.databaseText().isEmpty() ? error.driverText() : error.databaseText();
    return { codeOf(error),
             text
                 + (error.nativeErrorCode().isEmpty()
                        ? QString()
                        : u" (SQLite %1)"_s.arg(error.nativeErrorCode())) };
}

StoreResult<QSqlQuery> prepared(const QSqlDatabase &database, const QString &statement)
{
    QSqlQuery query(database);
    query.setForwardOnly(true);
    if (!query.prepare(statement))
        return std::unexpected(storeErrorOf(query.lastError()));
    return query;
}

StoreResult<void> runPrepared(QSqlQuery &query, const QVariantList &values)
{
    for (qsizetype i = 0; i < values.size(); ++i)
        query.bindValue(static_cast<int>(i), values[i]);
    if (!query.exec())
        return std::unexpected(storeErrorOf(query.lastError()));
    return {};
}

StoreResult<QSqlQuery> execute(const QSqlDatabase &database, const QString &statement,
                               const QVariantList &values)
{
    auto query = prepared(database, statement);
    if (!query)
        return query;
    if (auto ran = runPrepared(*query, values); !ran)
        return std::unexpected(ran.error());
    return query;
}

StoreResult<void> executeAll(const QSqlDatabase &database, const QStringList &statements)
{
    for (const QString &statement : statements) {
        if (auto done = execute(database, statement); !done)
            return std::unexpected(done.error());
    }
    return {};
}

StoreResult<void> forEachRow(QSqlQuery &query, const std::function<bool(const QSqlQuery &)> &visit)
{
    while (query.next()) {
        if (!visit(query))
            return {};
    }
    if (query.lastError().isValid())
        return std::unexpected(storeErrorOf(query.lastError()));
    return {};
}

StoreResult<QVariant> singleValue(const QSqlDatabase &database, const QString &statement,
                                  const QVariantList &values)
{
    auto query = execute(database, statement, values);
    if (!query)
        return std::unexpected(query.error());
    if (query->next())
        return query->value(0);
    if (query->lastError().isValid())
        return std::unexpected(storeErrorOf(query->lastError()));
    return storeFailure(StoreErrorCode::NotFound, u"No such row."_s);
}

} // namespace firesteel::app
