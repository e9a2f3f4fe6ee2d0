// SPDX-License-Identifier: MIT
#include "app/store/salvage.h"

#include "app/store/conversation_queries.h"
#include "app/store/sql.h"

#include <QCoreApplication>
#include <QStringList>

#include <algorithm>
#include <optional>

namespace firesteel::app {

namespace {

using namespace Qt::Literals::StringLiterals;

QString quoted(const QString &name) { return u"\"%1\""_s.arg(name); }

// Ordinary tables: the search indexes and their shadow tables are made anew.
StoreResult<QStringList> tablesOf(const QSqlDatabase &database)
{
    auto query = execute(database,
                         u"SELECT name FROM sqlite_schema WHERE type = 'table'"
                         " AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
                         " AND name NOT LIKE '%\\_index' ESCAPE '\\'"
                         " AND name NOT LIKE '%\\_index\\_%' ESCAPE '\\'"_s);
    if (!query)
        return std::unexpected(query.error());
    QStringList names;
    auto read = forEachRow(*query, [&names](const QSqlQuery &row) {
        names << row.value(0).toString();
        return true;
    });
    if (!read)
        return std::unexpected(read.error());
    return names;
}

QStringList columnsOf(const QSqlDatabase &database, const QString &table)
{
    QStringList names;
    auto query = execute(database, u"SELECT name FROM pragma_table_info(?)"_s, { table });
    if (query) {
        // A damaged file gives what it can.
        [[maybe_unused]] const auto all = forEachRow(*query, [&names](const QSqlQuery &row) {
            names << row.value(0).toString();
            return true;
        });
    }
    return names;
}

class TableCopy
{
public:
    TableCopy(const QSqlDatabase &from, const QSqlDatabase &to, QString table)
        : m_from(from)
        , m_to(to)
        , m_table(std::move(table))
    {
        // The damaged file may be of an earlier version: the columns both have.
        const QStringList old = columnsOf(from, m_table);
        for (const QString &column : columnsOf(to, m_table)) {
            if (old.contains(column))
                m_columns << quoted(column);
        }
    }

    // From the beginning to the first page that cannot be read, then from the end.
    StoreResult<void> run()
    {
        if (m_columns.isEmpty())
            return {};
        bool isWhole = false;
        if (auto forward = copy(u"ASC"_s, isWhole); !forward || isWhole)
            return forward;
        return copy(u"DESC"_s, isWhole);
    }

private:
    StoreResult<void> copy(const QString &order, bool &isWhole)
    {
        auto rows = execute(m_from,
                            u"SELECT %1 FROM %2 ORDER BY 1 %3"_s.arg(m_columns.join(u", "_s),
                                                                     quoted(m_table), order));
        if (!rows)
            return {}; // nothing can be read this way
        const QStringList marks(m_columns.size(), u"?"_s);
        auto insert = prepared(m_to,
                               u"INSERT OR IGNORE INTO %1 (%2) VALUES (%3)"_s.arg(
                                   quoted(m_table), m_columns.join(u", "_s), marks.join(u", "_s)));
        if (!insert)
            return std::unexpected(insert.error());
        StoreResult<void> done;
        auto read = forEachRow(*rows, [&](const QSqlQuery &row) {
            QVariantList values;
            for (int i = 0; i < m_columns.size(); ++i)
                values << row.value(i);
            done = runPrepared(*insert, values);
            // A value the new table refuses costs its row, no more.
            if (!done && done.error().code == StoreErrorCode::Refused)
                done = {};
            return done.has_value();
        });
        isWhole = read.has_value();
        return done;
    }

    const QSqlDatabase &m_from;
    const QSqlDatabase &m_to;
    QString m_table;
    QStringList m_columns;
};

StoreResult<void> mendReferences(const QSqlDatabase &to)
{
    const QString title = QCoreApplication::translate("Store", "Recovered conversation");
    auto adopted = execute(to,
                           u"INSERT INTO conversations (id, title, created, updated)"
                           " SELECT conversation, ?, min(created), max(created) FROM messages"
                           " WHERE conversation NOT IN (SELECT id FROM conversations)"
                           " GROUP BY conversation"_s,
                           { title });
    if (!adopted)
        return std::unexpected(adopted.error());
    return executeAll(
        to,
        { u"UPDATE messages SET parent = NULL WHERE parent IS NOT NULL"
          " AND parent NOT IN (SELECT id FROM messages)"_s,
          u"UPDATE conversations SET current_message = NULL WHERE current_message IS NOT NULL"
          " AND current_message NOT IN (SELECT id FROM messages)"_s,
          u"DELETE FROM reply_parts WHERE message NOT IN (SELECT id FROM messages)"_s });
}

StoreResult<void> copyAll(const QSqlDatabase &from, const QSqlDatabase &to)
{
    const auto tables = tablesOf(to);
    if (!tables)
        return std::unexpected(tables.error());
    for (const QString &table : *tables) {
        if (auto copied = TableCopy(from, to, table).run(); !copied)
            return copied;
    }
    if (!tables->contains(u"messages"_s))
        return {};
    if (auto mended = mendReferences(to); !mended)
        return mended;
    return rebuildIndexes(to);
}

StoreResult<int> rowsOf(const QSqlDatabase &database, const QString &table)
{
    return singleValue(database, u"SELECT count(*) FROM %1"_s.arg(quoted(table)))
        .transform([](const QVariant &value) { return value.toInt(); });
}

} // namespace

StoreResult<Salvaged> salvage(const QSqlDatabase &from, const QSqlDatabase &to)
{
    // Rows arrive before the rows they point to; what is missing at the end is mended.
    auto done = executeAll(to, { u"PRAGMA foreign_keys = OFF"_s, u"BEGIN IMMEDIATE"_s });
    if (done) {
        done = copyAll(from, to);
        const auto ended = executeAll(to, { done ? u"COMMIT"_s : u"ROLLBACK"_s });
        if (done)
            done = ended;
    }
    const auto restored = executeAll(to, { u"PRAGMA foreign_keys = ON"_s });
    if (!done || !restored)
        return std::unexpected(done ? restored.error() : done.error());
    return Salvaged { rowsOf(to, u"conversations"_s).value_or(0),
                      rowsOf(to, u"messages"_s).value_or(0) };
}

} // namespace firesteel::app
