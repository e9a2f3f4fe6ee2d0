// SPDX-License-Identifier: MIT
#include "app/chat/conversation_controller.h"

#include "app/chat/conversation_title.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QLocale>

#include <algorithm>
#include <iterator>
#include <utility>

namespace firesteel::app {

namespace {

using namespace Qt::Literals::StringLiterals;

constexpr int kDraftDebounceMilliseconds = 150;
constexpr int kElapsedMilliseconds = 500;

// The place of a new version of a message.
MessagePlace versionBeside(const ShownMessage &message)
{
    MessagePlace place { newRecordId(), message.parent, message.alternatives };
    if (place.alternatives.empty())
        place.alternatives.push_back(message.id);
    place.alternatives.push_back(place.id);
    return place;
}

} // namespace

ConversationController::ConversationController(EngineController &engine, ConversationStore &store,
                                               PresetLibrary &presets, RemoteEngines &remotes,
                                               QObject *parent)
    : ConversationController(
          engine, store, presets, remotes,
          ConversationSummary { newRecordId(), {}, currentMilliseconds(), currentMilliseconds() },
          parent)
{
    m_isStored = false;
}

ConversationController::ConversationController(EngineController &engine, ConversationStore &store,
                                               PresetLibrary &presets, RemoteEngines &remotes,
                                               ConversationSummary stored, QObject *parent)
    : QObject(parent)
    , m_engine(engine)
    , m_store(store)
    , m_summary(std::move(stored))
    , m_isStored(true)
    , m_blocks(this)
    , m_options(presets, remotes)
{
    connect(&m_options, &ChatOptions::changed, this,
            &ConversationController::thinkingEffortChanged);
    connect(&m_options, &ChatOptions::changed, this, &ConversationController::onEngineChanged);
    connect(&m_options, &ChatOptions::edited, this, &ConversationController::storeOptions);
    connect(&m_engine, &EngineController::stateChanged, this,
            &ConversationController::canSendChanged);
    connect(&m_engine, &EngineController::stateChanged, this,
            &ConversationController::contextTokensChanged);
    connect(&m_engine, &EngineController::stateChanged, this, &ConversationController::countDraft);
    m_draftTimer.setSingleShot(true);
    m_draftTimer.setInterval(kDraftDebounceMilliseconds);
    connect(&m_draftTimer, &QTimer::timeout, this, &ConversationController::countDraft);
    connect(&m_pastes, &PastedTexts::countChanged, this, &ConversationController::onDraftChanged);
    m_elapsedTimer.setInterval(kElapsedMilliseconds);
    connect(&m_elapsedTimer, &QTimer::timeout, &m_blocks, &MessageBlockModel::refreshElapsed);
    connect(&m_options, &ChatOptions::changed, this, &ConversationController::rereadTextChanged);
    connect(this, &ConversationController::promptTokensChanged, this,
            &ConversationController::rereadTextChanged);
}

ConversationController::~ConversationController() = default;

void ConversationController::load(std::optional<RecordId> through)
{
    load(through, through ? Asked::Message : Asked::Chat);
}

void ConversationController::load(std::optional<RecordId> through, Asked asked)
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
                                                      shownConversation(conversation));
                  });
              })
        .then(this, [this, through, asked](const StoreResult<std::shared_ptr<Loaded>> &loaded) {
            if (loaded) {
                onLoaded((*loaded)->record, std::move((*loaded)->shown), through, asked);
                return;
            }
            m_isLoading = false;
            // What is on show goes on.
            if (m_blocks.messages().empty())
                m_loadError = loaded.error().message;
            Q_EMIT loadingChanged();
            Q_EMIT emptyChanged();
        });
}

void ConversationController::reveal(RecordId message)
{
    const int row = m_blocks.rowOfMessage(message);
    if (row >= 0)
        announceShown(row);
    else if (!isBusy())
        load(message);
}

// Later: whoever opened this conversation does not listen to it yet, and a load can be there at
// once.
void ConversationController::announceShown(int row)
{
    QMetaObject::invokeMethod(this, [this, row] { Q_EMIT shown(row); }, Qt::QueuedConnection);
}

void ConversationController::onLoaded(const ConversationRecord &record, ShownConversation shown,
                                      std::optional<RecordId> through, Asked asked)
{
    m_isLoading = false;
    m_options.load(record.settings);
    const bool isThere
        = !through || std::ranges::contains(shown.messages, *through, &ShownMessage::id);
    // A version that never reached the disk cannot be shown; what is on show goes on.
    if (isThere || m_blocks.messages().empty()) {
        setPromptTokens(shown.contextTokens);
        m_blocks.show(std::move(shown));
        if (!m_front && !m_blocks.messages().empty())
            m_front = promptFront(m_options.effective());
        endEditOfGone();
        if (asked == Asked::Version && record.currentMessage)
            m_store.showBranch(m_summary.id, *record.currentMessage);
    }
    Q_EMIT loadingChanged();
    Q_EMIT emptyChanged();
    Q_EMIT canSendChanged();
    const int row = through ? m_blocks.rowOfMessage(*through) : -1;
    if (row >= 0 && asked == Asked::Version)
        Q_EMIT versionShown(m_blocks.lastRowOfMessage(*through));
    else if (row >= 0)
        announceShown(row);
}

