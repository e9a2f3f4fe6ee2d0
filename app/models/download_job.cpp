// SPDX-License-Identifier: MIT
#include "app/models/download_job.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QLocale>
#include <QStorageInfo>
#include <QtConcurrentRun>

#include <algorithm>
#include <sys/stat.h>
#include <utility>

namespace firesteel::app {

namespace {

using namespace Qt::Literals::StringLiterals;
using Kind = ModelProblem::Kind;

constexpr int kStoreMilliseconds = 1000;
constexpr int kDiskMilliseconds = 1000;
constexpr qint64 kStatBlock = 512; // unit of st_blocks, whatever the file system's own

std::optional<struct stat> statusOf(const QString &path)
{
    struct stat status = {};
    if (::stat(QFile::encodeName(path).constData(), &status) != 0)
        return std::nullopt;
    return status;
}

QString sizeText(qint64 bytes)
{
    return QLocale().formattedDataSize(bytes, 1, QLocale::DataSizeSIFormat);
}

QString partPath(const QString &target) { return target + u".part"_s; }

} // namespace

DownloadJob::DownloadJob(HubClient &client, const ModelCatalog &catalog, Setup setup,
                         CatalogModel model, DownloadRow row, std::optional<Consent> consent,
                         QObject *parent)
    : QObject(parent)
    , m_client(client)
    , m_catalog(catalog)
    , m_setup(std::move(setup))
    , m_model(std::move(model))
    , m_row(std::move(row))
    , m_consent(std::move(consent))
{
    m_storeTimer.setInterval(kStoreMilliseconds);
    connect(&m_storeTimer, &QTimer::timeout, this, &DownloadJob::store);
    m_diskTimer.setInterval(kDiskMilliseconds);
    connect(&m_diskTimer, &QTimer::timeout, this, &DownloadJob::watchDisk);
}

DownloadJob::~DownloadJob()
{
    if (m_reuse)
        m_reuse->isCancelled = true;
}

void DownloadJob::start()
{
    if (!m_consent) {
        fail({ Kind::ConsentNeeded, {}, {} });
        return;
    }
    if (m_row.files.empty()) {
        setStage(Stage::Asking);
        m_inquiry = std::make_unique<TermsInquiry>(m_client, m_catalog, m_model);
        connect(m_inquiry.get(), &TermsInquiry::answered, this, &DownloadJob::onTerms);
        connect(m_inquiry.get(), &TermsInquiry::failed, this, &DownloadJob::fail);
        return;
    }
    begin();
}

void DownloadJob::stop()
{
    store();
    m_storeTimer.stop();
    m_diskTimer.stop();
    m_inquiry.reset();
    m_file.reset();
    if (m_reuse)
        m_reuse->isCancelled = true;
    m_reuse.reset();
}

void DownloadJob::onTerms(const LicenseTerms &terms)
{
    m_inquiry.release()->deleteLater(); // this is its signal
    if (terms.licenseId != m_consent->licenseId || terms.textSha256 != m_consent->textSha256) {
        fail({ Kind::LicenseChanged, terms.name, {} });
        return;
    }
    for (const PinnedFile &pinned : m_model.weights) {
        const auto found = std::ranges::find_if(
            terms.files, [&](const HubFile &file) { return file.path == pinned.path; });
        if (found == terms.files.end() || found->size != pinned.size
            || found->digest != pinned.sha256) {
            fail({ Kind::WrongWeights, pinned.path, {} });
            return;
        }
    }
    for (const HubFile &file : terms.files)
        m_row.files.push_back({ file, false, {} });
    // Small ones first: what is wrong shows early, and the licence is there before the weights.
    std::ranges::stable_sort(m_row.files, {}, [](const auto &row) { return row.file.size; });
    Q_EMIT listed();
    begin();
}

void DownloadJob::begin()
{
    const QString partial = partialFolder(m_row.folder);
    // A whole folder that the database does not know as ready is verified like anything else.
    if (QFileInfo::exists(m_row.folder) && !QFileInfo::exists(partial))
        QFile::rename(m_row.folder, partial);
    if (!QDir().mkpath(partial)) {
        fail({ Kind::DiskFailed, partial, {} });
        return;
    }
    for (DownloadFileRow &row : m_row.files) {
        if (row.isVerified && QFileInfo(target(row)).size() != row.file.size) {
            row.isVerified = false;
            row.progress = {};
        }
    }
    if (const auto checked = checkDisk(); !checked) {
        fail(checked.error());
        return;
    }
    m_storeTimer.start();
    m_diskTimer.start();
    m_at = 0;
    nextFile();
}

QString DownloadJob::target(const DownloadFileRow &row) const
{
    return partialFolder(m_row.folder) + u'/' + row.file.path;
}

// Whether what is missing fits with the reserve. Files another program has on the same file system
// cost nothing; part files have their space already.
ModelResult<void> DownloadJob::checkDisk() const
{
    const auto folder = statusOf(partialFolder(m_row.folder));
    qint64 missing = 0;
    for (const DownloadFileRow &row : m_row.files) {
        if (row.isVerified || QFileInfo(target(row)).size() == row.file.size)
            continue;
        const QString cached
            = cachedFile(m_setup.cacheFolder, m_row.repository, m_row.revision, row.file);
        const auto other = cached.isEmpty() ? std::nullopt : statusOf(cached);
        if (other && folder && other->st_dev == folder->st_dev)
            continue;
        const auto part = statusOf(partPath(target(row)));
        missing += std::max<qint64>(0, row.file.size - (part ? part->st_blocks * kStatBlock : 0));
    }
    const QStorageInfo disk(partialFolder(m_row.folder));
    const auto share
        = static_cast<qint64>(m_setup.disk.reserveShare * static_cast<double>(disk.bytesTotal()));
    const qint64 needed = missing + std::max(m_setup.disk.reserveBytes, share);
    if (missing > 0 && disk.bytesAvailable() < needed)
        return problem(
            Kind::DiskFull,
            tr("%1 are needed, %2 are free in %3.")
                .arg(sizeText(needed), sizeText(disk.bytesAvailable()), disk.rootPath()));
    return {};
}

void DownloadJob::watchDisk()
{
    const QStorageInfo disk(partialFolder(m_row.folder));
    if (m_stage != Stage::Failed && disk.bytesAvailable() < m_setup.disk.floorBytes)
        fail({ Kind::DiskFull,
               tr("%1 are free in %2.").arg(sizeText(disk.bytesAvailable()), disk.rootPath()),
               {} });
}

void DownloadJob::nextFile()
{
    while (m_at < m_row.files.size() && m_row.files[m_at].isVerified)
        ++m_at;
    if (m_at == m_row.files.size()) {
        finish();
        return;
    }
    m_hasMismatched = false;
    const DownloadFileRow &row = m_row.files[m_at];
    // Finished before, but the database does not know; else from another program's cache. Not
    // where part of it has arrived.
    QString present = target(row);
    if (QFileInfo(present).size() != row.file.size || !QFileInfo::exists(present))
        present = row.progress.bytes() > 0
            ? QString()
            : cachedFile(m_setup.cacheFolder, m_row.repository, m_row.revision, row.file);
    if (present.isEmpty() || row.file.size == 0)
        transfer();
    else
        reuse(present);
}

void DownloadJob::reuse(const QString &source)
{
    setStage(Stage::Reusing);
    m_reuse = std::make_shared<Reuse>();
    const HubFile file = m_row.files[m_at].file;
    const QString path = target(m_row.files[m_at]);
    QtConcurrent::run([reuse = m_reuse, source, path, file] {
        const auto digest = digestOf(source, file, [&](qint64 bytes) {
            reuse->bytes = bytes;
            return !reuse->isCancelled;
        });
        if (!digest || *digest != file.digest)
            return false;
        return source == path || shareFile(source, path).has_value();
    }).then(this, [this, reuse = m_reuse, source](bool isGood) {
        if (reuse != m_reuse)
            return; // stopped meanwhile
        m_reuse.reset();
        if (isGood) {
            fileDone();
            return;
        }
        if (source == target(m_row.files[m_at]))
            QFile::remove(source); // ours, and not what was published
        transfer();
    });
}

void DownloadJob::transfer()
{
    setStage(Stage::Transferring);
    const DownloadFileRow &row = m_row.files[m_at];
    const QUrl url
        = hubFileUrl(m_client.setup().endpoint, m_row.repository, m_row.revision, row.file.path);
    m_file = std::make_unique<FileDownload>(m_client, m_setup.transfer, url, row.file,
                                            partPath(target(row)));
    connect(m_file.get(), &FileDownload::completed, this, &DownloadJob::onCompleted);
    connect(m_file.get(), &FileDownload::failed, this, &DownloadJob::fail);
    if (const auto started = m_file->start(row.progress); !started)
        fail(started.error());
}

void DownloadJob::onCompleted()
{
    const auto finished = m_file->finish(target(m_row.files[m_at]));
    if (finished) {
        m_received += m_file->receivedBytes();
        m_file.release()->deleteLater(); // this is its signal
        fileDone();
        return;
    }
    if (finished.error().kind == Kind::ContentMismatch && !m_hasMismatched) {
        m_hasMismatched = true;
        m_file->restart();
        return;
    }
    if (finished.error().kind == Kind::ContentMismatch) {
        // A later try must not believe these bytes.
        m_file->forget();
        store();
    }
    fail(finished.error());
}

void DownloadJob::fileDone()
{
    DownloadFileRow &row = m_row.files[m_at];
    row.isVerified = true;
    row.progress = {};
    Q_EMIT fileProgressed(row);
    nextFile();
}

void DownloadJob::finish()
{
    m_storeTimer.stop();
    m_diskTimer.stop();
    if (!QFile::rename(partialFolder(m_row.folder), m_row.folder)) {
        fail({ Kind::DiskFailed, m_row.folder, {} });
        return;
    }
    m_row.isReady = true;
    setStage(Stage::Ready);
    Q_EMIT ready();
}

void DownloadJob::store()
{
    if (!m_file || m_at >= m_row.files.size())
        return;
    auto progress = m_file->checkpoint();
    if (!progress) {
        fail(progress.error());
        return;
    }
    m_row.files[m_at].progress = std::move(*progress);
    Q_EMIT fileProgressed(m_row.files[m_at]);
}

void DownloadJob::fail(const ModelProblem &problem)
{
    if (m_stage == Stage::Failed)
        return;
    m_stage = Stage::Failed;
    m_problem = problem;
    m_storeTimer.stop();
    m_diskTimer.stop();
    // What has arrived is kept where the disk still takes it.
    if (m_file) {
        if (auto progress = m_file->checkpoint()) {
            m_row.files[m_at].progress = std::move(*progress);
            Q_EMIT fileProgressed(m_row.files[m_at]);
        }
        m_received += m_file->receivedBytes();
        m_file->disconnect(this);
        m_file.release()->deleteLater(); // may be in a signal of its own
    }
    if (m_reuse)
        m_reuse->isCancelled = true;
    m_reuse.reset();
    Q_EMIT changed();
    Q_EMIT failed(problem);
}

void DownloadJob::setStage(Stage stage)
{
    if (stage == m_stage)
        return;
    m_stage = stage;
    Q_EMIT changed();
}

qint64 DownloadJob::totalBytes() const
{
    qint64 sum = 0;
    for (const DownloadFileRow &row : m_row.files)
        sum += row.file.size;
    return m_row.files.empty() ? m_model.bytes : sum;
}

qint64 DownloadJob::bytes() const
{
    qint64 sum = 0;
    for (std::size_t i = 0; i < m_row.files.size(); ++i) {
        const DownloadFileRow &row = m_row.files[i];
        if (row.isVerified)
            sum += row.file.size;
        else if (i == m_at && m_file)
            sum += m_file->bytes();
        else if (i == m_at && m_reuse)
            sum += m_reuse->bytes;
        else
            sum += row.progress.bytes();
    }
    return sum;
}

std::optional<ModelProblem> DownloadJob::trouble() const
{
    return m_file ? m_file->trouble() : m_problem;
}

std::chrono::milliseconds DownloadJob::pauseLeft() const
{
    return m_file ? m_file->pauseLeft() : std::chrono::milliseconds(0);
}

} // namespace firesteel::app
