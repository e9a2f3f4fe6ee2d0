// SPDX-License-Identifier: MIT
//
// The part of DownloadManager that tells where every model stands.
#include "app/models/download_manager.h"

#include <QFileInfo>

namespace firesteel::app {

using State = ModelStatus::State;

namespace {

constexpr qint64 kRateMilliseconds = 5000; // the time over which the speed is measured

} // namespace

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
