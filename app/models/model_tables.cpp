// SPDX-License-Identifier: MIT
#include "app/models/model_tables.h"

#include "app/store/sql.h"

#include <QTimeZone>

#include <utility>

namespace firesteel::app {

namespace {

using namespace Qt::Literals::StringLiterals;

// A null string would be bound as NULL.
QString notNull(const QString &text) { return text.isNull() ? u""_s : text; }

QString rangesText(const std::map<qint64, qint64> &ranges)
{
    QStringList parts;
    for (const auto &[begin, end] : ranges)
        parts << u"%1-%2"_s.arg(begin).arg(end);
    return parts.join(u',');
}

std::map<qint64, qint64> parseRanges(const QString &text)
{
    std::map<qint64, qint64> ranges;
    for (const QString &part : text.split(u',', Qt::SkipEmptyParts)) {
        const qsizetype dash = part.indexOf(u'-');
        const qint64 begin = part.left(dash).toLongLong();
        const qint64 end = part.mid(dash + 1).toLongLong();
        if (dash > 0 && begin < end)
            ranges.emplace(begin, end);
    }
    return ranges;
}

StoreResult<void> done(const StoreResult<QSqlQuery> &result)
{
    return result ? StoreResult<void>() : std::unexpected(result.error());
}

StoreResult<std::vector<Consent>> readConsents(const QSqlDatabase &sql)
{
    auto query = execute(sql,
                         u"SELECT repository, revision, license, text_sha256, text_source,"
                         " app_version, accepted FROM license_consents WHERE withdrawn IS NULL"_s);
    if (!query)
        return std::unexpected(query.error());
    std::vector<Consent> consents;
    const auto read = forEachRow(*query, [&](const QSqlQuery &row) {
        consents.push_back(
            { row.value(0).toString(), row.value(1).toString(), row.value(2).toString(),
              row.value(3).toString().toLatin1(), row.value(4).toString(), row.value(5).toString(),
              QDateTime::fromMSecsSinceEpoch(row.value(6).toLongLong(), QTimeZone::UTC) });
        return true;
    });
    if (!read)
        return std::unexpected(read.error());
    return consents;
}

StoreResult<void> readFiles(const QSqlDatabase &sql, DownloadRow &download)
{
    auto query = execute(sql,
                         u"SELECT path, size, kind, digest, verified, frontier, hash_state, ahead"
                         " FROM download_files WHERE download = ? ORDER BY rowid"_s,
                         { download.id });
    if (!query)
        return std::unexpected(query.error());
    return forEachRow(*query, [&](const QSqlQuery &row) {
        DownloadFileRow file;
        file.file = { row.value(0).toString(), row.value(1).toLongLong(),
                      static_cast<ContentHash::Kind>(row.value(2).toInt()),
                      row.value(3).toString().toLatin1() };
        file.isVerified = row.value(4).toBool();
        file.progress = { row.value(5).toLongLong(), row.value(6).toByteArray(),
                          parseRanges(row.value(7).toString()) };
        download.files.push_back(std::move(file));
        return true;
    });
}

StoreResult<std::vector<DownloadRow>> readDownloads(const QSqlDatabase &sql)
{
    auto query = execute(sql,
                         u"SELECT id, repository, revision, endpoint, folder, paused, ready"
                         " FROM downloads ORDER BY id"_s);
    if (!query)
        return std::unexpected(query.error());
    std::vector<DownloadRow> downloads;
    auto read = forEachRow(*query, [&](const QSqlQuery &row) {
        downloads.push_back({ row.value(0).toLongLong(),
                              row.value(1).toString(),
                              row.value(2).toString(),
                              row.value(3).toString(),
                              row.value(4).toString(),
                              row.value(5).toBool(),
                              row.value(6).toBool(),
                              {} });
        return true;
    });
    for (auto download = downloads.begin(); read && download != downloads.end(); ++download)
        read = readFiles(sql, *download);
    if (!read)
        return std::unexpected(read.error());
    return downloads;
}

StoreResult<std::vector<AddedFolder>> readFolders(const QSqlDatabase &sql)
{
    auto query = execute(sql,
                         u"SELECT path, repository, revision, role FROM model_folders"
                         " ORDER BY rowid"_s);
    if (!query)
        return std::unexpected(query.error());
    std::vector<AddedFolder> folders;
    const auto read = forEachRow(*query, [&](const QSqlQuery &row) {
        folders.push_back({ row.value(0).toString(), row.value(1).toString(),
                            row.value(2).toString(),
                            row.value(3).toInt() == 1 ? ModelRole::Drafter : ModelRole::Target });
        return true;
    });
    if (!read)
        return std::unexpected(read.error());
    return folders;
}

} // namespace

qint64 FileProgress::bytes() const
{
    qint64 sum = frontier;
    for (const auto &[begin, end] : ahead)
        sum += end - begin;
    return sum;
}

StoreResult<StoredModels> readStoredModels(const QSqlDatabase &sql)
{
    StoredModels stored;
    auto consents = readConsents(sql);
    if (!consents)
        return std::unexpected(consents.error());
    auto downloads = readDownloads(sql);
    if (!downloads)
        return std::unexpected(downloads.error());
    auto folders = readFolders(sql);
    if (!folders)
        return std::unexpected(folders.error());
    return StoredModels { std::move(*consents), std::move(*downloads), std::move(*folders) };
}

StoreResult<void> acceptLicense(const QSqlDatabase &sql, const Consent &consent)
{
    if (auto old = withdrawLicense(sql, consent.repository, consent.revision, consent.accepted);
        !old)
        return old;
    return done(execute(sql,
                        u"INSERT INTO license_consents (repository, revision, license,"
                        " text_sha256, text_source, app_version, accepted)"
                        " VALUES (?, ?, ?, ?, ?, ?, ?)"_s,
                        { consent.repository, consent.revision, consent.licenseId,
                          QString::fromLatin1(consent.textSha256), notNull(consent.textSource),
                          notNull(consent.appVersion), consent.accepted.toMSecsSinceEpoch() }));
}

StoreResult<void> withdrawLicense(const QSqlDatabase &sql, const QString &repository,
                                  const QString &revision, const QDateTime &when)
{
    return done(execute(sql,
                        u"UPDATE license_consents SET withdrawn = ?"
                        " WHERE repository = ? AND revision = ? AND withdrawn IS NULL"_s,
                        { when.toMSecsSinceEpoch(), repository, revision }));
}

StoreResult<qint64> insertDownload(const QSqlDatabase &sql, const DownloadRow &row)
{
    auto query = execute(sql,
                         u"INSERT INTO downloads (repository, revision, endpoint, folder)"
                         " VALUES (?, ?, ?, ?)"_s,
                         { row.repository, row.revision, row.endpoint, row.folder });
    if (!query)
        return std::unexpected(query.error());
    return query->lastInsertId().toLongLong();
}

StoreResult<void> insertFiles(const QSqlDatabase &sql, qint64 download,
                              const std::vector<DownloadFileRow> &files)
{
    auto query = prepared(sql,
                          u"INSERT INTO download_files (download, path, size, kind, digest,"
                          " verified) VALUES (?, ?, ?, ?, ?, ?)"_s);
    if (!query)
        return std::unexpected(query.error());
    for (const DownloadFileRow &row : files) {
        const HubFile &file = row.file;
        if (auto ran = runPrepared(*query,
                                   { download, file.path, file.size, static_cast<int>(file.kind),
                                     QString::fromLatin1(file.digest), row.isVerified ? 1 : 0 });
            !ran)
            return ran;
    }
    return {};
}

StoreResult<void> updateDownload(const QSqlDatabase &sql, qint64 id, bool isPaused, bool isReady)
{
    return done(execute(sql, u"UPDATE downloads SET paused = ?, ready = ? WHERE id = ?"_s,
                        { isPaused ? 1 : 0, isReady ? 1 : 0, id }));
}

StoreResult<void> updateFile(const QSqlDatabase &sql, qint64 download, const DownloadFileRow &file)
{
    return done(execute(
        sql,
        u"UPDATE download_files SET verified = ?, frontier = ?, hash_state = ?,"
        " ahead = ? WHERE download = ? AND path = ?"_s,
        { file.isVerified ? 1 : 0, file.progress.frontier,
          file.progress.hashState.isEmpty() ? QVariant() : QVariant(file.progress.hashState),
          notNull(rangesText(file.progress.ahead)), download, file.file.path }));
}

StoreResult<void> moveDownload(const QSqlDatabase &sql, const DownloadRow &row)
{
    auto moved = done(
        execute(sql, u"UPDATE downloads SET folder = ? WHERE id = ?"_s, { row.folder, row.id }));
    if (moved)
        moved = updateDownload(sql, row.id, row.isPaused, row.isReady);
    for (auto file = row.files.begin(); moved && file != row.files.end(); ++file)
        moved = updateFile(sql, row.id, *file);
    return moved;
}

StoreResult<void> removeDownload(const QSqlDatabase &sql, qint64 id)
{
    return done(execute(sql, u"DELETE FROM downloads WHERE id = ?"_s, { id }));
}

StoreResult<void> insertFolder(const QSqlDatabase &sql, const AddedFolder &folder)
{
    return done(execute(sql,
                        u"INSERT OR REPLACE INTO model_folders (path, repository, revision, role)"
                        " VALUES (?, ?, ?, ?)"_s,
                        { folder.path, notNull(folder.repository), notNull(folder.revision),
                          folder.role == ModelRole::Drafter ? 1 : 0 }));
}

StoreResult<void> removeFolder(const QSqlDatabase &sql, const QString &path)
{
    return done(execute(sql, u"DELETE FROM model_folders WHERE path = ?"_s, { path }));
}

StoreResult<void> removeFoldersOf(const QSqlDatabase &sql, const QString &repository)
{
    return done(execute(sql, u"DELETE FROM model_folders WHERE repository = ?"_s, { repository }));
}

} // namespace firesteel::app
