// SPDX-License-Identifier: MIT
//
// Everything a window shows, in one object: main() makes it, QML gets it as its one root. Members
// are declared in dependency order and destroyed in reverse, so an answer that still streams at
// exit is cancelled before the engine goes.
#pragma once

#include "app/about/about.h"
#include "app/benchmark/benchmark_controller.h"
#include "app/chat/conversation_controller.h"
#include "app/chat/conversation_list_model.h"
#include "app/chat/conversation_search_model.h"
#include "app/endpoint/endpoint_controller.h"
#include "app/inference/engine_controller.h"
#include "app/models/models_controller.h"
#include "app/monitor/performance_monitor.h"
#include "app/remote/remote_engines.h"
#include "app/remote/remote_monitor.h"
#include "app/settings/app_settings.h"
#include "app/settings/load_settings.h"
#include "app/settings/preset_library.h"
#include "app/setup/setup_controller.h"
#include "app/store/conversation_exchange.h"
#include "app/store/conversation_store.h"
#include "app/store/database_thread.h"
#include "engine/api/engine.h"

#include <QObject>
#include <QUrl>
#include <QtQml/qqmlregistration.h>

#include <memory>
#include <optional>

namespace firesteel::app {

struct ApplicationSetup
{
    EngineSetup engine;
    QString settingsFile; // empty: in the user's configuration folder
    QString databaseFile; // empty: in the user's data folder
    MachineSources machine;
    ModelsController::Setup models; // without a folder of models: beside the database
    QString procFolder = QStringLiteral("/proc"); // what tells of this machine; except in tests
    bool isModelGiven = false; // by command line or environment: no choice of before counts
    // The run before did not end properly: no model is loaded before a person asks for it.
    bool isAfterCrash = false;
};

class Application : public QObject
{
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("Made by main()")
    Q_PROPERTY(firesteel::app::EngineController *engine READ engine CONSTANT FINAL)
    Q_PROPERTY(
        firesteel::app::ConversationListModel *conversations READ conversations CONSTANT FINAL)
    Q_PROPERTY(firesteel::app::ConversationController *conversation READ conversation NOTIFY
                   conversationChanged FINAL)
    Q_PROPERTY(firesteel::app::AppSettings *settings READ settings CONSTANT FINAL)
    Q_PROPERTY(firesteel::app::LoadSettings *loadSettings READ loadSettings CONSTANT FINAL)
    Q_PROPERTY(firesteel::app::PresetLibrary *presets READ presets CONSTANT FINAL)
    Q_PROPERTY(firesteel::app::RemoteEngines *remotes READ remotes CONSTANT FINAL)
    Q_PROPERTY(firesteel::app::RemoteMonitor *remoteMonitor READ remoteMonitor CONSTANT FINAL)
    Q_PROPERTY(QUrl dataFolder READ dataFolder CONSTANT FINAL)
    Q_PROPERTY(firesteel::app::DatabaseThread *database READ database CONSTANT FINAL)
    Q_PROPERTY(firesteel::app::ConversationSearchModel *search READ search CONSTANT FINAL)
    Q_PROPERTY(QString exchangeText READ exchangeText NOTIFY exchangeChanged FINAL)
    Q_PROPERTY(bool exchanging READ isExchanging NOTIFY exchangeChanged FINAL)
    Q_PROPERTY(firesteel::app::ModelsController *models READ models CONSTANT FINAL)
    Q_PROPERTY(firesteel::app::SetupController *setup READ setup CONSTANT FINAL)
    Q_PROPERTY(firesteel::app::BenchmarkController *benchmark READ benchmark CONSTANT FINAL)
    Q_PROPERTY(firesteel::app::PerformanceMonitor *monitor READ monitor CONSTANT FINAL)
    Q_PROPERTY(firesteel::app::About *about READ about CONSTANT FINAL)
    Q_PROPERTY(firesteel::app::EndpointController *endpoint READ endpoint CONSTANT FINAL)
    Q_PROPERTY(bool canUndoDelete READ canUndoDelete NOTIFY canUndoDeleteChanged FINAL)
    Q_PROPERTY(QString deletedTitle READ deletedTitle NOTIFY canUndoDeleteChanged FINAL)

public:
    // The model is looked for when start() is called, so that a window can be up first.
    Application(std::unique_ptr<engine::Engine> engine, ApplicationSetup setup,
                QObject *parent = nullptr);
    ~Application() override;