bool ConversationController::isEmpty() const
{
    return m_blocks.messages().empty() && !m_isLoading && m_loadError.isEmpty();
}

bool ConversationController::canSend() const
{
    return !isBusy() && !m_isLoading && m_loadError.isEmpty()
        && (isRemote() || m_engine.state() == EngineController::State::Ready);
}

void ConversationController::onEngineChanged()
{
    Q_EMIT engineChanged();
    Q_EMIT contextTokensChanged();
    Q_EMIT canSendChanged();
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

void ConversationController::storeOptions()
{
    if (m_isStored)
        m_store.setSettings(m_summary.id, m_options.json());
}

void ConversationController::send(const QString &words)
{
    if (!canSend() || (words.trimmed().isEmpty() && m_pastes.count() == 0))
        return;
    const QString text = m_pastes.messageWith(words);
    m_pastes.clear();
    const std::vector<ShownMessage> &messages = m_blocks.messages();
    MessagePlace place { newRecordId(), std::nullopt };
    if (m_edited) {
        const int index = m_blocks.indexOfMessage(*m_edited);
        place = versionBeside(messages[static_cast<std::size_t>(index)]);
        m_blocks.removeFrom(index);
    } else if (!messages.empty()) {
        place.parent = messages.back().id;
    }
    MessageRecord question;
    question.id = place.id;
    question.conversation = m_summary.id;
    question.parent = place.parent;
    question.created = currentMilliseconds();
    question.text = text.toStdString();
    const bool isFirst = isEmpty();
    m_blocks.appendUserMessage(text, std::move(place));
    if (m_summary.title.isEmpty())
        setTitle(titleFromMessage(text));
    if (m_edited)
        endEdit();
    else
        setDraft({});
    if (!m_isStored)
        store();
    startAnswer(question, { newRecordId(), question.id });
    touch();
    if (isFirst)
        Q_EMIT emptyChanged();
}

int ConversationController::messageAt(int row) const
{
    const QModelIndex index = m_blocks.index(row, 0);
    return index.isValid() ? index.data(MessageBlockModel::MessageIndexRole).toInt() : -1;
}

void ConversationController::beginEdit(int row)
{
    const int index = messageAt(row);
    if (index < 0 || !canSend())
        return;
    const ShownMessage &message = m_blocks.messages()[static_cast<std::size_t>(index)];
    if (!message.isFromUser)
        return;
    if (!m_edited)
        m_draftBefore = m_draft;
    m_edited = message.id;
    setDraft(QString::fromStdString(message.text));
    Q_EMIT editingChanged();
    Q_EMIT rereadTextChanged();
}

void ConversationController::cancelEdit()
{
    if (m_edited)
        endEdit();
}

void ConversationController::endEdit()
{
    m_edited.reset();
    setDraft(std::exchange(m_draftBefore, {}));
    Q_EMIT editingChanged();
    Q_EMIT rereadTextChanged();
}

// An edit whose message is no longer on show.
void ConversationController::endEditOfGone()
{
    if (m_edited && m_blocks.indexOfMessage(*m_edited) < 0)
        endEdit();
}

void ConversationController::switchVersion(int row, int step)
{
    const int index = messageAt(row);
    if (index < 0 || isBusy() || m_isLoading)
        return;
    const ShownMessage &message = m_blocks.messages()[static_cast<std::size_t>(index)];
    const auto here = std::ranges::find(message.alternatives, message.id);
    const std::ptrdiff_t wanted = here - message.alternatives.begin() + step;
    if (here != message.alternatives.end() && wanted >= 0
        && wanted < std::ssize(message.alternatives))
        load(message.alternatives[static_cast<std::size_t>(wanted)], Asked::Version);
}

void ConversationController::store()
{
    m_isStored = true;
    m_summary.created = currentMilliseconds();
    m_options.pin();
    m_store.addConversation({ m_summary, std::nullopt, m_options.json() });
}

// Asks for an answer to the last message, as soon as the store has it.
void ConversationController::startAnswer(const std::optional<MessageRecord> &question,
                                         MessagePlace place)
{
    MessageRecord reply;
    reply.id = place.id;
    reply.conversation = m_summary.id;
    reply.parent = place.parent;
    reply.role = engine::Role::Assistant;
    reply.created = currentMilliseconds();
    std::optional<RemoteEngine> remote;
    if (const RemoteEngine *chosen = m_options.engine()) {
        remote = *chosen;
        reply.model = u"%1 (%2)"_s.arg(remote->model, remote->name);
    } else {
        reply.model = m_engine.modelName();
        reply.vocabulary = m_engine.vocabulary();
    }
    m_question = reply.parent;
    if (m_options.pin()) // the preset was changed since
        storeOptions();
    m_front = promptFront(m_options.effective());
    Q_EMIT rereadTextChanged();
    std::vector<engine::Message> messages = engineMessages();
    m_blocks.beginAnswer(tr("Preparing"), std::move(place));
    m_recorder.emplace(m_store, reply);
    // Whether it is stored or cannot be: then the window says so, and the answer is made.
    m_store.beginTurn(question, reply)
        .then(this,
              [this, id = reply.id, messages = std::move(messages),
               settings = m_options.effective(),
               remote = std::move(remote)](const StoreResult<void> &) mutable {
                  if (m_recorder && m_recorder->id() == id)
                      submit(std::move(messages), settings, remote);
              });
    m_elapsedTimer.start();
    Q_EMIT busyChanged();
    Q_EMIT canSendChanged();
}

void ConversationController::submit(std::vector<engine::Message> messages,
                                    const RequestSettings &settings,
                                    const std::optional<RemoteEngine> &remote)
{
    if (m_isStopping) {
        onFinished({ engine::FinishReason::Cancelled, {}, {}, {} });
        return;
    }
    m_generation = remote
        ? m_options.engines()->generate(*remote, messages, settings)
        : m_engine.generate(std::move(messages),
                            requestOptions(settings, m_engine.samplingDefaults()));
    connect(m_generation.get(), &Generation::updated, this, &ConversationController::onUpdate);
}

std::vector<engine::Message> ConversationController::engineMessages() const
{
    std::vector<engine::Message> messages;
    if (const QString prompt = systemPromptOf(m_options.effective()); !prompt.isEmpty())
        messages.push_back(engine::Message::text(engine::Role::System, prompt.toStdString()));
    for (const ShownMessage &message : m_blocks.messages()) {
        messages.push_back(engine::Message::text(
            message.isFromUser ? engine::Role::User : engine::Role::Assistant, message.text));
        if (message.isFromUser)
            continue;
        if (!message.thinking.empty())
            messages.back().reasoning = message.thinking;
        if (!message.vocabulary.empty() && message.vocabulary == m_engine.vocabulary())
            messages.back().tokens = message.tokens;
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

void ConversationController::answerNow()
{
    if (!m_generation || m_isStopping || m_isAnsweringNow)
        return;
    m_isAnsweringNow = true;
    m_generation->answerNow();
    Q_EMIT busyChanged();
}

void ConversationController::regenerate()
{
    regenerateMessage(static_cast<int>(m_blocks.messages().size()) - 1);
}

void ConversationController::regenerateAt(int row) { regenerateMessage(messageAt(row)); }

void ConversationController::regenerateMessage(int index)
{
    const std::vector<ShownMessage> &messages = m_blocks.messages();
    if (!canSend() || index < 1 || messages[static_cast<std::size_t>(index)].isFromUser
        || !messages[static_cast<std::size_t>(index) - 1].isFromUser)
        return;
    MessagePlace place = versionBeside(messages[static_cast<std::size_t>(index)]);
    m_blocks.removeFrom(index);
    endEditOfGone();
    startAnswer(std::nullopt, std::move(place));
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
            m_store.setTokens(*m_question, update.turn, m_engine.vocabulary());
    }
    if (update.queued && update.queued->position > 0)
        m_blocks.setStatus(
            tr("Waiting. Requests before this one: %1").arg(update.queued->position));
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
    m_isAnsweringNow = false;
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
    onDraftChanged();
}

QString ConversationController::rereadText() const
{
    // An earlier message that is edited takes with it what followed it. How fast another machine
    // reads is not known here.
    return m_front ? app::rereadText(*m_front, promptFront(m_options.effective()),
                                     isEditing() ? 0 : m_promptTokens,
                                     isRemote() ? 0 : m_engine.readingSpeed())
                   : QString();
}

QString ConversationController::wholeDraft() const
{
    return m_draft.isEmpty() && m_pastes.count() == 0 ? QString() : m_pastes.messageWith(m_draft);
}

void ConversationController::onDraftChanged()
{
    if (wholeDraft().isEmpty()) {
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
    const QString draft = wholeDraft();
    if (m_isCountingDraft || draft.isEmpty() || isRemote()
        || m_engine.state() != EngineController::State::Ready)
        return;
    m_isCountingDraft = true;
    m_engine.countTokens(draft).then(this, [this, counted = draft](int tokens) {
        m_isCountingDraft = false;
        if (counted == wholeDraft())
            setDraftTokens(tokens);
        else if (!wholeDraft().isEmpty() && !m_draftTimer.isActive())
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
