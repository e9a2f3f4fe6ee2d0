// SPDX-License-Identifier: MIT
#include "app/inference/engine_controller.h"

#include <QDir>
#include <QtConcurrentRun>

#include <algorithm>
#include <utility>

namespace firesteel::app {

namespace {

using namespace Qt::Literals::StringLiterals;

constexpr int kFrameMilliseconds = 16;
constexpr int kStatsMilliseconds = 500;
// One worker prepares a prompt while another counts a draft or looks for a model.
constexpr int kWorkers = 2;
constexpr int kTellingTokens = 64; // of a prompt; what is fixed counts for more in shorter ones

QString textOf(const engine::Error &error) { return QString::fromStdString(error.message); }

template <typename Delta>
void join(std::vector<GenerationUpdate::Piece> &pieces, bool isThinking, Delta &&delta)
{
    if (!pieces.empty() && pieces.back().isThinking == isThinking) {
        GenerationUpdate::Piece &last = pieces.back();
        last.text += delta.text;
        last.tokens += delta.tokens;
        last.ids.insert(last.ids.end(), delta.ids.begin(), delta.ids.end());
        return;
    }
    pieces.push_back({ isThinking, std::move(delta.text), delta.tokens, std::move(delta.ids) });
}

struct UpdateBuilder
{
    GenerationUpdate &update;

