// SPDX-License-Identifier: MIT
#include "app/models/download_manager.h"

#include "app/models/model_folder.h"
#include "app/store/database_thread.h"

#include <QDir>
#include <QFileInfo>
#include <QLoggingCategory>
#include <QThreadPool>
#include <QtConcurrentRun>

#include <algorithm>
#include <utility>

namespace firesteel::app {

namespace {

using namespace Qt::Literals::StringLiterals;
using Kind = ModelProblem::Kind;

Q_LOGGING_CATEGORY(logDownloads, "firesteel.downloads", QtInfoMsg)

constexpr int kReportMilliseconds = 250;

QString keyOf(const QString &repository, const QString &revision)
{
    return repository + u'@' + revision;
}

ModelProblem storeProblem(const StoreError &error)
{
    return { Kind::DiskFailed, error.message, {} };
}

} // namespace

DownloadManager::DownloadManager(DatabaseThread &database, const ModelCatalog &catalog, Setup setup)
    : m_database(database)
    , m_catalog(catalog)
    , m_setup(std::move(setup))
    , m_client(m_setup.hub, this)
    , m_reportTimer(this)
{
    m_clock.start();
    m_reportTimer.setInterval(kReportMilliseconds);
    connect(&m_reportTimer, &QTimer::timeout, this, &DownloadManager::report);
    for (const CatalogModel &model : catalog.models())
        m_entries.push_back({ model, {}, {}, {}, false });
}

DownloadManager::~DownloadManager()
{
    if (m_job)
        m_job->stop(); // what has arrived goes to the database, which outlives this
}

QString DownloadManager::folderOf(const QString &modelsFolder, const QString &repository,
                                  const QString &revision)
{
    return modelsFolder + u'/' + QString(repository).replace(u'/', "--"_L1) + u'/' + revision;
}

QString DownloadManager::conversionsOf(const QString &folder) { return folder + u".conversions"_s; }

DownloadManager::Entry *DownloadManager::find(const QString &repository, const QString &revision)
{
    const auto found = std::ranges::find_if(m_entries, [&](const Entry &entry) {
        return entry.model.repository == repository && entry.model.revision == revision;
    });
    return found == m_entries.end() ? nullptr : &*found;
}

void DownloadManager::load()
{
    m_database.read(readStoredModels).then(this, [this](StoreResult<StoredModels> stored) {
        if (stored)
            adopt(std::move(*stored));
        else
            qCWarning(logDownloads).noquote() << stored.error().message;
        startNext();
        report();
        Q_EMIT loaded();
    });
}

void DownloadManager::adopt(StoredModels stored)
{
    for (DownloadRow &row : stored.downloads) {
        Entry *entry = find(row.repository, row.revision);
        if (entry == nullptr) {
            // The catalogue has moved on; what was begun is not forgotten.
            CatalogModel model;
            model.id = keyOf(row.repository, row.revision);
            model.name = row.repository;
            model.repository = row.repository;
            model.revision = row.revision;
            m_entries.push_back({ model, {}, {}, {}, false });
            entry = &m_entries.back();
        }
        if (row.isReady && !QFileInfo::exists(row.folder)
            && QFileInfo::exists(DownloadJob::partialFolder(row.folder)))
            row.isReady = false; // a power cut came between
        entry->download = std::move(row);
        findMoved(*entry->download);
    }
    for (Consent &consent : stored.consents) {
        if (Entry *entry = find(consent.repository, consent.revision)) {
            if (entry->model.licenseId.isEmpty())
                entry->model.licenseId = consent.licenseId;
            entry->consent = std::move(consent);
        }
    }
    m_folders = std::move(stored.folders);
    // Ends deletions that were interrupted, withdrawals first of all.
    for (Entry &entry : m_entries) {
        const License *license = m_catalog.license(entry.model.licenseId);
        if (!entry.consent && license != nullptr && license->isRestricted)
            deleteFiles(entry, { conversionsOf(folderOf(entry)) });
    }
    QThreadPool::globalInstance()->start([folder = m_setup.modelsFolder] { sweepDeleted(folder); });
}

// A model or a partial download that lies below the folder of models now, and not where it was any
// more. What was ready is verified again.
void DownloadManager::findMoved(DownloadRow &row)
{
    const auto isAt = [](const QString &folder) {
        return QFileInfo::exists(folder) || QFileInfo::exists(DownloadJob::partialFolder(folder));
    };
    const QString here = folderOf(m_setup.modelsFolder, row.repository, row.revision);
    if (here == row.folder || isAt(row.folder) || !isAt(here))
        return;
    qCInfo(logDownloads).noquote() << row.repository << "was moved to" << here;
    row.folder = here;
    if (std::exchange(row.isReady, false)) {
        for (DownloadFileRow &file : row.files)
            file.isVerified = false;
    }
    m_database.keep([row](const QSqlDatabase &sql) { return moveDownload(sql, row); });
}

void DownloadManager::setModelsFolder(const QString &path)
{
    const QString folder = QDir::cleanPath(path);
    QtConcurrent::run([folder] {
        return prepareModelsFolder(folder);
    }).then(this, [this, folder](const std::optional<ModelProblem> &found) {
        if (found) {
            Q_EMIT folderRefused(folder, *found);
            return;
        }
        m_setup.modelsFolder = folder;
        for (Entry &entry : m_entries) {
            const bool isRunning = m_job && entry.download && m_job->row().id == entry.download->id;
            if (entry.download && !entry.isDeleting && !isRunning)
                findMoved(*entry.download);
        }
        Q_EMIT modelsFolderChanged(folder);
        startNext();
        report();
    });
}

void DownloadManager::setToken(const QByteArray &token)
{
    m_client.setToken(token);
    for (Entry &entry : m_entries) {
        if (entry.problem && problemAction(entry.problem->kind) == "token"_L1)
            entry.problem.reset();
    }
    startNext();
    report();
}

void DownloadManager::inquire(const QString &repository, const QString &revision)
{
    const Entry *entry = find(repository, revision);
    const QString key = keyOf(repository, revision);
    if (entry == nullptr || m_inquiries.contains(key))
        return;
    auto inquiry = std::make_unique<TermsInquiry>(m_client, m_catalog, entry->model);
    const auto end = [this, key] {
        if (const auto found = m_inquiries.find(key); found != m_inquiries.end()) {
            found->second.release()->deleteLater(); // in a signal of its own
            m_inquiries.erase(found);
        }
    };
    connect(inquiry.get(), &TermsInquiry::answered, this, [this, end](const LicenseTerms &terms) {
        end(); // the sender lives until its signal has returned
        Q_EMIT termsAnswered(terms);
    });
    connect(inquiry.get(), &TermsInquiry::failed, this,
            [this, end, repository, revision](const ModelProblem &problem) {
                end();
                Q_EMIT termsFailed(repository, revision, problem);
            });
    m_inquiries.emplace(key, std::move(inquiry));
}

void DownloadManager::accept(const LicenseTerms &terms, bool download)
{
    if (find(terms.repository, terms.revision) == nullptr)
        return;
    Consent consent { terms.repository,
                      terms.revision,
                      terms.licenseId,
                      terms.textSha256,
                      terms.textSource.isEmpty() ? u"standard text"_s : terms.textSource,
                      m_setup.appVersion,
                      QDateTime::currentDateTimeUtc() };
    m_database.write([consent](const QSqlDatabase &sql) { return acceptLicense(sql, consent); })
        .then(this, [this, consent, download](const StoreResult<void> &stored) {
            Entry *entry = find(consent.repository, consent.revision);
            if (!stored) {
                entry->problem = storeProblem(stored.error());
                report();
                return;
            }
            entry->consent = consent;
            entry->problem.reset();
            Q_EMIT consentStored(consent);
            report();
            if (download)
                enqueue(consent.repository, consent.revision);
        });
}

void DownloadManager::enqueue(const QString &repository, const QString &revision)
{
    Entry *entry = find(repository, revision);
    if (entry == nullptr || entry->isDeleting)
        return;
    if (entry->download) {
        resume(repository, revision);
        return;
    }
    if (!entry->consent) {
        entry->problem = ModelProblem { Kind::ConsentNeeded, {}, {} };
        report();
        return;
    }
    DownloadRow row;
    row.repository = repository;
    row.revision = revision;
    row.endpoint = m_setup.hub.endpoint.toString();
    row.folder = folderOf(m_setup.modelsFolder, repository, revision);
    m_database.write([row](const QSqlDatabase &sql) { return insertDownload(sql, row); })
        .then(this, [this, row](const StoreResult<qint64> &id) {
            Entry *stored = find(row.repository, row.revision);
            if (!id) {
                stored->problem = storeProblem(id.error());
            } else {
                stored->problem.reset();
                stored->download = row;
                stored->download->id = *id;
            }
            startNext();
            report();
        });
}

void DownloadManager::startNext()
{
    if (m_job)
        return;
    const auto next = std::ranges::find_if(m_entries, [](const Entry &entry) {
        return entry.download && !entry.download->isPaused && !entry.download->isReady
            && !entry.problem && !entry.isDeleting;
    });
    if (next == m_entries.end()) {
        m_reportTimer.stop();
        return;
    }
    m_samples.clear();
    m_job = std::make_unique<DownloadJob>(m_client, m_catalog, m_setup.job, next->model,
                                          *next->download, next->consent);
    connect(m_job.get(), &DownloadJob::changed, this, &DownloadManager::report);
    connect(m_job.get(), &DownloadJob::listed, this, &DownloadManager::onListed);
    connect(m_job.get(), &DownloadJob::fileProgressed, this, &DownloadManager::onProgress);
    connect(m_job.get(), &DownloadJob::ready, this, &DownloadManager::onReady);
    connect(m_job.get(), &DownloadJob::failed, this, &DownloadManager::onFailed);
    m_reportTimer.start();
    m_job->start();
}

// The job is usually inside a signal of its own.
void DownloadManager::dropJob()
{
    if (Entry *entry = find(m_job->row().repository, m_job->row().revision);
        entry != nullptr && entry->download) {
        entry->download->files = m_job->row().files;
        entry->download->isReady = m_job->row().isReady;
    }
    m_job->disconnect(this);
    m_job.release()->deleteLater();
}

void DownloadManager::onListed()
{
    m_database.keep([id = m_job->row().id, files = m_job->row().files](const QSqlDatabase &sql) {
        return insertFiles(sql, id, files);
    });
}

void DownloadManager::onProgress(const DownloadFileRow &file)
{
    m_database.keep([id = m_job->row().id, file](const QSqlDatabase &sql) {
        return updateFile(sql, id, file);
    });
}

void DownloadManager::onReady()
{
    m_database.keep([id = m_job->row().id](const QSqlDatabase &sql) {
        return updateDownload(sql, id, false, true);
    });
    qCInfo(logDownloads).noquote() << m_job->row().repository << "is ready";
    dropJob();
    startNext();
    report();
}

void DownloadManager::onFailed(const ModelProblem &problem)
{
    qCWarning(logDownloads).noquote()
        << m_job->row().repository << problemText(problem.kind) << problem.detail;
    if (Entry *entry = find(m_job->row().repository, m_job->row().revision))
        entry->problem = problem;
    dropJob();
    startNext();
    report();
}

void DownloadManager::pause(const QString &repository, const QString &revision)
{
    Entry *entry = find(repository, revision);
    if (entry == nullptr || !entry->download || entry->download->isReady)
        return;
    if (m_job && m_job->row().id == entry->download->id) {
        m_job->stop();
        dropJob();
    }
    entry->download->isPaused = true;
    entry->problem.reset();
    m_database.keep([id = entry->download->id](const QSqlDatabase &sql) {
        return updateDownload(sql, id, true, false);
    });
    startNext();
    report();
}

void DownloadManager::resume(const QString &repository, const QString &revision)
{
    Entry *entry = find(repository, revision);
    if (entry == nullptr || !entry->download || entry->isDeleting)
        return;
    if (entry->download->isReady && QFileInfo::exists(entry->download->folder))
        return;
    entry->download->isPaused = false;
    entry->download->isReady = false;
    entry->problem.reset();
    m_database.keep([id = entry->download->id](const QSqlDatabase &sql) {
        return updateDownload(sql, id, false, false);
    });
    startNext();
    report();
}

void DownloadManager::remove(const QString &repository, const QString &revision)
{
    Entry *entry = find(repository, revision);
    if (entry == nullptr || !entry->download || entry->isDeleting)
        return;
    if (m_job && m_job->row().id == entry->download->id) {
        m_job->stop();
        dropJob();
    }
    entry->isDeleting = true;
    entry->problem.reset();
    // The database forgets first: what is cancelled stays cancelled, whatever happens to its files.
    m_database
        .write(
            [id = entry->download->id](const QSqlDatabase &sql) { return removeDownload(sql, id); })
        .then(this, [this, repository, revision](const StoreResult<void> &removed) {
            Entry *doomed = find(repository, revision);
            if (!removed) {
                doomed->isDeleting = false;
                doomed->problem = storeProblem(removed.error());
                report();
                return;
            }
            deleteFiles(*doomed);
        });
    startNext();
    report();
}

void DownloadManager::withdraw(const QString &repository, const QString &revision)
{
    Entry *entry = find(repository, revision);
    if (entry == nullptr || !entry->consent || entry->isDeleting)
        return;
    if (m_job && m_job->row().repository == repository && m_job->row().revision == revision) {
        m_job->stop();
        dropJob();
    }
    entry->isDeleting = true;
    entry->problem.reset();
    // A folder that a person added is theirs; what was made of it here is not.
    QStringList conversions;
    std::erase_if(m_folders, [&](const AddedFolder &folder) {
        if (folder.repository != repository)
            return false;
        conversions << conversionsOf(folder.path);
        return true;
    });
    // The download's row goes when its files are gone: until then it says where they are.
    m_database
        .write([repository, revision](const QSqlDatabase &sql) -> StoreResult<void> {
            if (auto done
                = withdrawLicense(sql, repository, revision, QDateTime::currentDateTimeUtc());
                !done)
                return done;
            return removeFoldersOf(sql, repository);
        })
        .then(this, [this, repository, revision, conversions](const StoreResult<void> &withdrawn) {
            Entry *doomed = find(repository, revision);
            if (!withdrawn) {
                doomed->isDeleting = false;
                doomed->problem = storeProblem(withdrawn.error());
                report();
                return;
            }
            doomed->consent.reset();
            deleteFiles(*doomed, conversions + QStringList { conversionsOf(folderOf(*doomed)) });
        });
    startNext();
    report();
}

QString DownloadManager::folderOf(const Entry &entry) const
{
    return entry.download
        ? entry.download->folder
        : folderOf(m_setup.modelsFolder, entry.model.repository, entry.model.revision);
}

void DownloadManager::deleteFiles(Entry &entry, const QStringList &others)
{
    const QString folder = folderOf(entry);
    const qint64 id = entry.download ? entry.download->id : 0;
    entry.download.reset();
    entry.isDeleting = true;
    QtConcurrent::run([folders
                       = QStringList { folder, DownloadJob::partialFolder(folder) } + others] {
        for (const QString &doomed : folders)
            deleteFolder(doomed);
    }).then(this, [this, id, repository = entry.model.repository, revision = entry.model.revision] {
        if (id != 0)
            m_database.keep([id](const QSqlDatabase &sql) { return removeDownload(sql, id); });
        if (Entry *gone = find(repository, revision))
            gone->isDeleting = false;
        report();
    });
}

void DownloadManager::addFolder(const QString &path)
{
    QtConcurrent::run([path = QDir::cleanPath(path), &catalog = m_catalog] {
        return inspectFolder(path, catalog);
    }).then(this, [this](const FoundFolder &found) {
        if (found.problem) {
            Q_EMIT folderRefused(found.folder.path, *found.problem);
            return;
        }
        // A licence holds for what it covers, however it came here.
        for (const Entry &entry : m_entries) {
            const License *license = m_catalog.license(entry.model.licenseId);
            if (entry.model.repository == found.folder.repository && !entry.consent
                && license != nullptr && license->isRestricted) {
                Q_EMIT folderRefused(found.folder.path,
                                     { Kind::ConsentNeeded, entry.model.name, {} });
                return;
            }
        }
        storeFolder(found.folder);
    });
}

void DownloadManager::storeFolder(const AddedFolder &folder)
{
    m_database.write([folder](const QSqlDatabase &sql) { return insertFolder(sql, folder); })
        .then(this, [this, folder](const StoreResult<void> &stored) {
            if (!stored) {
                Q_EMIT folderRefused(folder.path, storeProblem(stored.error()));
                return;
            }
            std::erase_if(m_folders,
                          [&](const AddedFolder &other) { return other.path == folder.path; });
            m_folders.push_back(folder);
            report();
        });
}

void DownloadManager::forgetFolder(const QString &path)
{
    std::erase_if(m_folders, [&](const AddedFolder &folder) { return folder.path == path; });
    m_database.keep([path](const QSqlDatabase &sql) { return removeFolder(sql, path); });
    report();
}

} // namespace firesteel::app
