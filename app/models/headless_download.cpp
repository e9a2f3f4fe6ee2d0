// SPDX-License-Identifier: MIT
#include "app/models/headless_download.h"

#include "app/store/database_thread.h"

#include <QCoreApplication>
#include <QElapsedTimer>
#include <QSet>

#include <cstdio>
#include <utility>

namespace firesteel::app {

namespace {

using namespace Qt::Literals::StringLiterals;
using State = ModelStatus::State;

constexpr qint64 kProgressMilliseconds = 5000;

QString keyOf(const QString &repository, const QString &revision)
{
    return repository + u'@' + revision;
}

class HeadlessDownload : public QObject
{
public:
    HeadlessDownload(HeadlessRequest request, ModelsController::Setup setup,
                     const QString &databaseFile)
        : m_request(std::move(request))
        , m_database(databaseFile)
        , m_token(std::move(setup.token))
        , m_manager(
              new DownloadManager(m_database, ModelCatalog::shipped(), std::move(setup.downloads)))
    {
        m_manager->moveToThread(&m_thread);
        connect(&m_thread, &QThread::finished, m_manager, &QObject::deleteLater);
        connect(&m_token, &HubToken::changed, this, [this] {
            call([token = m_token.token()](auto &manager) { manager.setToken(token); });
            if (!std::exchange(m_isLoading, true))
                call([](auto &manager) { manager.load(); });
        });
        connect(m_manager, &DownloadManager::loaded, this, &HeadlessDownload::askForTerms);
        connect(m_manager, &DownloadManager::termsAnswered, this, &HeadlessDownload::accept);
        connect(m_manager, &DownloadManager::termsFailed, this,
                [this](const QString &repository, const QString &, const ModelProblem &problem) {
                    fail(repository, problem);
                });
        connect(m_manager, &DownloadManager::consentStored, this, [this](const Consent &consent) {
            m_unanswered.remove(keyOf(consent.repository, consent.revision));
            if (m_unanswered.isEmpty())
                download();
        });
        connect(m_manager, &DownloadManager::modelsChanged, this, &HeadlessDownload::watch);
        m_thread.start();
        m_token.load();
    }

    ~HeadlessDownload() override
    {
        m_thread.quit();
        m_thread.wait();
    }

private:
    template <typename F> void call(F &&work)
    {
        QMetaObject::invokeMethod(
            m_manager, [manager = m_manager, work = std::forward<F>(work)] { work(*manager); });
    }

    void callFor(const QString &key,
                 void (DownloadManager::*work)(const QString &, const QString &))
    {
        const qsizetype at = key.lastIndexOf(u'@');
        call([work, repository = key.left(at), revision = key.mid(at + 1)](auto &manager) {
            (manager.*work)(repository, revision);
        });
    }

    void askForTerms()
    {
        for (const QString &key : m_request.accepted) {
            m_unanswered.insert(key);
            callFor(key, &DownloadManager::inquire);
        }
        if (m_unanswered.isEmpty())
            download();
    }

    void accept(const LicenseTerms &terms)
    {
        std::printf("%s: %s, text with SHA-256 %s: accepted\n", qPrintable(terms.repository),
                    qPrintable(terms.name), terms.textSha256.constData());
        if (terms.text.isEmpty()) {
            fail(terms.repository, { ModelProblem::Kind::BadAnswer, u"no licence text"_s, {} });
            return;
        }
        call([terms](auto &manager) { manager.accept(terms, false); });
    }

    void download()
    {
        m_isDownloading = true;
        for (const QString &key : m_request.downloads)
            callFor(key, &DownloadManager::enqueue);
        if (m_request.downloads.isEmpty())
            QCoreApplication::exit(0);
    }

    void watch(const std::vector<ModelStatus> &models)
    {
        if (!m_isDownloading)
            return;
        bool isDone = true;
        for (const ModelStatus &status : models) {
            if (!m_request.downloads.contains(
                    keyOf(status.model.repository, status.model.revision)))
                continue;
            isDone = isDone && status.state == State::Ready;
            if (status.state == State::Failed)
                fail(status.model.repository, status.problem);
            else
                tell(status);
        }
        if (isDone)
            QCoreApplication::exit(0);
    }

    void tell(const ModelStatus &status)
    {
        if (status.state == State::Ready) {
            if (!m_told.contains(status.folder))
                std::printf("%s: ready in %s\n", qPrintable(status.model.repository),
                            qPrintable(status.folder));
            m_told.insert(status.folder);
            return;
        }
        if (m_sinceTold.isValid() && m_sinceTold.elapsed() < kProgressMilliseconds)
            return;
        m_sinceTold.start();
        std::printf("%s: %.2f of %.2f GB, %.1f MB/s\n", qPrintable(status.model.repository),
                    static_cast<double>(status.bytes) / 1e9,
                    static_cast<double>(status.totalBytes) / 1e9, status.bytesPerSecond / 1e6);
        std::fflush(stdout);
    }

    void fail(const QString &repository, const ModelProblem &problem)
    {
        std::fprintf(stderr, "%s: %s %s\n", qPrintable(repository),
                     qPrintable(problemText(problem.kind)), qPrintable(problem.detail));
        if (problemAction(problem.kind) == "license"_L1)
            std::fprintf(stderr, "Read it, then name it: --accept-license REPOSITORY@REVISION\n");
        QCoreApplication::exit(1);
    }

    HeadlessRequest m_request;
    DatabaseThread m_database;
    HubToken m_token;
    QThread m_thread;
    DownloadManager *m_manager; // lives on m_thread, deleted when it ends
    QSet<QString> m_unanswered; // licences
    QSet<QString> m_told; // folders
    QElapsedTimer m_sinceTold;
    bool m_isLoading = false;
    bool m_isDownloading = false;
};

} // namespace

int runHeadless(const HeadlessRequest &request, ModelsController::Setup setup,
                const QString &databaseFile)
{
    for (const QString &key : request.downloads + request.accepted) {
        const qsizetype at = key.lastIndexOf(u'@');
        if (ModelCatalog::shipped().model(key.left(at), key.mid(at + 1)) != nullptr)
            continue;
        std::fprintf(stderr, "%s is not in the catalogue. What is:\n", qPrintable(key));
        for (const CatalogModel &model : ModelCatalog::shipped().models())
            std::fprintf(stderr, "  %s\n", qPrintable(keyOf(model.repository, model.revision)));
        return 1;
    }
    const HeadlessDownload download(request, std::move(setup), databaseFile);
    return QCoreApplication::exec();
}

} // namespace firesteel::app
