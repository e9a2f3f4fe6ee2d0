// SPDX-License-Identifier: MIT
//
// The models on this machine and the queue of those on their way. It lives on the download thread
// with network and disk; ModelsController and the headless download call it by queued calls and
// hear its signals. What it knows is in the database before it is true: a kill at any moment
// resumes, a cancelled download never comes back.
#pragma once

#include "app/models/download_job.h"
#include "app/models/hub_client.h"
#include "app/models/model_status.h"
#include "app/models/terms_inquiry.h"

#include <QElapsedTimer>
#include <QObject>
#include <QTimer>

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace firesteel::app {

class DatabaseThread;

class DownloadManager : public QObject
{
    Q_OBJECT

public:
    struct Setup
    {
        HubSetup hub;
        DownloadJob::Setup job;
        QString modelsFolder;
        QString appVersion;
    };

    // Both outlive the manager.
    DownloadManager(DatabaseThread &database, const ModelCatalog &catalog, Setup setup);
    ~DownloadManager() override;

    // Reads what is stored, ends what was interrupted and goes on with the queue.
    void load();
    void setToken(const QByteArray &token);

    void inquire(const QString &repository, const QString &revision); // -> termsAnswered
    // Stores the consent and, unless told otherwise, queues the download.
    void accept(const LicenseTerms &terms, bool download = true);
    void enqueue(const QString &repository, const QString &revision);
    void pause(const QString &repository, const QString &revision);
    void resume(const QString &repository, const QString &revision);
    // Stops a download or removes a model that is here, with its files.
    void remove(const QString &repository, const QString &revision);
    // Withdraws the consent; deletes the model and everything made of it on this machine.
    void withdraw(const QString &repository, const QString &revision);
    // Where models go from now on; one that was moved there by hand is found again. Answers by
    // modelsFolderChanged() or folderRefused().
    void setModelsFolder(const QString &path);
    void addFolder(const QString &path);
    void forgetFolder(const QString &path); // deletes nothing

    // Below the folder of models.
    static QString folderOf(const QString &modelsFolder, const QString &repository,
                            const QString &revision);
    // Where conversions of a model have to be kept, so that withdrawing finds them.
    static QString conversionsOf(const QString &folder);

Q_SIGNALS:
    void loaded();
    void modelsChanged(const std::vector<firesteel::app::ModelStatus> &models);
    void termsAnswered(const firesteel::app::LicenseTerms &terms);
    void termsFailed(const QString &repository, const QString &revision,
                     const firesteel::app::ModelProblem &problem);
    void consentStored(const firesteel::app::Consent &consent);
    void modelsFolderChanged(const QString &path);
    void folderRefused(const QString &path, const firesteel::app::ModelProblem &problem);

private:
    struct Entry
    {
        CatalogModel model;
        std::optional<Consent> consent;
        std::optional<DownloadRow> download;
        std::optional<ModelProblem> problem; // of the last try
        bool isDeleting = false;
    };

    Entry *find(const QString &repository, const QString &revision);
    void adopt(StoredModels stored);
    void startNext();
    void dropJob();
    void onListed();
    void onProgress(const DownloadFileRow &file);
    void onReady();
    void onFailed(const ModelProblem &problem);
    void findMoved(DownloadRow &row);
    QString folderOf(const Entry &entry) const;
    void deleteFiles(Entry &entry,
                     const QStringList &others = {}); // with its partial folder and others
    void storeFolder(const AddedFolder &folder);
    void report();
    ModelStatus statusOf(const Entry &entry) const;
    ModelStatus statusOf(const AddedFolder &folder) const;
    double measureRate();

    DatabaseThread &m_database;
    const ModelCatalog &m_catalog;
    Setup m_setup;
    HubClient m_client;
    std::vector<Entry> m_entries;
    std::vector<AddedFolder> m_folders;
    std::map<QString, std::unique_ptr<TermsInquiry>> m_inquiries; // by repository@revision
    std::unique_ptr<DownloadJob> m_job; // one at a time: two would only share the line
    struct Sample
    {
        qint64 milliseconds = 0;
        qint64 received = 0;
    };
    std::deque<Sample> m_samples;
    QElapsedTimer m_clock;
    QTimer m_reportTimer;
};

} // namespace firesteel::app
