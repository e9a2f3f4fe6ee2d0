// SPDX-License-Identifier: MIT
#include "app/models/models_controller.h"

#include "app/store/database_thread.h"

#include <QCoreApplication>
#include <QDir>
#include <QLocale>

#include <utility>

namespace firesteel::app {

using namespace Qt::Literals::StringLiterals;

ModelsController::Setup ModelsController::setupFrom(const QProcessEnvironment &environment,
                                                    const QString &dataFolder)
{
    Setup setup;
    QString endpoint = environment.value(u"HF_ENDPOINT"_s).trimmed();
    while (endpoint.endsWith(u'/'))
        endpoint.chop(1);
    const QUrl url(endpoint, QUrl::StrictMode);
    const bool isWeb = url.scheme() == "https"_L1 || url.scheme() == "http"_L1;
    if (url.isValid() && isWeb && !url.host().isEmpty())
        setup.downloads.hub.endpoint = url;
    else
        setup.refusedEndpoint = endpoint;
    setup.downloads.job.cacheFolder = hubCacheFolder(environment, QDir::homePath());
    setup.downloads.modelsFolder = dataFolder + u"/models"_s;
    setup.downloads.appVersion = QCoreApplication::applicationVersion();
    setup.token.endpoint = setup.downloads.hub.endpoint;
    setup.token.usesKeychain = true;
    setup.token.environment = environment;
    setup.token.home = QDir::homePath();
    return setup;
}

ModelsController::ModelsController(DatabaseThread &database, Setup setup, QObject *parent)
    : QObject(parent)
    , m_endpoint(setup.downloads.hub.endpoint)
    , m_refusedEndpoint(setup.refusedEndpoint)
    , m_modelsFolder(setup.downloads.modelsFolder)
    , m_token(std::move(setup.token))
{
    m_thread.setObjectName(QStringLiteral("downloads"));
    m_manager = new DownloadManager(database, ModelCatalog::shipped(), std::move(setup.downloads));
    m_manager->moveToThread(&m_thread);
    connect(&m_thread, &QThread::finished, m_manager, &QObject::deleteLater);
    connect(m_manager, &DownloadManager::modelsChanged, this,
            [this](const std::vector<ModelStatus> &models) { m_list.setModels(models); });
    connect(&m_list, &ModelListModel::modelReset, this, &ModelsController::findDrafter);
    connect(&m_list, &ModelListModel::dataChanged, this, &ModelsController::findDrafter);
    connect(m_manager, &DownloadManager::loaded, this, [this] {
        m_isListed = true;
        findDrafter();
        Q_EMIT listed();
    });
    connect(m_manager, &DownloadManager::termsAnswered, this, [this](const LicenseTerms &terms) {
        if (m_prompt.isFor(terms.repository, terms.revision))
            m_prompt.show(terms);
    });
    connect(
        m_manager, &DownloadManager::termsFailed, this,
        [this](const QString &repository, const QString &revision, const ModelProblem &problem) {
            if (m_prompt.isFor(repository, revision))
                m_prompt.fail(problem);
        });
    connect(m_manager, &DownloadManager::folderRefused, this,
            [this](const QString &path, const ModelProblem &problem) {
                setNotice(
                    u"%1: %2"_s.arg(QDir::toNativeSeparators(path), problemText(problem.kind)));
            });
    connect(m_manager, &DownloadManager::modelsFolderChanged, this, [this](const QString &path) {
        m_modelsFolder = path;
        Q_EMIT modelsFolderChanged();
    });
    connect(&m_token, &HubToken::changed, this, [this] {
        call([token = m_token.token()](DownloadManager &manager) { manager.setToken(token); });
        Q_EMIT tokenChanged();
    });
    m_thread.start();
}

ModelsController::~ModelsController()
{
    m_thread.quit();
    m_thread.wait();
}

void ModelsController::start()
{
    if (!m_refusedEndpoint.isEmpty())
        setNotice(tr("HF_ENDPOINT is no web address: \"%1\". Downloads come from %2.")
                      .arg(m_refusedEndpoint, m_endpoint.host()));
    m_token.load();
    call([](DownloadManager &manager) { manager.load(); });
}

void ModelsController::review(int row)
{
    const ModelStatus *status = m_list.at(row);
    if (status == nullptr)
        return;
    m_prompt.begin(*status);
    callFor(row, &DownloadManager::inquire);
}

void ModelsController::retryReview()
{
    const CatalogModel &model = m_prompt.model().model;
    review(m_list.rowOf(model.repository, model.revision));
}

void ModelsController::accept()
{
    if (!m_prompt.isAcceptable())
        return;
    call([terms = *m_prompt.terms()](DownloadManager &manager) { manager.accept(terms); });
    m_prompt.close();
}

void ModelsController::decline() { m_prompt.close(); }

void ModelsController::pause(int row) { callFor(row, &DownloadManager::pause); }

void ModelsController::resume(int row) { callFor(row, &DownloadManager::resume); }

void ModelsController::cancel(int row) { callFor(row, &DownloadManager::remove); }

void ModelsController::remove(int row)
{
    const ModelStatus *status = m_list.at(row);
    if (status == nullptr)
        return;
    if (status->model.id.isEmpty())
        call([path = status->folder](DownloadManager &manager) { manager.forgetFolder(path); });
    else
        callFor(row, &DownloadManager::remove);
}

void ModelsController::withdraw(int row) { callFor(row, &DownloadManager::withdraw); }

void ModelsController::use(int row)
{
    if (m_list.data(m_list.index(row), ModelListModel::CanUseRole).toBool())
        Q_EMIT useRequested(m_list.at(row)->folder);
}

void ModelsController::useShipped()
{
    if (!isShippedInUse())
        Q_EMIT useRequested({});
}

void ModelsController::setFolderInUse(const QString &folder)
{
    m_folderInUse = folder;
    m_list.setFolderInUse(folder);
    Q_EMIT folderInUseChanged();
}

void ModelsController::addFolder(const QUrl &folder)
{
    setNotice({});
    call([path = folder.toLocalFile()](DownloadManager &manager) { manager.addFolder(path); });
}

void ModelsController::setModelsFolder(const QUrl &folder)
{
    setNotice({});
    call(
        [path = folder.toLocalFile()](DownloadManager &manager) { manager.setModelsFolder(path); });
}

QString ModelsController::hubText() const
{
    return m_endpoint == HubSetup().endpoint
        ? QString()
        : tr("Downloads come from %1, as the variable HF_ENDPOINT says.")
              .arg(m_endpoint.toString());
}

void ModelsController::setToken(const QString &token) { m_token.set(token.trimmed().toUtf8()); }

QUrl ModelsController::pageOf(int row) const
{
    const ModelStatus *status = m_list.at(row);
    return status != nullptr && !status->model.repository.isEmpty()
        ? hubPageUrl(m_endpoint, status->model.repository)
        : QUrl();
}

void ModelsController::dismissNotice() { setNotice({}); }

// Nothing before everything is known: a list on its way would look like a drafter taken away.
void ModelsController::findDrafter()
{
    if (!m_isListed)
        return;
    QString folder;
    for (int row = 0; row < m_list.rowCount() && folder.isEmpty(); ++row) {
        const ModelStatus &status = *m_list.at(row);
        const bool isUsable = status.state == ModelStatus::State::Ready
            ? status.consent.has_value()
            : status.state == ModelStatus::State::Added; // a withdrawal forgets it
        if (status.model.role == ModelRole::Drafter && isUsable)
            folder = status.folder;
    }
    if (folder == m_drafterFolder)
        return;
    m_drafterFolder = folder;
    Q_EMIT drafterFolderChanged();
}

void ModelsController::setNotice(const QString &notice)
{
    if (notice == m_notice)
        return;
    m_notice = notice;
    Q_EMIT noticeChanged();
}

} // namespace firesteel::app
