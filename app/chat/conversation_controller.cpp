// SPDX-License-Identifier: MIT
#include "app/chat/conversation_controller.h"

#include "app/chat/conversation_title.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QLocale>

#include <utility>

namespace firesteel::app {

namespace {

using namespace Qt::Literals::StringLiterals;

constexpr int kDraftDebounceMilliseconds = 150;
constexpr int kElapsedMilliseconds = 500;
constexpr auto kEffortKey = "thinkingEffort"_L1; // in the conversation's stored settings

engine::PromptOptions promptOptions(ConversationController::ThinkingEffort effort)
{
    engine::PromptOptions options;
    options.thinking = effort != ConversationController::Off;
    options.effort = effort == ConversationController::Max ? engine::ReasoningEffort::Max
        : effort == ConversationController::High           ? engine::ReasoningEffort::High
                                                           : engine::ReasoningEffort::Low;
    // The vendor's advice for plain chat: reasoning of earlier turns is not shown to the model
    // again.
    options.clearThinking = true;
    return options;
}

} // namespace

ConversationController::ConversationController(EngineController &engine, ConversationStore &store,
                                               ThinkingEffort effort, QObject *parent)
    : ConversationController(
          engine, store, effort,
          ConversationSummary { newRecordId(), {}, currentMilliseconds(), currentMilliseconds() },
          parent)
{
    m_isStored = false;
}

ConversationController::ConversationController(EngineController &engine, ConversationStore &store,
                                               ThinkingEffort effort,
                                               const ConversationSummary &stored, QObject *parent)
    : QObject(parent)
    , m_engine(engine)
    , m_store(store)
    , m_summary(stored)
    , m_isStored(true)
    , m_blocks(this)
    , m_effort(effort)
{
    connect(&m_engine, &EngineController::stateChanged, this,
            &ConversationController::canSendChanged);
    connect(&m_engine, &EngineController::stateChanged, this,
            &ConversationController::contextTokensChanged);
    connect(&m_engine, &EngineController::stateChanged, this, &ConversationController::countDraft);
    m_draftTimer.setSingleShot(true);
    m_draftTimer.setInterval(kDraftDebounceMilliseconds);
    connect(&m_draftTimer, &QTimer::timeout, this, &ConversationController::countDraft);
    m_elapsedTimer.setInterval(kElapsedMilliseconds);
    connect(&m_elapsedTimer, &QTimer::timeout, &m_blocks, &MessageBlockModel::refreshElapsed);
}

ConversationController::~ConversationController() = default;

void ConversationController::load(std::optional<RecordId> through)
{
    struct Loaded
    {
        ConversationRecord record;
        ShownConversation shown;
    };
    m_isLoading = true;
    m_loadError.clear();
    Q_EMIT loadingChanged();
    Q_EMIT emptyChanged();
    Q_EMIT canSendChanged();
    // Laying a long conversation out in blocks takes a while: a worker does it.
    m_store.load(m_summary.id, through)
        .then(QtFuture::Launch::Async,
              [](const StoreResult<StoredConversation> &stored) {
                  return stored.transform([](const StoredConversation &conversation) {
                      return std::make_shared<Loaded>(conversation.record,
                                                      shownConversation(conversation.messages));
                  });
              })
        .then(this, [this, through](const StoreResult<std::shared_ptr<Loaded>> &loaded) {
            if (loaded) {
                onLoaded((*loaded)->record, std::move((*loaded)->shown), through);
                return;
            }
            m_isLoading = false;
            m_loadError = loaded.error().message;
            Q_EMIT loadingChanged();
            Q_EMIT emptyChanged();
        });
}

void ConversationController::reveal(RecordId message)
{
    const int row = m_blocks.rowOfMessage(message);
    if (row >= 0)
        Q_EMIT shown(row);
    else if (!isBusy())
        load(message);
}

void ConversationController::onLoaded(const ConversationRecord &record, ShownConversation shown,
                                      std::optional<RecordId> through)
{
    m_isLoading = false;
    m_otherSettings = record.settings;
    const int effort = record.settings[kEffortKey].toInt(m_effort);
    if (effort >= Off && effort <= Max && effort != m_effort) {
        m_effort = static_cast<ThinkingEffort>(effort);
        Q_EMIT thinkingEffortChanged();
    }
    setPromptTokens(shown.contextTokens);
    m_blocks.show(std::move(shown));
    Q_EMIT loadingChanged();
    Q_EMIT emptyChanged();
    Q_EMIT canSendChanged();
    const int row = through ? m_blocks.rowOfMessage(*through) : -1;
    if (row >= 0)
        Q_EMIT this->shown(row);
}

bool ConversationController::isEmpty() const
{
    return m_blocks.messages().empty() && !m_isLoading && m_loadError.isEmpty();
}

bool ConversationController::canSend() const
{
    return !isBusy() && !m_isLoading && m_loadError.isEmpty()
        && m_engine.state() == EngineController::State::Ready;
}

bool ConversationController::canRegenerate() const
{
    return canSend() && !m_blocks.messages().empty() && !m_blocks.messages().back().isFromUser;
}

void ConversationController::setTitle(const QString &title)
{
    const QString shown = title.simplified();
    if (shown.isEmpty() || shown == m_summary.title)
        return;
    m_summary.title = shown;
    if (m_isStored)
        m_store.rename(m_summary.id, shown);
    Q_EMIT titleChanged();
}

void ConversationController::setThinkingEffort(ThinkingEffort effort)
{
    if (effort == m_effort)
        return;
    m_effort = effort;
    if (m_isStored)
        m_store.setSettings(m_summary.id, settings());
    Q_EMIT thinkingEffortChanged();
}

QJsonObject ConversationController::settings() const
{
    QJsonObject settings = m_otherSettings;
    settings[kEffortKey] = m_effort;
    return settings;
}

void ConversationController::send(const QString &text)
{
    if (!canSend() || text.trimmed().isEmpty())
        return;
    MessageRecord question;
    question.id = newRecordId();
    question.conversation = m_summary.id;
    if (!m_blocks.messages().empty())
        question.parent = m_blocks.messages().back().id;
    question.created = currentMilliseconds();
    question.text = text.toStdString();
    const bool isFirst = isEmpty();
    m_blocks.appendUserMessage(text, question.id);
    if (m_summary.title.isEmpty())
        setTitle(titleFromMessage(text));
    setDraft({});
    if (!m_isStored)
        store();
    startAnswer(question);
    touch();
    if (isFirst)
        Q_EMIT emptyChanged();
}

void ConversationController::store()
{
    m_isStored = true;
    m_summary.created = currentMilliseconds();
    m_store.addConversation({ m_summary, std::nullopt, settings() });
}

// Asks for an answer to the last message, as soon as the store has it.
void ConversationController::startAnswer(const std::optional<MessageRecord> &question)
{
    MessageRecord reply;
    reply.id = newRecordId();
    reply.conversation = m_summary.id;
    reply.parent = m_blocks.messages().back().id;
    reply.role = engine::Role::Assistant;
    reply.created = currentMilliseconds();
    reply.model = m_engine.modelName();
    m_question = reply.parent;
    std::vector<engine::Message> messages = engineMessages();
    m_blocks.beginAnswer(tr("Preparing"), reply.id);
    m_recorder.emplace(m_store, reply);
    // Whether it is stored or cannot be: then the window says so, and the answer is made.
    m_store.beginTurn(question, reply)
        .then(this,
              [this, id = reply.id, messages = std::move(messages),
               options = promptOptions(m_effort)](const StoreResult<void> &) mutable {
                  if (m_recorder && m_recorder->id() == id)
                      submit(std::move(messages), options);
              });
    m_elapsedTimer.start();
    Q_EMIT busyChanged();
    Q_EMIT canSendChanged();
}

void ConversationController::submit(std::vector<engine::Message> messages,
                                    const engine::PromptOptions &options)
{
    if (m_isStopping) {
        onFinished({ engine::FinishReason::Cancelled, {}, {}, {} });
        return;
    }
    m_generation = m_engine.generate(std::move(messages), options);
    connect(m_generation.get(), &Generation::updated, this, &ConversationController::onUpdate);
}

std::vector<engine::Message> ConversationController::engineMessages() const
{
    std::vector<engine::Message> messages;
    for (const ShownMessage &message : m_blocks.messages()) {
        messages.push_back(engine::Message::text(
            message.isFromUser ? engine::Role::User : engine::Role::Assistant, message.text));
        if (!message.isFromUser && !message.thinking.empty())
            messages.back().reasoning = message.thinking;
    }
    return messages;
}

void ConversationController::stop()
{
    if (!isBusy() || m_isStopping)
        return;
    m_isStopping = true;
    if (m_generation)
        m_generation->cancel();
    Q_EMIT busyChanged();
}

void ConversationController::regenerate()
{
    if (!canRegenerate())
        return;
    // The answer before stays in the store, as an alternative.
    m_blocks.removeLastMessage();
    startAnswer(std::nullopt);
    touch();
}

void ConversationController::retry()
{
    // The failed answer is the last message; without a ready engine the model is asked for first.
    if (canRegenerate())
        regenerate();
    else if (!isBusy())
        m_engine.retry();
}

void ConversationController::onUpdate(const GenerationUpdate &update)
{
    if (update.promptTokens) {
        setPromptTokens(*update.promptTokens);
        if (m_question && !update.turn.empty())
            m_store.setTokens(*m_question, update.turn);
    }
    if (update.queued && update.queued->position > 0)
        m_blocks.setStatus(tr("Waiting for %n other request(s)", nullptr, update.queued->position));
    if (update.prefill && update.prefill->totalTokens > 0) {
        const int percent = 100 * update.prefill->processedTokens / update.prefill->totalTokens;
        m_blocks.setStatus(tr("Reading the conversation · %1 %").arg(QLocale().toString(percent)));
    }
    for (const GenerationUpdate::Piece &piece : update.pieces) {
        if (piece.isThinking)
            m_blocks.appendThinking(piece.text, piece.tokens);
        else
            m_blocks.appendText(piece.text);
        m_recorder->add(piece);
    }
    m_blocks.flush();
    if (update.finished)
        onFinished(*update.finished);
    else if (update.failed)
        onFailed(*update.failed);
}

void ConversationController::onFinished(const engine::Finished &finished)
{
    m_blocks.endText();
    m_blocks.endAnswer(m_recorder->finish(finished, thinkingSeconds()));
    const engine::Usage &usage = finished.usage;
    if (usage.promptTokens > 0)
        setPromptTokens(usage.promptTokens + usage.completionTokens);
    endGeneration();
    Q_EMIT answered(finished.reason != engine::FinishReason::Cancelled);
}

void ConversationController::onFailed(const engine::Error &error)
{
    m_blocks.endText();
    m_blocks.endAnswer(m_recorder->fail(error, thinkingSeconds()));
    endGeneration();
    Q_EMIT answered(false);
}

double ConversationController::thinkingSeconds() const
{
    return m_blocks.messages().back().thinkingSeconds;
}

void ConversationController::endGeneration()
{
    m_generation.reset(); // the sender of the signal being handled; nobody touches it after this
    m_recorder.reset();
    m_isStopping = false;
    m_elapsedTimer.stop();
    Q_EMIT busyChanged();
    Q_EMIT canSendChanged();
}

void ConversationController::touch()
{
    m_summary.updated = currentMilliseconds();
    Q_EMIT updatedChanged();
}

void ConversationController::setPromptTokens(int tokens)
{
    if (tokens == m_promptTokens)
        return;
    m_promptTokens = tokens;
    Q_EMIT promptTokensChanged();
}

void ConversationController::setDraft(const QString &draft)
{
    if (draft == m_draft)
        return;
    m_draft = draft;
    Q_EMIT draftChanged();
    if (m_draft.isEmpty()) {
        m_draftTimer.stop();
        setDraftTokens(0);
    } else {
        m_draftTimer.start();
    }
}

void ConversationController::setDraftTokens(int tokens)
{
    if (tokens == m_draftTokens)
        return;
    m_draftTokens = tokens;
    Q_EMIT draftTokensChanged();
}

// One count runs at a time; a draft that changed meanwhile is counted after it.
void ConversationController::countDraft()
{
    if (m_isCountingDraft || m_draft.isEmpty()
        || m_engine.state() != EngineController::State::Ready)
        return;
    m_isCountingDraft = true;
    m_engine.countTokens(m_draft).then(this, [this, counted = m_draft](int tokens) {
        m_isCountingDraft = false;
        if (counted == m_draft)
            setDraftTokens(tokens);
        else if (!m_draft.isEmpty() && !m_draftTimer.isActive())
            m_draftTimer.start();
    });
}

QString ConversationController::messageSource(int messageIndex) const
{
    return QString::fromStdString(m_blocks.messageText(messageIndex));
}

void ConversationController::copyMessage(int row)
{
    const QModelIndex index = m_blocks.index(row, 0);
    if (index.isValid())
        QGuiApplication::clipboard()->setText(
            messageSource(index.data(MessageBlockModel::MessageIndexRole).toInt()));
}

void ConversationController::copyBlock(int row)
{
    const QModelIndex index = m_blocks.index(row, 0);
    if (!index.isValid())
        return;
    // Who copies a code block wants the code, not its fences.
    const bool isCode
        = index.data(MessageBlockModel::BlockTypeRole).toInt() == MessageBlockModel::Code;
    QGuiApplication::clipboard()->setText(
        index.data(isCode ? MessageBlockModel::CodeRole : MessageBlockModel::SourceRole)
            .toString());
}

} // namespace firesteel::app
