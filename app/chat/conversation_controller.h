// SPDX-License-Identifier: MIT
//
// One conversation: what was said, the answer being made, the draft of the next message. QML calls
// send, stop, regenerate and retry; the rows it shows are in `blocks`. It asks EngineController for
// answers and knows nothing of tokens, threads or other conversations. Owned by
// ConversationListModel.
#pragma once

#include "app/chat/message_block_model.h"
#include "app/inference/engine_controller.h"

#include <QDateTime>
#include <QObject>
#include <QString>
#include <QTimer>
#include <QtQml/qqmlregistration.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace firesteel::app {

class ConversationController : public QObject
{
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("Application makes conversations")
    Q_PROPERTY(QString conversationId READ conversationId CONSTANT FINAL)
    Q_PROPERTY(QString title READ title WRITE setTitle NOTIFY titleChanged FINAL)
    Q_PROPERTY(firesteel::app::MessageBlockModel *blocks READ blocks CONSTANT FINAL)
    Q_PROPERTY(bool busy READ isBusy NOTIFY busyChanged FINAL)
    Q_PROPERTY(bool stopping READ isStopping NOTIFY busyChanged FINAL)
    Q_PROPERTY(bool canSend READ canSend NOTIFY canSendChanged FINAL)
    Q_PROPERTY(bool canRegenerate READ canRegenerate NOTIFY canSendChanged FINAL)
    Q_PROPERTY(bool empty READ isEmpty NOTIFY emptyChanged FINAL)
    Q_PROPERTY(ThinkingEffort thinkingEffort READ thinkingEffort WRITE setThinkingEffort NOTIFY
                   thinkingEffortChanged FINAL)
    Q_PROPERTY(int contextTokens READ contextTokens NOTIFY contextTokensChanged FINAL)
    Q_PROPERTY(int promptTokens READ promptTokens NOTIFY promptTokensChanged FINAL)
    Q_PROPERTY(QString draft READ draft WRITE setDraft NOTIFY draftChanged FINAL)
    Q_PROPERTY(int draftTokens READ draftTokens NOTIFY draftTokensChanged FINAL)

public:
    enum ThinkingEffort { Off, Low, High, Max };
    Q_ENUM(ThinkingEffort)

    ConversationController(EngineController &engine, ThinkingEffort effort,
                           QObject *parent = nullptr);
    ~ConversationController() override;

    Q_INVOKABLE void send(const QString &text); // refused unless canSend
    Q_INVOKABLE void stop();
    Q_INVOKABLE void regenerate(); // the last answer again
    Q_INVOKABLE void retry(); // after an error
    Q_INVOKABLE void copyMessage(int row);
    Q_INVOKABLE void copyBlock(int row);
    Q_INVOKABLE QString messageSource(int messageIndex) const;

    QString conversationId() const { return m_id; }
    QString title() const { return m_title; }
    void setTitle(const QString &title);
    MessageBlockModel *blocks() { return &m_blocks; }
    bool isBusy() const { return m_generation != nullptr; }
    bool isStopping() const { return m_isStopping; }
    bool canSend() const;
    bool canRegenerate() const;
    bool isEmpty() const { return m_blocks.messages().empty(); }
    ThinkingEffort thinkingEffort() const { return m_effort; }
    void setThinkingEffort(ThinkingEffort effort);
    int contextTokens() const { return m_engine.contextTokens(); }
    int promptTokens() const { return m_promptTokens; } // of the conversation so far
    QString draft() const { return m_draft; }
    void setDraft(const QString &draft);
    int draftTokens() const { return m_draftTokens; } // -1: not counted yet
    QDateTime updated() const { return m_updated; }

Q_SIGNALS:
    void titleChanged();
    void busyChanged();
    void canSendChanged();
    void emptyChanged();
    void thinkingEffortChanged();
    void contextTokensChanged();
    void promptTokensChanged();
    void draftChanged();
    void draftTokensChanged();
    void updatedChanged();
    void answered(bool complete); // for announcements; false: stopped or failed

private:
    void startAnswer();
    void onUpdate(const GenerationUpdate &update);
    void endGeneration();
    void touch();
    void setPromptTokens(int tokens);
    void setDraftTokens(int tokens);
    void countDraft();
    std::vector<engine::Message> engineMessages() const;

    EngineController &m_engine;
    const QString m_id;
    QString m_title;
    MessageBlockModel m_blocks;
    ThinkingEffort m_effort;
    QDateTime m_updated;
    int m_promptTokens = 0;
    QString m_draft;
    int m_draftTokens = 0;
    bool m_isCountingDraft = false;
    bool m_isStopping = false;
    QTimer m_draftTimer;
    QTimer m_elapsedTimer;
    std::unique_ptr<Generation> m_generation;
};

} // namespace firesteel::app
