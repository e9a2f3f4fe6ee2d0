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
using State = ModelStatus::State;

Q_LOGGING_CATEGORY(logDownloads, "firesteel.downloads", QtInfoMsg)

constexpr int kReportMilliseconds = 250;
constexpr qint64 kRateMilliseconds = 5000;

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
        Q_EMIT loaded();
        startNext();
        report();
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
            deleteFiles(entry, true);
    }
    QThreadPool::globalInstance()->start([folder = m_setup.modelsFolder] { sweepDeleted(folder); });
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
            deleteFiles(*doomed, false);
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
    std::erase_if(m_folders,
                  [&](const AddedFolder &folder) { return folder.repository == repository; });
    const qint64 id = entry->download ? entry->download->id : 0;
    m_database
        .write([repository, revision, id](const QSqlDatabase &sql) -> StoreResult<void> {
            if (auto done
                = withdrawLicense(sql, repository, revision, QDateTime::currentDateTimeUtc());
                !done)
                return done;
            if (auto done = removeFoldersOf(sql, repository); !done)
                return done;
            return removeDownload(sql, id);
        })
        .then(this, [this, repository, revision](const StoreResult<void> &withdrawn) {
            Entry *doomed = find(repository, revision);
            if (!withdrawn) {
                doomed->isDeleting = false;
                doomed->problem = storeProblem(withdrawn.error());
                report();
                return;
            }
            doomed->consent.reset();
            deleteFiles(*doomed, true);
        });
    startNext();
    report();
}

void DownloadManager::deleteFiles(Entry &entry, bool withConversions)
{
    const QString folder = entry.download
        ? entry.download->folder
        : folderOf(m_setup.modelsFolder, entry.model.repository, entry.model.revision);
    entry.download.reset();
    entry.isDeleting = true;
    QtConcurrent::run([folder, withConversions] {
        deleteFolder(folder);
        deleteFolder(DownloadJob::partialFolder(folder));
        if (withConversions)
            deleteFolder(conversionsOf(folder));
    }).then(this, [this, repository = entry.model.repository, revision = entry.model.revision] {
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

double DownloadManager::measureRate()
{
    const qint64 now = m_clock.elapsed();
    m_samples.push_back({ now, m_job->receivedBytes() });
    while (m_samples.size() > 2 && now - m_samples.front().milliseconds > kRateMilliseconds)
        m_samples.pop_front();
    const Sample &first = m_samples.front();
    const Sample &last = m_samples.back();
    const qint64 passed = last.milliseconds - first.milliseconds;
    return passed > 0
        ? 1000.0 * static_cast<double>(last.received - first.received) / static_cast<double>(passed)
        : 0;
}

ModelStatus DownloadManager::statusOf(const Entry &entry) const
{
    ModelStatus status;
    status.model = entry.model;
    status.consent = entry.consent;
    status.totalBytes = entry.model.bytes;
    if (entry.isDeleting) {
        status.state = State::Deleting;
        return status;
    }
    if (entry.problem) {
        status.state = State::Failed;
        status.problem = *entry.problem;
    }
    if (!entry.download)
        return status;
    const DownloadRow &row = *entry.download;
    status.folder = row.folder;
    if (!row.files.empty()) {
        status.totalBytes = 0;
        for (const DownloadFileRow &file : row.files) {
            status.totalBytes += file.file.size;
            status.bytes += file.isVerified ? file.file.size : file.progress.bytes();
        }
    }
    if (row.isReady)
        status.state = QFileInfo::exists(row.folder) ? State::Ready : State::Missing;
    else if (!entry.problem)
        status.state = row.isPaused ? State::Paused : State::Queued;
    if (!m_job || m_job->row().id != row.id || status.state != State::Queued)
        return status;
    status.bytes = m_job->bytes();
    status.totalBytes = m_job->totalBytes();
    const auto trouble = m_job->trouble();
    if (trouble) {
        status.state = State::Waiting;
        status.problem = *trouble;
        status.secondsToRetry = std::chrono::ceil<std::chrono::seconds>(m_job->pauseLeft()).count();
    } else if (m_job->stage() == DownloadJob::Stage::Asking) {
        status.state = State::Asking;
    } else if (m_job->stage() == DownloadJob::Stage::Reusing) {
        status.state = State::Checking;
    } else {
        status.state = State::Downloading;
    }
    return status;
}

ModelStatus DownloadManager::statusOf(const AddedFolder &folder) const
{
    ModelStatus status;
    status.folder = folder.path;
    status.model.name = QFileInfo(folder.path).fileName();
    status.model.role = folder.role;
    status.model.repository = folder.repository;
    status.model.revision = folder.revision;
    status.state = State::Added;
    for (const CatalogModel &model : m_catalog.models()) {
        if (model.repository != folder.repository)
            continue;
        status.model.name = model.name;
        status.model.creator = model.creator;
        status.model.licenseId = model.licenseId;
        if (model.revision != folder.revision)
            status.state = State::OtherWeights;
    }
    if (!QFileInfo::exists(folder.path))
        status.state = State::Missing;
    return status;
}

void DownloadManager::report()
{
    std::vector<ModelStatus> models;
    models.reserve(m_entries.size() + m_folders.size());
    const double rate = m_job ? measureRate() : 0;
    for (const Entry &entry : m_entries) {
        models.push_back(statusOf(entry));
        if (models.back().state == State::Downloading)
            models.back().bytesPerSecond = rate;
    }
    for (const AddedFolder &folder : m_folders)
        models.push_back(statusOf(folder));
    Q_EMIT modelsChanged(models);
}

} // namespace firesteel::app
