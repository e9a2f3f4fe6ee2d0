// SPDX-License-Identifier: MIT
//
// One conversation: what was said, the answer being made, the draft of the next message. QML calls
// send, stop, regenerate and retry; the rows it shows are in `blocks`. It asks EngineController for
// answers, or another machine's engine, and only once ConversationStore has what the user said; it
// knows nothing of SQL, threads or other conversations. Owned by ConversationListModel.
#pragma once

#include "app/chat/chat_find.h"
#include "app/chat/chat_options.h"
#include "app/chat/message_block_model.h"
#include "app/chat/pasted_texts.h"
#include "app/chat/prompt_front.h"
#include "app/chat/reply_recorder.h"
#include "app/inference/engine_controller.h"
#include "app/store/conversation_store.h"

#include <QDateTime>
#include <QObject>
#include <QString>
#include <QTimer>
#include <QtQml/qqmlregistration.h>

#include <cstdint>
#include <memory>
#include <optional>
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
    // The thinking that goes on was told to end.
    Q_PROPERTY(bool answeringNow READ isAnsweringNow NOTIFY busyChanged FINAL)
    Q_PROPERTY(bool loading READ isLoading NOTIFY loadingChanged FINAL)
    Q_PROPERTY(QString loadError READ loadError NOTIFY loadingChanged FINAL)
    Q_PROPERTY(bool canSend READ canSend NOTIFY canSendChanged FINAL)
    Q_PROPERTY(bool canRegenerate READ canRegenerate NOTIFY canSendChanged FINAL)
    Q_PROPERTY(bool empty READ isEmpty NOTIFY emptyChanged FINAL)
    Q_PROPERTY(bool editing READ isEditing NOTIFY editingChanged FINAL)
    Q_PROPERTY(ThinkingEffort thinkingEffort READ thinkingEffort WRITE setThinkingEffort NOTIFY
                   thinkingEffortChanged FINAL)
    Q_PROPERTY(firesteel::app::ChatOptions *options READ options CONSTANT FINAL)
    Q_PROPERTY(firesteel::app::ChatFind *find READ find CONSTANT FINAL)
    // The next answer is another machine's: no model is needed here.
    Q_PROPERTY(bool remote READ isRemote NOTIFY engineChanged FINAL)
    Q_PROPERTY(int contextTokens READ contextTokens NOTIFY contextTokensChanged FINAL)
    Q_PROPERTY(int promptTokens READ promptTokens NOTIFY promptTokensChanged FINAL)
    // What the next answer costs beside its question; mostly empty.
    Q_PROPERTY(QString rereadText READ rereadText NOTIFY rereadTextChanged FINAL)
    Q_PROPERTY(firesteel::app::PastedTexts *pastes READ pastes CONSTANT FINAL) // of the draft
    Q_PROPERTY(QString draft READ draft WRITE setDraft NOTIFY draftChanged FINAL)
    Q_PROPERTY(int draftTokens READ draftTokens NOTIFY draftTokensChanged FINAL)

