// SPDX-License-Identifier: MIT
#include "app/store/migrations.h"

#include "app/store/sql.h"

#include <QCoreApplication>

#include <array>

namespace firesteel::app {

namespace {

using namespace Qt::Literals::StringLiterals;

// Step 1, conversations. Ids are made by the app before a row is written: milliseconds since 1970
// in the upper bits, so they grow with time (see record_id.h). Times are milliseconds since 1970,
// UTC. Messages form a tree: an edit or a new answer is another child of the same parent.
//
// A reply under way is a row without `finish`; its text so far is in reply_parts, so that a
// checkpoint writes what is new and not the whole reply again.
//
// The indexes are contentless: they hold the words of search_text.h (pairs of characters in
// Chinese, Japanese and Korean), never a second copy of the text.
QStringList conversationTables()
{
    return {
        u"CREATE TABLE conversations ("
        "  id INTEGER PRIMARY KEY,"
        "  title TEXT NOT NULL DEFAULT '',"
        "  created INTEGER NOT NULL,"
        "  updated INTEGER NOT NULL,"
        "  deleted INTEGER," // when it was deleted, while that can be undone
        "  current_message INTEGER," // the leaf of the branch on show
        "  settings TEXT NOT NULL DEFAULT '{}'" // JSON object
        ") STRICT"_s,
        u"CREATE TABLE messages ("
        "  id INTEGER PRIMARY KEY,"
        "  conversation INTEGER NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,"
        "  parent INTEGER REFERENCES messages (id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED,"
        "  role TEXT NOT NULL CHECK (role IN ('system', 'user', 'assistant', 'tool')),"
        "  created INTEGER NOT NULL,"
        "  text TEXT NOT NULL DEFAULT '',"
        "  thinking TEXT NOT NULL DEFAULT '',"
        "  tokens BLOB," // int32, little endian; NULL: not known
        "  tool_calls TEXT," // JSON array of {id, name, arguments}
        "  tool_call_id TEXT," // role tool: the call it answers
        "  finish TEXT," // see message_record.h; NULL: under way
        "  statistics TEXT," // JSON object
        "  error TEXT," // JSON object
        "  model TEXT"
        ") STRICT"_s,
        u"CREATE INDEX messages_by_conversation ON messages (conversation)"_s,
        u"CREATE INDEX messages_by_parent ON messages (parent)"_s,
        u"CREATE TABLE reply_parts ("
        "  message INTEGER NOT NULL REFERENCES messages (id) ON DELETE CASCADE,"
        "  part INTEGER NOT NULL,"
        "  text TEXT NOT NULL,"
        "  thinking TEXT NOT NULL,"
        "  tokens BLOB,"
        "  PRIMARY KEY (message, part)"
        ") STRICT, WITHOUT ROWID"_s,
        u"CREATE VIRTUAL TABLE message_index USING fts5 (text, content = '',"
        "  contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 2')"_s,
        u"CREATE VIRTUAL TABLE title_index USING fts5 (title, content = '',"
        "  contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 2')"_s,
        u"CREATE TRIGGER message_unindexed AFTER DELETE ON messages BEGIN"
        "  DELETE FROM message_index WHERE rowid = old.id; END"_s,
        u"CREATE TRIGGER title_unindexed AFTER DELETE ON conversations BEGIN"
        "  DELETE FROM title_index WHERE rowid = old.id; END"_s,
    };
}

// Step 2, models: licences accepted, downloads and how far each file is, folders of a person's own.
// Rows as in app/models/model_tables.h.
QStringList modelTables()
{
    return {
        u"CREATE TABLE license_consents ("
        "  id INTEGER PRIMARY KEY,"
        "  repository TEXT NOT NULL,"
        "  revision TEXT NOT NULL,"
        "  license TEXT NOT NULL,"
        "  text_sha256 TEXT NOT NULL,"
        "  text_source TEXT NOT NULL,"
        "  app_version TEXT NOT NULL,"
        "  accepted INTEGER NOT NULL," // milliseconds since 1970, UTC
        "  withdrawn INTEGER" // likewise; NULL: in force
        ") STRICT"_s,
        u"CREATE TABLE downloads ("
        "  id INTEGER PRIMARY KEY,"
        "  repository TEXT NOT NULL,"
        "  revision TEXT NOT NULL,"
        "  endpoint TEXT NOT NULL,"
        "  folder TEXT NOT NULL,"
        "  paused INTEGER NOT NULL DEFAULT 0,"
        "  ready INTEGER NOT NULL DEFAULT 0,"
        "  UNIQUE (repository, revision)"
        ") STRICT"_s,
        u"CREATE TABLE download_files ("
        "  download INTEGER NOT NULL REFERENCES downloads (id) ON DELETE CASCADE,"
        "  path TEXT NOT NULL,"
        "  size INTEGER NOT NULL,"
        "  kind INTEGER NOT NULL," // ContentHash::Kind
        "  digest TEXT NOT NULL,"
        "  verified INTEGER NOT NULL DEFAULT 0,"
        "  frontier INTEGER NOT NULL DEFAULT 0,"
        "  hash_state BLOB,"
        "  ahead TEXT NOT NULL DEFAULT ''," // "begin-end,...", past the frontier
        "  UNIQUE (download, path)"
        ") STRICT"_s,
        u"CREATE TABLE model_folders ("
        "  path TEXT NOT NULL UNIQUE,"
        "  repository TEXT NOT NULL,"
        "  revision TEXT NOT NULL,"
        "  role INTEGER NOT NULL" // 0 target, 1 drafter
        ") STRICT"_s,
    };
}

// Step 3: which vocabulary a message's tokens belong to (engine::ModelInfo::vocabulary).
QStringList vocabularyColumn() { return { u"ALTER TABLE messages ADD COLUMN vocabulary TEXT"_s }; }

// Step 4, presets of how to answer. Rows as in app/settings/preset_tables.h.
QStringList presetTables()
{
    return {
        u"CREATE TABLE presets ("
        "  id INTEGER PRIMARY KEY,"
        "  name TEXT NOT NULL,"
        "  settings TEXT NOT NULL DEFAULT '{}'," // JSON object
        "  is_default INTEGER NOT NULL DEFAULT 0" // at most one: what new chats start with
        ") STRICT"_s,
    };
}

StoreResult<void> runStep(const QSqlDatabase &database, const Migration &step)
{
    if (auto begun = execute(database, u"BEGIN IMMEDIATE"_s); !begun)
        return std::unexpected(begun.error());
    auto done = executeAll(database, step.statements);
    if (done)
        done = executeAll(database,
                          { u"PRAGMA user_version = %1"_s.arg(step.version), u"COMMIT"_s });
    if (!done) {
        // The first error is the one to report.
        [[maybe_unused]] const auto rolledBack = execute(database, u"ROLLBACK"_s);
    }
    return done;
}

} // namespace

std::span<const Migration> migrations()
{
    static const std::array steps {
        Migration { 1, u"app/store"_s, conversationTables() },
        Migration { 2, u"app/models"_s, modelTables() },
        Migration { 3, u"app/store"_s, vocabularyColumn() },
        Migration { 4, u"app/settings"_s, presetTables() },
    };
    return steps;
}

int newestVersion(std::span<const Migration> steps)
{
    return steps.empty() ? 0 : steps.back().version;
}

StoreResult<int> databaseVersion(const QSqlDatabase &database)
{
    return singleValue(database, u"PRAGMA user_version"_s).transform([](const QVariant &value) {
        return value.toInt();
    });
}

StoreResult<void> migrate(const QSqlDatabase &database, std::span<const Migration> steps)
{
    const auto version = databaseVersion(database);
    if (!version)
        return std::unexpected(version.error());
    if (*version > newestVersion(steps))
        return storeFailure(
            StoreErrorCode::Newer,
            QCoreApplication::translate("Store",
                                        "The database has version %1; this program "
                                        "knows versions up to %2.")
                .arg(QString::number(*version), QString::number(newestVersion(steps))));
    for (const Migration &step : steps) {
        if (step.version <= *version)
            continue;
        if (auto done = runStep(database, step); !done)
            return done;
    }
    return {};
}

} // namespace firesteel::app
