// SPDX-License-Identifier: MIT
//
// A hub for tests: nginx with a small repository, and fault_proxy.py before it as hub and content
// server. Also a manager of downloads with its database, as the application has them.
#pragma once

#include "app/models/download_manager.h"
#include "app/store/database_thread.h"

#include <QJsonArray>
#include <QObject>
#include <QProcess>
#include <QTemporaryDir>

#include <memory>
#include <vector>

namespace firesteel::test {

inline const QString kRepository = QStringLiteral("owner/model");
inline const QString kRevision = QStringLiteral("00112233445566778899aabbccddeeff00112233");
inline constexpr qint64 kWeightsBytes = 12'000'000; // of "weights.safetensors"
inline constexpr qint64 kLicenseBytes = 36; // of "LICENSE"

struct HubFileContent
{
    QString path;
    QByteArray bytes;
    bool isLarge = false; // told by SHA-256, else by git's blob id
};

class HubFixture
{
public:
    explicit HubFixture(QString repository = kRepository, QString revision = kRevision);
    ~HubFixture();

    static QString findNginx(); // empty where it is not installed
    // Empty when it runs, else why it cannot.
    QString start();

    QUrl endpoint() const { return QUrl(QStringLiteral("http://127.0.0.1:%1").arg(m_hubPort)); }
    const std::vector<HubFileContent> &files() const { return m_files; }
    qint64 totalBytes() const;

    void setFaults(const QByteArray &json);
    void setLifetime(double seconds); // of signed addresses
    QJsonArray requests();
    void forgetRequests();
    qint64 sentBytes(const QString &path); // by the content server, repeats included
    QByteArray nginxLog() const;

    QByteArray catalogJson() const; // with the repository as its one model
    app::ModelCatalog catalog() const { return parseCatalog(catalogJson()); }
    static app::ModelCatalog parseCatalog(const QByteArray &json);

private:
    void writeFiles();
    void writeApi() const;
    bool startNginx();
    bool startProxy();
    QByteArray control(const QByteArray &method, const QByteArray &path, const QByteArray &body);

    QString m_repository;
    QString m_revision;
    QTemporaryDir m_folder;
    std::vector<HubFileContent> m_files;
    QProcess m_nginx;
    QProcess m_proxy;
    int m_nginxPort = 0;
    int m_hubPort = 0;
    int m_controlPort = 0;
};

// The part of the application that downloads, with its threads. Signals are heard on the test's
// thread.
class DownloadSession : public QObject
{
    Q_OBJECT

public:
    DownloadSession(const app::ModelCatalog &catalog, app::DownloadManager::Setup setup,
                    const QString &database);
    ~DownloadSession() override;

    // Runs work on the manager's thread, later.
    template <typename F> void call(F work)
    {
        QMetaObject::invokeMethod(m_manager, [manager = m_manager, work] { work(*manager); });
    }
    void accept(); // asks for the terms, accepts them: the download begins

    app::ModelStatus status() const; // of the first model
    const std::vector<app::ModelStatus> &models() const { return m_models; }
    bool isLoaded() const { return m_isLoaded; }
    const std::optional<app::LicenseTerms> &terms() const { return m_terms; }
    const std::optional<app::ModelProblem> &termsProblem() const { return m_termsProblem; }
    const QString &modelsFolder() const { return m_modelsFolder; } // once it was changed
    const std::optional<app::ModelProblem> &refusal() const { return m_refusal; } // of a folder
    const std::vector<app::ModelStatus::State> &states() const { return m_states; } // as they came

private:
    app::DatabaseThread m_database;
    QThread m_thread;
    app::DownloadManager *m_manager = nullptr;
    std::vector<app::ModelStatus> m_models;
    std::vector<app::ModelStatus::State> m_states;
    std::optional<app::LicenseTerms> m_terms;
    std::optional<app::ModelProblem> m_termsProblem;
    std::optional<app::ModelProblem> m_refusal;
    QString m_modelsFolder;
    bool m_isLoaded = false;
    bool m_isAccepting = false;
};

// Small ranges and short pauses; no reserve of disk space.
app::DownloadManager::Setup quickSetup(const QUrl &endpoint, const QString &folder);

} // namespace firesteel::test