    void start();

    Q_INVOKABLE void newConversation();
    Q_INVOKABLE void openConversation(int row);
    Q_INVOKABLE void renameConversation(int row, const QString &title);
    Q_INVOKABLE void deleteConversation(int row);
    Q_INVOKABLE void undoDelete();
    Q_INVOKABLE bool stopWork(); // a load and the answer of the current chat; false: neither ran
    Q_INVOKABLE void openSearchHit(int row);
    // To and from files of conversations; exchangeText tells how it went. No id: all of them.
    Q_INVOKABLE void exportConversations(const QString &conversationId, const QUrl &file);
    Q_INVOKABLE void importConversations(const QUrl &file);
    Q_INVOKABLE void dismissExchange();
    // Settings as if never touched. Chats, presets, models and their folder stay.
    Q_INVOKABLE void restoreDefaults();

    EngineController *engine() { return &m_engineController; }
    ConversationListModel *conversations() { return &m_conversations; }
    ConversationController *conversation() const { return m_conversations.active(); } // never null
    AppSettings *settings() { return &m_settings; }
    LoadSettings *loadSettings() { return &m_loadSettings; }
    PresetLibrary *presets() { return &m_presets; }
    RemoteEngines *remotes() { return &m_remotes; }
    RemoteMonitor *remoteMonitor() { return &m_remoteMonitor; }
    QUrl dataFolder() const { return m_dataFolder; }
    DatabaseThread *database() { return &m_database; }
    ConversationSearchModel *search() { return &m_search; }
    ModelsController *models() { return &m_models; }
    SetupController *setup() { return &m_setup; }
    BenchmarkController *benchmark() { return &m_benchmark; }
    PerformanceMonitor *monitor() { return &m_monitor; }
    About *about() { return &m_about; }
    EndpointController *endpoint() { return &m_endpoint; }
    QString exchangeText() const { return m_exchangeText; }
    bool isExchanging() const { return m_isExchanging; }
    bool canUndoDelete() const { return m_deleted.has_value(); }
    QString deletedTitle() const;

Q_SIGNALS:
    void conversationChanged();
    void canUndoDeleteChanged();
    void exchangeChanged();

private:
    void open(ConversationController *conversation);
    ConversationController *openRow(int row, std::optional<RecordId> message);
    void listStored(QFuture<StoreResult<std::vector<ConversationSummary>>> stored);
    void setExchange(bool isExchanging, const QString &text);
    void useModel(const QString &folder);
    void showRemote(); // in the panel: the engine of the conversation that is shown

    std::unique_ptr<engine::Engine> m_engine;
    AppSettings m_settings;
    bool m_isModelGiven;
    bool m_isAfterCrash;
    DatabaseThread m_database;
    ConversationStore m_store;
    ConversationExchange m_exchange;
    PresetLibrary m_presets;
    QUrl m_dataFolder;
    ModelsController m_models;
    EngineController m_engineController;
    LoadSettings m_loadSettings;
    BenchmarkController m_benchmark;
    SetupController m_setup;
    PerformanceMonitor m_monitor;
    About m_about;
    EndpointController m_endpoint;
    RemoteClient m_remoteClient;
    RemoteEngines m_remotes;
    RemoteMonitor m_remoteMonitor;
    ConversationListModel m_conversations;
    ConversationSearchModel m_search;
    std::optional<ConversationListModel::Entry> m_deleted; // the last one, until another is
    QString m_exchangeText;
    bool m_isExchanging = false;
};

} // namespace firesteel::app