public:
    enum ThinkingEffort { Off, Low, High, Max }; // as choicesOf(Thinking)
    Q_ENUM(ThinkingEffort)

    // A new conversation: stored with its first message.
    ConversationController(EngineController &engine, ConversationStore &store,
                           PresetLibrary &presets, RemoteEngines &remotes,
                           QObject *parent = nullptr);
    // A stored one; load() brings its messages.
    ConversationController(EngineController &engine, ConversationStore &store,
                           PresetLibrary &presets, RemoteEngines &remotes,
                           ConversationSummary stored, QObject *parent = nullptr);
    ~ConversationController() override;

    // And what was pasted beside the words. Refused unless canSend.
    Q_INVOKABLE void send(const QString &words);
    Q_INVOKABLE void stop();
    Q_INVOKABLE void answerNow(); // with what was thought of so far
    // An answer again, the last one or the one at a row. The one before stays, as a version.
    Q_INVOKABLE void regenerate();
    Q_INVOKABLE void regenerateAt(int row);
    // Puts what the user said into the draft; sending it makes another version of that message.
    Q_INVOKABLE void beginEdit(int row);
    Q_INVOKABLE void cancelEdit(); // the draft is what it was
    // Shows the version of a message that is so many further on, with all that followed it.
    Q_INVOKABLE void switchVersion(int row, int step);
    Q_INVOKABLE void retry(); // after an error
    Q_INVOKABLE void copyMessage(int row);
    Q_INVOKABLE void copyBlock(int row);
    Q_INVOKABLE QString messageSource(int messageIndex) const;

    // The branch on show, or the one that goes through a message; `shown` follows for that message.
    void load(std::optional<RecordId> through = {});

    // Makes `shown` follow for a message, with its branch if another is on show.
    void reveal(RecordId message);

    RecordId id() const { return m_summary.id; }
    QString conversationId() const { return QString::number(m_summary.id); }
    QString title() const { return m_summary.title; }
    void setTitle(const QString &title);
    MessageBlockModel *blocks() { return &m_blocks; }
    bool isBusy() const { return m_recorder.has_value(); }
    bool isStopping() const { return m_isStopping; }
    bool isAnsweringNow() const { return m_isAnsweringNow; }
    bool isLoading() const { return m_isLoading; }
    QString loadError() const { return m_loadError; }
    bool canSend() const;
    bool canRegenerate() const;
    bool isStored() const { return m_isStored; }
    // Nothing was said. Not known of one that is loading, so it is not empty.
    bool isEmpty() const;
    bool isEditing() const { return m_edited.has_value(); }
    ThinkingEffort thinkingEffort() const
    {
        return static_cast<ThinkingEffort>(m_options.thinkingEffort());
    }
    void setThinkingEffort(ThinkingEffort effort) { m_options.setThinkingEffort(effort); }
    ChatOptions *options() { return &m_options; }
    ChatFind *find() { return &m_find; }
    bool isRemote() const { return m_options.engine() != nullptr; }
    int contextTokens() const { return isRemote() ? 0 : m_engine.contextTokens(); } // 0: not known
    int promptTokens() const { return m_promptTokens; } // of the conversation so far
    QString rereadText() const;
    PastedTexts *pastes() { return &m_pastes; }
    QString draft() const { return m_draft; }
    void setDraft(const QString &draft);
    int draftTokens() const { return m_draftTokens; } // -1: not counted yet
    QDateTime updated() const { return QDateTime::fromMSecsSinceEpoch(m_summary.updated); }
    const ConversationSummary &summary() const { return m_summary; }

Q_SIGNALS:
    void titleChanged();
    void busyChanged();
    void loadingChanged();
    void shown(int row); // the first row of the message that was asked for
    void versionShown(int row); // the last row of the message that switchVersion() came to
    void editingChanged();
    void canSendChanged();
    void emptyChanged();
    void thinkingEffortChanged();
    void engineChanged();
    void contextTokensChanged();
    void promptTokensChanged();
    void rereadTextChanged();
    void draftChanged();
    void draftTokensChanged();
    void updatedChanged();
    void answered(bool complete); // for announcements; false: stopped or failed

private:
    enum class Asked { Chat, Message, Version };

    void load(std::optional<RecordId> through, Asked asked);
    void startAnswer(const std::optional<MessageRecord> &question, MessagePlace place);
    void regenerateMessage(int index);
    int messageAt(int row) const; // index of the message; -1 without one
    void endEdit();
    void endEditOfGone();
    void submit(std::vector<engine::Message> messages, const RequestSettings &settings,
                const std::optional<RemoteEngine> &remote);
    void onEngineChanged();
    void onUpdate(const GenerationUpdate &update);
    void onFinished(const engine::Finished &finished);
    void onFailed(const engine::Error &error);
    void announceShown(int row);
    void onLoaded(const ConversationRecord &record, ShownConversation shown,
                  std::optional<RecordId> through, Asked asked);
    double thinkingSeconds() const;
    void store();
    void storeOptions();
    void endGeneration();
    void touch();
    void setPromptTokens(int tokens);
    void onDraftChanged();
    QString wholeDraft() const; // with what was pasted
    void setDraftTokens(int tokens);
    void countDraft();
    std::vector<engine::Message> engineMessages() const;

    EngineController &m_engine;
    ConversationStore &m_store;
    ConversationSummary m_summary;
    bool m_isStored = false;
    bool m_isLoading = false;
    QString m_loadError;
    MessageBlockModel m_blocks;
    ChatFind m_find { m_blocks };
    ChatOptions m_options;
    int m_promptTokens = 0;
    std::optional<PromptFront> m_front; // of the newest answer; unset: none yet
    QString m_draft;
    PastedTexts m_pastes;
    int m_draftTokens = 0;
    bool m_isCountingDraft = false;
    bool m_isStopping = false;
    bool m_isAnsweringNow = false;
    QTimer m_draftTimer;
    QTimer m_elapsedTimer;
    std::optional<RecordId> m_edited; // what the draft is to replace
    QString m_draftBefore; // the edit
    std::optional<RecordId> m_question; // that is being answered
    std::optional<ReplyRecorder> m_recorder; // while an answer is made
    std::unique_ptr<Generation> m_generation; // once the store has the question
};

} // namespace firesteel::app
