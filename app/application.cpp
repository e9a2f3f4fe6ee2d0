// SPDX-License-Identifier: MIT
#include "app/application.h"

#include "app/markdown/code_document.h"

#include <memory>
#include <utility>

namespace firesteel::app {

Application::Application(std::unique_ptr<engine::Engine> engine, ApplicationSetup setup,
                         QObject *parent)
    : QObject(parent)
    , m_engine(std::move(engine))
    , m_settings(setup.settingsFile)
    , m_engineController(*m_engine, std::move(setup.engine))
{
    newConversation();
}

Application::~Application() = default;

void Application::start()
{
    m_engineController.retry();
    CodeDocument::prepareLanguages();
}

void Application::open(ConversationController *conversation)
{
    if (conversation == m_conversations.active())
        return;
    m_conversations.setActive(conversation);
    Q_EMIT conversationChanged();
}

void Application::newConversation()
{
    ConversationController *blank = m_conversations.blank();
    if (blank == nullptr) {
        const auto effort = static_cast<ConversationController::ThinkingEffort>(
            m_settings.defaultThinkingEffort());
        blank = m_conversations.add(
            std::make_unique<ConversationController>(m_engineController, effort));
    }
    open(blank);
}

void Application::openConversation(int row)
{
    if (ConversationController *conversation = m_conversations.at(row))
        open(conversation);
}

void Application::renameConversation(int row, const QString &title)
{
    if (ConversationController *conversation = m_conversations.at(row))
        conversation->setTitle(title);
}

void Application::deleteConversation(int row)
{
    ConversationController *conversation = m_conversations.at(row);
    if (conversation == nullptr)
        return;
    conversation->stop();
    // The window moves on first: QML must not look at a conversation that is going.
    if (conversation == m_conversations.active())
        newConversation();
    m_deleted = m_conversations.takeAt(row);
    Q_EMIT canUndoDeleteChanged();
}

void Application::undoDelete()
{
    if (!m_deleted)
        return;
    ConversationController *restored = m_conversations.add(std::move(m_deleted));
    Q_EMIT canUndoDeleteChanged();
    open(restored);
}

QString Application::deletedTitle() const { return m_deleted ? m_deleted->title() : QString(); }

} // namespace firesteel::app
