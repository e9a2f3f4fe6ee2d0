// SPDX-License-Identifier: MIT
//
// What is remembered about models, as functions on the database: licences accepted, downloads with
// every file's progress, folders that a person added. Called on the database thread by
// DownloadManager; the rows are plain values. The tables are a step of app/store/migrations.cpp.
#pragma once

#include "app/models/hub_protocol.h"
#include "app/models/model_catalog.h"
#include "app/store/store_error.h"

#include <QDateTime>
#include <QSqlDatabase>
#include <QString>

#include <map>
#include <optional>
#include <vector>

namespace firesteel::app {

// A licence accepted for one revision of one repository. Withdrawn ones are kept as history.
struct Consent
{
    QString repository;
    QString revision;
    QString licenseId; // SPDX, or as the repository spells it
    QByteArray textSha256; // hexadecimal, of the text that was shown
    QString textSource; // "LICENSE" of the repository, or "standard text"
    QString appVersion;
    QDateTime accepted; // UTC
};

// How far one file is. Bytes before `frontier` are on the disk and in the hash; `ahead` are on
// the disk beyond it.
struct FileProgress
{
    qint64 frontier = 0;
    QByteArray hashState; // ContentHash::state() at the frontier
    std::map<qint64, qint64> ahead; // begin -> end

    qint64 bytes() const;
};

struct DownloadFileRow
{
    HubFile file;
    bool isVerified = false;
    FileProgress progress;
};

struct DownloadRow
{
    qint64 id = 0; // 0: not stored yet
    QString repository;
    QString revision;
    QString endpoint;
    QString folder; // of the finished model
    bool isPaused = false;
    bool isReady = false;
    std::vector<DownloadFileRow> files; // empty: not listed yet
};

struct AddedFolder
{
    QString path;
    QString repository; // empty: not one of the catalogue
    QString revision; // of the weights found, which may differ from the catalogue's
    ModelRole role = ModelRole::Target;
};

struct StoredModels
{
    std::vector<Consent> consents; // in force
    std::vector<DownloadRow> downloads; // oldest first
    std::vector<AddedFolder> folders;
};

StoreResult<StoredModels> readStoredModels(const QSqlDatabase &sql);

StoreResult<void> acceptLicense(const QSqlDatabase &sql, const Consent &consent);
StoreResult<void> withdrawLicense(const QSqlDatabase &sql, const QString &repository,
                                  const QString &revision, const QDateTime &when);

// Returns the id.
StoreResult<qint64> insertDownload(const QSqlDatabase &sql, const DownloadRow &row);
StoreResult<void> insertFiles(const QSqlDatabase &sql, qint64 download,
                              const std::vector<DownloadFileRow> &files);
StoreResult<void> updateDownload(const QSqlDatabase &sql, qint64 id, bool isPaused, bool isReady);
StoreResult<void> updateFile(const QSqlDatabase &sql, qint64 download, const DownloadFileRow &file);
// Folder, flags and files of a download that lies somewhere else now.
StoreResult<void> moveDownload(const QSqlDatabase &sql, const DownloadRow &row);
StoreResult<void> removeDownload(const QSqlDatabase &sql, qint64 id);

StoreResult<void> insertFolder(const QSqlDatabase &sql, const AddedFolder &folder);
StoreResult<void> removeFolder(const QSqlDatabase &sql, const QString &path);
StoreResult<void> removeFoldersOf(const QSqlDatabase &sql, const QString &repository);

} // namespace firesteel::app