    void operator()(engine::Queued &event) const { update.queued = event; }
    void operator()(engine::PrefillProgress &event) const { update.prefill = event; }
    void operator()(engine::ThinkingDelta &event) const
    {
        join(update.pieces, true, std::move(event));
    }
    void operator()(engine::TextDelta &event) const
    {
        join(update.pieces, false, std::move(event));
    }
    // The window offers the model no tools, so a call can only be a model's mistake: it stays out
    // of the answer.
    void operator()(engine::ToolCallEvent & /*event*/) const { }
    void operator()(engine::Finished &event) const { update.finished = std::move(event); }
    void operator()(engine::Failed &event) const { update.failed = std::move(event.error); }
};

// On a worker. The drafter is added where the model has none, the two fit each other, which the
// engine tells from their headers, and memory holds both.
ModelLocation withDrafter(ModelLocation location, const engine::Engine &engine,
                          engine::LoadOptions options, const std::filesystem::path &drafter)
{
    if (location.directory.empty() || !location.drafter.empty() || drafter.empty())
        return location;
    options.modelDirectory = location.directory;
    options.drafterDirectory = drafter;
    if (const auto estimate = engine.estimate(options); estimate && !estimate->refusal)
        location.drafter = drafter;
    return location;
}

// Runs on a worker: everything a request costs before the engine thread sees it.
void prepareAndSubmit(engine::Engine &engine, const std::vector<engine::Message> &messages,
                      const RequestOptions &options, GenerationToken token,
                      const std::shared_ptr<GenerationLink> &link,
                      const std::shared_ptr<EventBuffer> &buffer)
{
    const auto report = [&](engine::GenerationEvent event) {
        buffer->push(GenerationEntry { token, std::move(event) });
    };
    auto prompt = engine.prepare(messages, {}, options.prompt);
    if (!prompt)
        return report(engine::Failed { std::move(prompt.error()) });
    if (link->isCancelled)
        return report(engine::Finished { engine::FinishReason::Cancelled, {}, {}, {} });

    const auto promptTokens = static_cast<int>(prompt->tokens.size());
    const auto turnBegin = prompt->tokens.begin()
        + static_cast<std::ptrdiff_t>(std::min(prompt->lastUserTurn, prompt->tokens.size()));
    Submitted submitted { promptTokens, { turnBegin, prompt->tokens.end() } };
    engine::GenerationRequest request;
    request.prompt = std::move(*prompt);
    request.sampling = options.sampling;
    request.maxTokens = options.maxTokens;
    request.thinkingBudget = options.thinkingBudget;
    request.stop = options.stop;
    request.drafting = options.drafting;
    buffer->push(GenerationEntry { token, std::move(submitted) });
    const auto id
        = engine.submit(std::move(request), [buffer, token](engine::RequestId, const auto &event) {
              buffer->push(GenerationEntry { token, event });
          });
    if (!id)
        return report(engine::Failed { id.error() });
    link->request = *id;
    link->isSubmitted = true;
    if (link->isCancelled)
        engine.cancel(*id);
    else if (link->isAnswerWanted)
        engine.answerNow(*id);
}

} // namespace

EngineController::EngineController(engine::Engine &engine, EngineSetup setup, QObject *parent)
    : QObject(parent)
    , m_engine(engine)
    , m_setup(std::move(setup))
    , m_buffer(std::make_shared<EventBuffer>([this] {
        QMetaObject::invokeMethod(this, &EngineController::scheduleDrain, Qt::QueuedConnection);
    }))
{
    m_workers.setMaxThreadCount(kWorkers);
    m_drainTimer.setSingleShot(true);
    m_drainTimer.setTimerType(Qt::PreciseTimer);
    connect(&m_drainTimer, &QTimer::timeout, this, &EngineController::drain);
    m_statsTimer.setInterval(kStatsMilliseconds);
    connect(&m_statsTimer, &QTimer::timeout, this, &EngineController::refreshStats);
}

EngineController::~EngineController()
{
    m_buffer->detach();
    for (const auto &[token, generation] : m_generations) {
        if (generation)
            generation->cancel();
    }
    m_workers.waitForDone();
}

void EngineController::retry()
{
    if (m_state != State::Loading)
        look();
}

void EngineController::use(const QString &folder)
{
    choose(folder);
    look();
}

void EngineController::choose(const QString &folder)
{
    m_findChosen = nullptr;
    if (!folder.isEmpty())
        m_findChosen = [folder] {
            return ModelLocation { QDir(folder).filesystemAbsolutePath(), { folder } };
        };
}

void EngineController::unload()
{
    const bool wasLoading = m_state == State::Looking || m_state == State::Loading;
    hold(wasLoading ? tr("Loading was stopped.") : tr("Its memory is free again."));
}

void EngineController::hold(const QString &reason)
{
    ++m_load; // events of a load that goes on are of no interest any more
    m_engine.unload();
    setState(State::Unloaded, reason);
    refreshStats();
}

void EngineController::setLoadOptions(const engine::LoadOptions &options)
{
    m_setup.load = options;
}

void EngineController::reload() { look(); }

void EngineController::setDrafter(const QString &folder)
{
    const std::filesystem::path before = std::exchange(
        m_drafter,
        folder.isEmpty() ? std::filesystem::path() : QDir(folder).filesystemAbsolutePath());
    if (m_drafter == before)
        return;
    m_isDrafterPutOff = false;
    const bool isLooking = m_state == State::Looking && m_load > 0; // with the one before
    const bool isInUse = (m_state == State::Loading || m_state == State::Ready) && !before.empty()
        && m_loadedWith.drafterDirectory == before;
    if (isLooking || isInUse)
        look();
    else
        considerDrafter();
}

// Whether the drafter that there is goes with a model that was loaded without one.
void EngineController::considerDrafter()
{
    m_fittingDrafter.clear();
    Q_EMIT drafterWaitingChanged();
    if (m_state != State::Ready || m_drafter.empty() || !m_loadedWith.drafterDirectory.empty())
        return;
    QtConcurrent::run(
        &m_workers,
        [engine = &m_engine, options = m_loadedWith, drafter = m_drafter] {
            return withDrafter({ options.modelDirectory, {} }, *engine, options, drafter).drafter;
        })
        .then(this,
              [this, load = m_load, drafter = m_drafter](const std::filesystem::path &fitting) {
                  if (load != m_load || drafter != m_drafter)
                      return;
                  m_fittingDrafter = fitting;
                  Q_EMIT drafterWaitingChanged();
              });
}

bool EngineController::isDrafterWaiting() const
{
    return m_state == State::Ready && !m_drafter.empty() && m_fittingDrafter == m_drafter;
}

void EngineController::putOffDrafter()
{
    m_isDrafterPutOff = true;
    Q_EMIT drafterWaitingChanged();
}

QFuture<engine::Result<engine::LoadEstimate>>
EngineController::estimate(engine::LoadOptions options)
{
    options.modelDirectory = m_loadedWith.modelDirectory;
    options.drafterDirectory = m_loadedWith.drafterDirectory;
    return QtConcurrent::run(
        &m_workers, [engine = &m_engine, options]() -> engine::Result<engine::LoadEstimate> {
            if (options.modelDirectory.empty())
                return engine::fail(engine::ErrorCode::NotLoaded, "No model was found.");
            return engine->estimate(options);
        });
}

void EngineController::look()
{
    ++m_load;
    setState(State::Looking);
    QtConcurrent::run(&m_workers,
                      [engine = &m_engine, options = m_setup.load, drafter = m_drafter,
                       find = m_findChosen ? m_findChosen : m_setup.findModel] {
                          return withDrafter(find(), *engine, options, drafter);
                      })
        .then(this, [this, load = m_load](const ModelLocation &found) {
            if (load == m_load)
                loadFrom(found);
        });
}

void EngineController::loadFrom(const ModelLocation &location)
{
    if (location.directory.empty()) {
        setState(State::NoModel,
                 tr("No model was found. Looked in: %1.").arg(location.searched.join(u", "_s)));
        return;
    }
    m_loadStage.clear();
    m_loadFraction = 0.0;
    Q_EMIT loadProgressed();
    setState(State::Loading);
    m_loadedWith = m_setup.load;
    m_loadedWith.modelDirectory = location.directory;
    m_loadedWith.drafterDirectory = location.drafter;
    m_engine.load(m_loadedWith, [buffer = m_buffer, load = m_load](const engine::LoadEvent &event) {
        buffer->push(LoadEntry { load, event });
    });
}

std::unique_ptr<Generation> EngineController::measure(std::vector<engine::Message> messages,
                                                      engine::PromptOptions options, int maxTokens)
{
    RequestOptions measured;
    measured.prompt = options;
    measured.sampling.temperature = 0;
    measured.maxTokens = maxTokens;
    return generate(std::move(messages), std::move(measured));
}

std::unique_ptr<Generation> EngineController::generate(std::vector<engine::Message> messages,
                                                       RequestOptions options)
{
    // A chat may ask for a drafter that this model does not have; it changes nothing but the speed.
    if (options.drafting.drafter == engine::DrafterKind::Dflash2 && m_model.drafter.empty())
        options.drafting.drafter = engine::DrafterKind::Auto;
    const GenerationToken token = ++m_lastToken;
    auto link = std::make_shared<GenerationLink>();
    auto generation = std::make_unique<LocalGeneration>(m_engine, link);
    m_generations.emplace(token, generation.get());
    if (!m_statsTimer.isActive())
        m_statsTimer.start();
    m_workers.start([engine = &m_engine, messages = std::move(messages),
                     options = std::move(options), token, link, buffer = m_buffer] {
        prepareAndSubmit(*engine, messages, options, token, link, buffer);
    });
    return generation;
}

QFuture<int> EngineController::countTokens(const QString &text)
{
    return QtConcurrent::run(&m_workers, [engine = &m_engine, text] {
        return engine->countTokens(text.toStdString()).value_or(-1);
    });
}

QString EngineController::stateText() const
{
    switch (m_state) {
    case State::Looking:
        return tr("Looking for a model");
    case State::NoModel:
        return tr("No model");
    case State::Loading:
        return tr("Loading the model");
    case State::Ready:
        return tr("Ready");
    case State::Unloaded:
        return tr("Not loaded");
    case State::Failed:
        break;
    }
    return tr("The model could not be loaded");
}

void EngineController::setState(State state, const QString &errorText)
{
    if (state == m_state && errorText == m_errorText)
        return;
    m_state = state;
    m_errorText = errorText;
    Q_EMIT stateChanged();
    Q_EMIT drafterWaitingChanged();
}

void EngineController::scheduleDrain()
{
    const qint64 passed = m_sinceDrain.isValid() ? m_sinceDrain.elapsed() : kFrameMilliseconds;
    if (passed >= kFrameMilliseconds)
        drain();
    else if (!m_drainTimer.isActive())
        m_drainTimer.start(kFrameMilliseconds - static_cast<int>(passed));
}

void EngineController::drain()
{
    m_sinceDrain.start();
    std::map<GenerationToken, GenerationUpdate> updates;
    for (BufferEntry &entry : m_buffer->take()) {
        if (auto *loaded = std::get_if<LoadEntry>(&entry)) {
            if (loaded->load == m_load)
                onLoadEvent(loaded->event);
            continue;
        }
        auto &generated = std::get<GenerationEntry>(entry);
        GenerationUpdate &update = updates[generated.token];
        if (auto *submitted = std::get_if<Submitted>(&generated.event)) {
            update.promptTokens = submitted->promptTokens;
            update.turn = std::move(submitted->turn);
        } else {
            std::visit(UpdateBuilder { update },
                       std::get<engine::GenerationEvent>(generated.event));
        }
    }
    for (const auto &[token, update] : updates)
        deliver(token, update);
}

void EngineController::noteReadingSpeed(const engine::Finished &finished)
{
    const int read = finished.usage.promptTokens - finished.usage.cachedTokens;
    const double time = finished.timings.prefillSeconds;
    if (read < std::max(m_readTokens, kTellingTokens) || !(time > 0))
        return;
    m_readTokens = read;
    m_readingSpeed = read / time;
}

void EngineController::deliver(GenerationToken token, const GenerationUpdate &update)
{
    const auto found = m_generations.find(token);
    if (found == m_generations.end())
        return;
    const QPointer<Generation> generation = found->second;
    // An engine that broke cannot answer anything until it is loaded again.
    if (update.failed && update.failed->code == engine::ErrorCode::Internal)
        setState(State::Failed, textOf(*update.failed));
    if (update.finished)
        noteReadingSpeed(*update.finished);
    if (update.finished || update.failed) {
        m_generations.erase(found);
        refreshStats(); // where the engine still counts it, the timer sees it go
    }
    if (generation)
        Q_EMIT generation->updated(update); // may destroy the generation
}

void EngineController::onLoadEvent(const engine::LoadEvent &event)
{
    if (const auto *progress = std::get_if<engine::LoadProgress>(&event)) {
        m_loadStage = QString::fromStdString(progress->stage);
        m_loadFraction = std::clamp(progress->fraction, 0.0, 1.0);
        Q_EMIT loadProgressed();
    } else if (const auto *model = std::get_if<engine::ModelInfo>(&event)) {
        m_model = *model;
        m_readingSpeed.reset();
        m_readTokens = 0;
        setState(State::Ready);
        considerDrafter(); // it may have come while the model was loaded
        refreshStats();
    } else {
        setState(State::Failed, textOf(std::get<engine::Error>(event)));
    }
}

void EngineController::refreshStats()
{
    m_stats = m_engine.stats();
    if (m_generations.empty() && m_stats.runningRequests + m_stats.waitingRequests == 0)
        m_statsTimer.stop();
    Q_EMIT statsChanged();
}

} // namespace firesteel::app
