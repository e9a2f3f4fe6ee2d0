// SPDX-License-Identifier: MIT
#include "app/application.h"

#include "app/markdown/code_document.h"

#include <QFileInfo>
#include <QLocale>
#include <QStandardPaths>

#include <memory>
#include <utility>

namespace firesteel::app {

namespace {

using namespace Qt::Literals::StringLiterals;

// Conversations beside the current one that stay in memory.
constexpr int kOpenConversations = 8;

QString countText(int count) { return QLocale().toString(count); }

QString defaultDatabase()
{
    return QStandardPaths::writableLocation(QStandardPaths::GenericDataLocation)
        + "/firesteel/firesteel.db"_L1;
}

QString databaseOf(const ApplicationSetup &setup)
{
    return setup.databaseFile.isEmpty() ? defaultDatabase() : setup.databaseFile;
}

// The folder of models that a person chose, or that the setup names, or beside the database.
ModelsController::Setup withModelsFolder(ModelsController::Setup setup, const QString &chosen,
                                         const QString &database)
{
    if (!chosen.isEmpty())
        setup.downloads.modelsFolder = chosen;
    else if (setup.downloads.modelsFolder.isEmpty())
        setup.downloads.modelsFolder = QFileInfo(database).path() + "/models"_L1;
    return setup;
}

} // namespace

Application::Application(std::unique_ptr<engine::Engine> engine, ApplicationSetup setup,
                         QObject *parent)
    : QObject(parent)
    , m_engine(std::move(engine))
    , m_settings(setup.settingsFile)
    , m_isModelGiven(setup.isModelGiven)
    , m_isAfterCrash(setup.isAfterCrash)
    , m_database(databaseOf(setup))
    , m_store(m_database)
    , m_exchange(m_database)
    , m_presets(m_database)
    , m_dataFolder(QUrl::fromLocalFile(QFileInfo(databaseOf(setup)).absolutePath()))
    , m_models(m_database,
               withModelsFolder(setup.models, m_settings.modelsFolder(), databaseOf(setup)))
    , m_engineController(*m_engine, std::move(setup.engine))
    , m_loadSettings(m_settings, m_engineController)
    , m_benchmark(m_engineController)
    , m_setup(m_settings, m_models, setup.procFolder)
    , m_monitor(*m_engine, std::move(setup.machine))
    , m_about(m_engineController, m_monitor, QFileInfo(databaseOf(setup)).path())
    , m_endpoint(*m_engine, m_settings)
    , m_remoteClient({})
    , m_remotes(m_settings, m_remoteClient, setup.models.token.usesKeychain)
    , m_remoteMonitor(m_remotes, m_remoteClient)
    , m_search(m_store)
{
    connect(&m_engineController, &EngineController::stateChanged, this, [this] {
        if (m_engineController.state() == EngineController::State::Ready)
            m_presets.setModel(m_engineController.samplingDefaults());
    });
    connect(&m_models, &ModelsController::useRequested, this, &Application::useModel);
    connect(&m_models, &ModelsController::modelsFolderChanged, this,
            [this] { m_settings.setModelsFolder(m_models.modelsFolder()); });
    // What a load leaves free is what the panel marks and warns below.
    const auto markReserve
        = [this] { m_monitor.setReserve(m_settings.loadOptions().memoryReserveBytes); };
    connect(&m_loadSettings, &LoadSettings::edited, this, markReserve);
    markReserve();
    connect(&m_models, &ModelsController::drafterFolderChanged, this,
            [this] { m_engineController.setDrafter(m_models.drafterFolder()); });
    newConversation();
}

Application::~Application() = default;

void Application::start()
{
    listStored(m_store.open());
    m_presets.open();
    m_models.start();
    if (!m_isModelGiven && !m_settings.modelFolder().isEmpty()) {
        m_engineController.choose(m_settings.modelFolder());
        m_models.setFolderInUse(m_settings.modelFolder());
    }
    if (m_isAfterCrash) {
        m_engineController.hold(
            tr("Firesteel did not end properly last time. In case the model was the reason, it was "
               "not loaded by itself."));
    } else {
        // The drafter that goes with the model is known by then.
        connect(
            &m_models, &ModelsController::listed, this,
            [this] {
                if (m_engineController.state() == EngineController::State::Looking)
                    m_engineController.retry();
            },
            Qt::SingleShotConnection);
    }
    m_endpoint.start();
    CodeDocument::prepareLanguages();
}

void Application::listStored(QFuture<StoreResult<std::vector<ConversationSummary>>> stored)
{
    // Where the store cannot be read, its state tells why.
    stored.then(this, [this](const StoreResult<std::vector<ConversationSummary>> &summaries) {
        if (summaries)
            m_conversations.setStored(*summaries);
    });
}

void Application::open(ConversationController *conversation)
{
    if (conversation == m_conversations.active())
        return;
    if (ConversationController *before = m_conversations.active())
        disconnect(before, &ConversationController::engineChanged, this, nullptr);
    m_conversations.setActive(conversation);
    connect(conversation, &ConversationController::engineChanged, this, &Application::showRemote);
    showRemote();
    Q_EMIT conversationChanged();
    m_conversations.closeIdle(kOpenConversations);
}

void Application::showRemote() { m_remoteMonitor.show(conversation()->options()->engineId()); }

void Application::useModel(const QString &folder)
{
    m_settings.setModelFolder(folder);
    m_models.setFolderInUse(folder);
    m_engineController.use(folder);
}

void Application::newConversation()
{
    ConversationController *blank = m_conversations.blank();
    if (blank == nullptr) {
        blank = m_conversations.add(std::make_unique<ConversationController>(
            m_engineController, m_store, m_presets, m_remotes));
    }
    open(blank);
}

ConversationController *Application::openRow(int row, std::optional<RecordId> message)
{
    const auto summary = m_conversations.summaryAt(row);
    if (!summary)
        return nullptr;
    ConversationController *conversation = m_conversations.at(row);
    const bool isNew = conversation == nullptr;
    if (isNew) {
        conversation = m_conversations.open(
            row,
            std::make_unique<ConversationController>(m_engineController, m_store, m_presets,
                                                     m_remotes, *summary));
    }
    open(conversation);
    // The window shows it by now, so it sees the row that is revealed.
    if (isNew)
        conversation->load(message);
    else if (message)
        conversation->reveal(*message);
    return conversation;
}

void Application::openConversation(int row) { openRow(row, {}); }

void Application::openSearchHit(int row)
{
    if (const auto hit = m_search.hitAt(row))
        openRow(m_conversations.rowOf(hit->conversation.id), hit->message);
}

void Application::renameConversation(int row, const QString &title)
{
    const auto summary = m_conversations.summaryAt(row);
    const QString shown = title.simplified();
    if (!summary || shown.isEmpty())
        return;
    if (ConversationController *conversation = m_conversations.at(row)) {
        conversation->setTitle(shown);
    } else {
        m_conversations.rename(row, shown);
        m_store.rename(summary->id, shown);
    }
}

void Application::deleteConversation(int row)
{
    const auto summary = m_conversations.summaryAt(row);
    if (!summary)
        return;
    if (ConversationController *conversation = m_conversations.at(row)) {
        conversation->stop();
        // The window moves on first: QML must not look at a conversation that is going.
        if (conversation == m_conversations.active())
            newConversation();
    }
    m_deleted = m_conversations.takeAt(row);
    m_store.remove(summary->id);
    m_search.refresh();
    Q_EMIT canUndoDeleteChanged();
}

void Application::undoDelete()
{
    if (!m_deleted)
        return;
    const RecordId id
        = m_deleted->conversation ? m_deleted->conversation->id() : m_deleted->summary.id;
    m_store.restore(id);
    auto entry = *std::exchange(m_deleted, std::nullopt);
    // Not if an import has brought it back.
    if (m_conversations.rowOf(id) < 0)
        m_conversations.putBack(std::move(entry));
    m_search.refresh();
    Q_EMIT canUndoDeleteChanged();
    openRow(m_conversations.rowOf(id), {});
}

QString Application::deletedTitle() const
{
    if (!m_deleted)
        return {};
    return m_deleted->conversation ? m_deleted->conversation->title() : m_deleted->summary.title;
}

void Application::exportConversations(const QString &conversationId, const QUrl &file)
{
    if (m_isExchanging)
        return;
    std::optional<RecordId> only;
    if (!conversationId.isEmpty())
        only = conversationId.toLongLong();
    setExchange(true, tr("Exporting…"));
    m_exchange.exportTo(file.toLocalFile(), only)
        .then(this, [this, file](const StoreResult<ExchangeResult> &done) {
            setExchange(false,
                        done ? tr("Exported to %1. Chats: %2.")
                                   .arg(file.fileName(), countText(done->conversations))
                             : tr("Not exported. %1").arg(done.error().message));
        });
}

void Application::importConversations(const QUrl &file)
{
    if (m_isExchanging)
        return;
    setExchange(true, tr("Importing…"));
    m_exchange.importFrom(file.toLocalFile())
        .then(this, [this](const StoreResult<ExchangeResult> &done) {
            // A file that breaks off has brought what came before.
            listStored(m_store.list());
            m_search.refresh();
            if (!done) {
                setExchange(false, tr("Not everything was imported. %1").arg(done.error().message));
                return;
            }
            QStringList parts { tr("Imported chats: %1.").arg(countText(done->conversations)) };
            if (done->alreadyHere > 0)
                parts << tr("Already here: %1.").arg(countText(done->alreadyHere));
            if (done->unreadable > 0)
                parts << tr("Not readable: %1.").arg(countText(done->unreadable));
            setExchange(false, parts.join(u' '));
        });
}

void Application::dismissExchange()
{
    if (!m_isExchanging)
        setExchange(false, {});
}

void Application::restoreDefaults()
{
    m_settings.restoreDefaults();
    m_presets.makeDefault(0);
    m_loadSettings.discard();
}

void Application::setExchange(bool isExchanging, const QString &text)
{
    m_isExchanging = isExchanging;
    m_exchangeText = text;
    Q_EMIT exchangeChanged();
}

bool Application::stopWork()
{
    const EngineController::State state = m_engineController.state();
    const bool isLoading
        = state == EngineController::State::Looking || state == EngineController::State::Loading;
    const bool isAnswering = conversation()->isBusy();
    if (isLoading)
        m_engineController.unload();
    conversation()->stop();
    return isLoading || isAnswering;
}

} // namespace firesteel::app
