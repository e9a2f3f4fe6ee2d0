// SPDX-License-Identifier: MIT
//
// One repository at one revision on its way to this machine: what the hub says about it, the
// consent, the list of files, the space for them, what other programs have already, then file
// after file, each verified. Made by DownloadManager, on the download thread.
//
// Files gather in `<folder>.partial`, part files under `name.part`; the folder gets its name when
// the last one is verified, so a folder without ".partial" is a whole model.
#pragma once

#include "app/models/file_download.h"
#include "app/models/hub_cache.h"
#include "app/models/model_catalog.h"
#include "app/models/model_tables.h"
#include "app/models/terms_inquiry.h"

#include <QObject>
#include <QTimer>

#include <atomic>
#include <memory>
#include <optional>

namespace firesteel::app {

struct DiskSetup
{
    // What must stay free after everything has arrived: the larger of both.
    qint64 reserveBytes = 5'000'000'000;
    double reserveShare = 0.02; // of the file system
    qint64 floorBytes = 1'000'000'000; // below this a download stops
};

class DownloadJob : public QObject
{
    Q_OBJECT

public:
    enum class Stage { Asking, Reusing, Transferring, Ready, Failed };

    struct Setup
    {
        TransferSetup transfer;
        DiskSetup disk;
        QString cacheFolder; // of other programs; empty: none
    };

    DownloadJob(HubClient &client, const ModelCatalog &catalog, Setup setup, CatalogModel model,
                DownloadRow row, std::optional<Consent> consent, QObject *parent = nullptr);
    ~DownloadJob() override;

    void start();
    // Puts what has arrived on the disk and says so through fileProgressed(); nothing follows.
    void stop();

    const CatalogModel &model() const { return m_model; }
    const DownloadRow &row() const { return m_row; }
    Stage stage() const { return m_stage; }
    qint64 totalBytes() const;
    qint64 bytes() const; // on the disk, verified or not
    qint64 receivedBytes() const { return m_received + (m_file ? m_file->receivedBytes() : 0); }
    std::optional<ModelProblem> trouble() const;
    std::chrono::milliseconds pauseLeft() const;

    static QString partialFolder(const QString &folder)
    {
        return folder + QStringLiteral(".partial");
    }

Q_SIGNALS:
    void changed(); // of the stage
    void listed(); // row().files is filled and to be stored
    void fileProgressed(const firesteel::app::DownloadFileRow &file); // to be stored
    void ready(); // the folder has its name
    void failed(const firesteel::app::ModelProblem &problem);

private:
    // Work on another thread: reading a file that is here already.
    struct Reuse
    {
        std::atomic<bool> isCancelled = false;
        std::atomic<qint64> bytes = 0;
    };

    void onTerms(const LicenseTerms &terms);
    void begin();
    ModelResult<void> checkDisk() const;
    void nextFile();
    void reuse(const QString &source);
    void transfer();
    void onCompleted();
    void fileDone();
    void finish();
    void store();
    void watchDisk();
    void fail(const ModelProblem &problem);
    void setStage(Stage stage);
    QString target(const DownloadFileRow &row) const;

    HubClient &m_client;
    const ModelCatalog &m_catalog;
    Setup m_setup;
    CatalogModel m_model;
    DownloadRow m_row;
    std::optional<Consent> m_consent;
    Stage m_stage = Stage::Asking;
    std::size_t m_at = 0; // of row().files
    std::unique_ptr<TermsInquiry> m_inquiry;
    std::unique_ptr<FileDownload> m_file;
    std::shared_ptr<Reuse> m_reuse;
    std::optional<ModelProblem> m_problem;
    qint64 m_received = 0;
    bool m_hasMismatched = false; // the file at hand, once
    QTimer m_storeTimer;
    QTimer m_diskTimer;
};

} // namespace firesteel::app
