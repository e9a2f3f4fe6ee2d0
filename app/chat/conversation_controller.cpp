// SPDX-License-Identifier: MIT
#include "app/chat/conversation_controller.h"

#include "app/chat/conversation_title.h"
#include "app/chat/statistics_text.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QLocale>
#include <QUuid>

#include <utility>

namespace firesteel::app {

namespace {

constexpr int kDraftDebounceMilliseconds = 150;
constexpr int kElapsedMilliseconds = 500;

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

ConversationController::ConversationController(EngineController &engine, ThinkingEffort effort,
                                               QObject *parent)
    : QObject(parent)
    , m_engine(engine)
    , m_id(QUuid::createUuid().toString(QUuid::WithoutBraces))
    , m_blocks(this)
    , m_effort(effort)
    , m_updated(QDateTime::currentDateTime())
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

bool ConversationController::canSend() const
{
    return !isBusy() && m_engine.state() == EngineController::State::Ready;
}

bool ConversationController::canRegenerate() const
{
    return canSend() && !isEmpty() && !m_blocks.messages().back().isFromUser;
}

void ConversationController::setTitle(const QString &title)
{
    const QString shown = title.simplified();
    if (shown.isEmpty() || shown == m_title)
        return;
    m_title = shown;
    Q_EMIT titleChanged();
}

void ConversationController::setThinkingEffort(ThinkingEffort effort)
{
    if (effort == m_effort)
        return;
    m_effort = effort;
    Q_EMIT thinkingEffortChanged();
}

void ConversationController::send(const QString &text)
{
    if (!canSend() || text.trimmed().isEmpty())
        return;
    const bool isFirst = isEmpty();
    m_blocks.appendUserMessage(text);
    if (m_title.isEmpty())
        setTitle(titleFromMessage(text));
    setDraft({});
    startAnswer();
    touch();
    if (isFirst)
        Q_EMIT emptyChanged();
}

void ConversationController::startAnswer()
{
    std::vector<engine::Message> messages = engineMessages();
    m_blocks.beginAnswer(tr("Preparing"));
    m_generation = m_engine.generate(std::move(messages), promptOptions(m_effort));
    connect(m_generation.get(), &Generation::updated, this, &ConversationController::onUpdate);
    m_elapsedTimer.start();
    Q_EMIT busyChanged();
    Q_EMIT canSendChanged();
}

std::vector<engine::Message> ConversationController::engineMessages() const
{
    std::vector<engine::Message> messages;
    for (const MessageBlockModel::Message &message : m_blocks.messages()) {
        messages.push_back(engine::Message::text(
            message.isFromUser ? engine::Role::User : engine::Role::Assistant, message.text));
        if (!message.isFromUser && !message.thinking.empty())
            messages.back().reasoning = message.thinking;
    }
    return messages;
}

void ConversationController::stop()
{
    if (!m_generation || m_isStopping)
        return;
    m_isStopping = true;
    m_generation->cancel();
    Q_EMIT busyChanged();
}

void ConversationController::regenerate()
{
    if (!canRegenerate())
        return;
    m_blocks.removeLastMessage();
    startAnswer();
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
    if (update.promptTokens)
        setPromptTokens(*update.promptTokens);
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
    }
    if (update.finished) {
        QString statistics = statisticsText(*update.finished);
        if (statistics.isEmpty())
            statistics = tr("The model gave no answer");
        m_blocks.finishAnswer(statistics);
        const engine::Usage &usage = update.finished->usage;
        if (usage.promptTokens > 0)
            setPromptTokens(usage.promptTokens + usage.completionTokens);
        endGeneration();
        Q_EMIT answered(update.finished->reason != engine::FinishReason::Cancelled);
    } else if (update.failed) {
        m_blocks.failAnswer(errorText(*update.failed), errorAction(update.failed->code));
        endGeneration();
        Q_EMIT answered(false);
    } else {
        m_blocks.flush();
    }
}

void ConversationController::endGeneration()
{
    m_generation.reset(); // the sender of the signal being handled; nobody touches it after this
    m_isStopping = false;
    m_elapsedTimer.stop();
    Q_EMIT busyChanged();
    Q_EMIT canSendChanged();
}

void ConversationController::touch()
{
    m_updated = QDateTime::currentDateTime();
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
