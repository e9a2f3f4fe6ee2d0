// SPDX-License-Identifier: MIT
//
// Everything a window shows, in one object: main() makes it, QML gets it as its one root. Members
// are declared in dependency order and destroyed in reverse, so an answer that still streams at
// exit is cancelled before the engine goes.
#pragma once

#include "app/chat/conversation_controller.h"
#include "app/chat/conversation_list_model.h"
#include "app/inference/engine_controller.h"
#include "app/settings/app_settings.h"
#include "engine/api/engine.h"

#include <QObject>
#include <QtQml/qqmlregistration.h>

#include <memory>

namespace firesteel::app {

struct ApplicationSetup
{
    EngineSetup engine;
    QString settingsFile; // empty: in the user's configuration folder
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

    EngineController *engine() { return &m_engineController; }
    ConversationListModel *conversations() { return &m_conversations; }
    ConversationController *conversation() const { return m_conversations.active(); } // never null
    AppSettings *settings() { return &m_settings; }
    bool canUndoDelete() const { return m_deleted != nullptr; }
    QString deletedTitle() const;

Q_SIGNALS:
    void conversationChanged();
    void canUndoDeleteChanged();

private:
    void open(ConversationController *conversation);

    std::unique_ptr<engine::Engine> m_engine;
    AppSettings m_settings;
    EngineController m_engineController;
    ConversationListModel m_conversations;
    std::unique_ptr<ConversationController> m_deleted; // the last one, until another is deleted
};

} // namespace firesteel::app
