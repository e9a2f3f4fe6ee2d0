// SPDX-License-Identifier: MIT
#include "engine/serve/engine_thread.h"

#include "engine/base/system_memory.h"
#include "engine/decode/lookup_drafter.h"
#include "engine/serve/load_budget.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <format>
#include <utility>
#include <variant>

namespace firesteel::engine {

namespace {

using Clock = std::chrono::steady_clock;

double secondsBetween(Clock::time_point from, Clock::time_point to)
{
    return std::chrono::duration<double>(to - from).count();
}

} // namespace

std::unique_ptr<Engine> createEngine(LogSink log)
{
    return std::make_unique<EngineThread>(std::move(log));
}

EngineThread::EngineThread(LogSink log, int queueCapacity)
    : m_log(std::move(log))
    , m_queue(queueCapacity)
    , m_thread([this] { run(); })
{
}

EngineThread::~EngineThread()
{
    m_queue.stop();
    m_thread.join();
}

void EngineThread::load(LoadOptions options, LoadSink sink)
{
    m_queue.load(std::move(options), std::move(sink));
}

void EngineThread::unload() { m_queue.unload(); }

Result<LoadEstimate> EngineThread::estimate(const LoadOptions &options) const
{
    const auto facts = m_queue.facts();
    if (!facts)
        return estimateLoad(options, 0);
    return estimateLoad(options, facts->size().heldBytes, &facts->size().checkpoint);
}

Result<Prompt> EngineThread::prepare(std::span<const Message> messages, std::span<const Tool> tools,
                                     const PromptOptions &options) const
{
    const auto facts = m_queue.facts();
    if (!facts)
        return fail(ErrorCode::NotLoaded, "No model is loaded.");
    return facts->prepare(messages, tools, options);
}

Result<int> EngineThread::countTokens(std::string_view text) const
{
    const auto facts = m_queue.facts();
    if (!facts)
        return fail(ErrorCode::NotLoaded, "No model is loaded.");
    return static_cast<int>(facts->tokenizer().encode(text).size());
}

Result<std::vector<std::int32_t>> EngineThread::tokenize(std::string_view text) const
{
    const auto facts = m_queue.facts();
    if (!facts)
        return fail(ErrorCode::NotLoaded, "No model is loaded.");
    return facts->tokenizer().encode(text);
}

Result<std::string> EngineThread::detokenize(std::span<const std::int32_t> ids) const
{
    const auto facts = m_queue.facts();
    if (!facts)
        return fail(ErrorCode::NotLoaded, "No model is loaded.");
    const int size = facts->info().vocabularySize;
    for (const std::int32_t id : ids) {
        if (id < 0 || id >= size)
            return fail(ErrorCode::BadRequest,
                        std::format("There is no token {}; ids go from 0 to {}.", id, size - 1));
    }
    return facts->tokenizer().decode(ids);
}

std::optional<ModelInfo> EngineThread::model() const
{
    const auto facts = m_queue.facts();
    return facts ? std::optional(facts->info()) : std::nullopt;
}

Result<RequestId> EngineThread::submit(GenerationRequest request, EventSink sink)
{
    return m_queue.submit(std::move(request), std::move(sink));
}

void EngineThread::cancel(RequestId id) { m_queue.cancel(id); }

void EngineThread::answerNow(RequestId id) { m_queue.answerNow(id); }

EngineStats EngineThread::stats() const { return m_queue.stats(); }

// The one place where exceptions of the engine end: broken invariants of our own, and what a sink
// lets escape.
void EngineThread::run()
{
    std::optional<std::string> broken;
    for (;;) {
        try {
            if (const auto what = std::exchange(broken, std::nullopt))
                recover(*what);
            if (!serve())
                return;
        } catch (const std::exception &error) {
            broken = error.what();
        } catch (...) {
            broken = "an exception of unknown type";
        }
    }
}

bool EngineThread::serve()
{
    RequestQueue::Inbox inbox
        = m_scheduler.isIdle() && m_commands.empty() ? m_queue.waitAndTake() : m_queue.take();
    const bool isStopping = inbox.isStopping;
    collect(std::move(inbox));
    while (!m_commands.empty()) {
        m_loading = std::move(m_commands.front());
        m_commands.pop_front();
        execute(*m_loading);
        m_loading.reset();
    }
    if (isStopping) {
        dropModel({ ErrorCode::Cancelled, "The engine is shutting down." });
        return false;
    }
    endCancelled();
    admit();
    m_scheduler.announcePositions();
    reportStats(); // before the step too: its events may be answered with a look at the counters
    step();
    retireEnded();
    reportStats();
    return true;
}

void EngineThread::collect(RequestQueue::Inbox inbox)
{
    for (QueuedRequest &request : inbox.requests)
        m_scheduler.enqueue(std::move(request));
    for (LoadCommand &command : inbox.commands)
        m_commands.push_back(std::move(command));
}

// Fails whatever was going on. Everything is taken out of its place before its sink is called: a
// sink that throws comes back here for the rest.
void EngineThread::recover(const std::string &what)
{
    m_log.error("engine", std::format("An invariant broke: {}", what));
    const Error error { ErrorCode::Internal,
                        std::format("The engine failed and must load its model again: {}", what) };
    m_queue.withdraw(m_load, EngineStats::State::Failed);
    collect(m_queue.take()); // what was submitted before the withdrawal
    if (const auto command = std::exchange(m_loading, std::nullopt); command && command->sink)
        command->sink(error);
    if (const auto request = std::exchange(m_admitting, std::nullopt))
        failRequest(request->first, request->second, error);
    dropModel(error);
}

void EngineThread::execute(LoadCommand &command)
{
    m_load = command.cancel;
    dropModel({ ErrorCode::Cancelled,
                command.options ? "The model was replaced." : "The model was unloaded." });
    if (!command.options) {
        m_log.info("engine.load", "The model was unloaded.");
        return;
    }
    m_log.info("engine.load", std::format("Loading {}", command.options->modelDirectory.string()));
    const auto progress = [&](LoadProgress value) {
        if (command.sink)
            command.sink(std::move(value));
    };
    auto loaded = command.cancel.isCancelled()
        ? fail(ErrorCode::Cancelled, "The load was cancelled.")
        : LoadedModel::load(*command.options, progress, command.cancel);
    if (loaded && !m_queue.publish(command.cancel, (*loaded)->facts()))
        loaded = fail(ErrorCode::Cancelled, "The load was cancelled.");

    LoadEvent last;
    if (loaded) {
        m_loaded = std::move(*loaded);
        m_counters = {};
        m_costs = {};
        m_scheduler.setLimits(m_loaded->facts()->info().sequences, m_loaded->prefillTokens());
        const ModelInfo &info = m_loaded->facts()->info();
        m_log.info("engine.load",
                   std::format("{}: {}, {} sequences of {} tokens, weights {}, state {}", info.name,
                               info.backend, info.sequences, info.contextTokens,
                               formatBytes(info.weightBytes), formatBytes(info.stateBytes)));
        last = info;
    } else {
        m_queue.withdraw(command.cancel, EngineStats::State::Failed);
        m_log.warning("engine.load", loaded.error().message);
        last = loaded.error();
    }
    // Taken first: a sink that throws must not get a second last event.
    if (const LoadSink sink = std::move(command.sink))
        sink(last);
}

void EngineThread::endCancelled()
{
    while (const std::optional<QueuedRequest> queued = m_scheduler.takeCancelled()) {
        m_queue.ended(queued->id);
        Finished finished;
        finished.reason = FinishReason::Cancelled;
        finished.usage.promptTokens = static_cast<int>(queued->request.prompt.tokens.size());
        finished.timings.queueSeconds = secondsBetween(queued->submitted, Clock::now());
        queued->sink(queued->id, std::move(finished));
    }
    for (const std::unique_ptr<ActiveRequest> &request : m_scheduler.running()) {
        if (request->isCancelled())
            request->endCancelled();
    }
    retireEnded();
}

void EngineThread::admit()
{
    while (std::optional<QueuedRequest> queued = m_scheduler.admit()) {
        m_queue.admitted(queued->id);
        m_admitting = { queued->id, queued->sink };
        const SequenceSlots::Lease lease = m_loaded->slots().acquire(queued->request.prompt.tokens);
        if (Dflash2Drafter *drafter = m_loaded->dflash2()) {
            if (lease.isSameSequence)
                drafter->rewind(lease.slot, lease.position);
            else
                drafter->restart(lease.slot);
        }
        m_counters.cachedTokens += static_cast<std::uint64_t>(lease.position);
        m_scheduler.start(std::make_unique<ActiveRequest>(std::move(*queued), m_loaded->facts(),
                                                          lease.slot,
                                                          m_loaded->slots().sequence(lease.slot)));
        m_admitting.reset();
        m_scheduler.running().back()->announcePrefill();
    }
}

void EngineThread::step()
{
    const Scheduler::Step next = m_scheduler.next();
    const Clock::time_point begin = Clock::now();
    if (const auto *chunk = std::get_if<Scheduler::Prefill>(&next))
        prefill(*chunk);
    else if (const auto *rows = std::get_if<Scheduler::Decode>(&next))
        decode(*rows);
    m_scheduler.took(next, secondsBetween(begin, Clock::now()));
}

void EngineThread::prefill(const Scheduler::Prefill &step)
{
    ActiveRequest &request = *step.request;
    const std::span<float> logits = step.isLast ? m_loaded->logits(1) : std::span<float>();
    // The drafter's context is the prompt's end.
    Dflash2Drafter *drafter = m_loaded->dflash2();
    const int begin = request.sequence().position();
    const int end = begin + static_cast<int>(step.tokens.size());
    const bool isTapped = drafter != nullptr && request.policy().mayUse(DrafterKind::Dflash2)
        && end > request.promptTokens() - drafter->tapWindow();
    const std::span<float> taps
        = isTapped ? m_loaded->taps(step.tokens.size()) : std::span<float>();
    m_loaded->model().prefill(request.sequence(), step.tokens, logits, taps);
    if (isTapped)
        drafter->extend(request.slot(), begin, taps);
    m_counters.prefillTokens += step.tokens.size();
    request.prefilled(static_cast<int>(step.tokens.size()));
    m_counters.prefillTokensPerSecond = request.prefillTokensPerSecond();
    if (step.isLast) {
        request.acceptFirst(logits);
        m_counters.timeToFirstTokenSeconds = request.timings().timeToFirstTokenSeconds;
    } else if (SequenceSlots::nextMark(request.prompt(), end - 1) == end) {
        m_loaded->slots().keep(request.slot());
    }
}

// Gives every request its drafts of the next step.
void EngineThread::draft(std::span<ActiveRequest *const> requests)
{
    Dflash2Drafter *dflash2 = m_loaded->dflash2();
    LookupDrafter lookup;
    m_jobs.clear();
    std::vector<ActiveRequest *> drafted; // by the model, in the order of m_jobs
    // One row each at least; those before `request` have theirs and their drafts.
    OtherSequences others { .sequences = static_cast<int>(requests.size()) - 1,
                            .rows = static_cast<int>(requests.size()) - 1 };
    for (ActiveRequest *request : requests) {
        const int limit = request->draftLimit();
        if (limit == 0)
            continue;
        DraftJob copied = request->draftJob(limit);
        if (request->policy().mayUse(DrafterKind::Lookup))
            lookup.draft({ &copied, 1 });
        const DraftPolicy::Choice choice = request->policy().choose(
            limit, dflash2 != nullptr, static_cast<int>(copied.drafts.size()), m_costs, others);
        others.rows += choice.tokens;
        if (choice.drafter == DrafterKind::Lookup) {
            request->setDrafts(
                choice.drafter,
                std::span(copied.drafts).first(static_cast<std::size_t>(choice.tokens)));
        } else if (choice.drafter == DrafterKind::Dflash2) {
            m_jobs.push_back(request->draftJob(choice.tokens));
            m_jobs.back().slot = request->slot();
            drafted.push_back(request);
        }
    }
    if (dflash2 == nullptr || m_jobs.empty())
        return;
    dflash2->draft(m_jobs);
    for (std::size_t i = 0; i < drafted.size(); ++i)
        drafted[i]->setDrafts(DrafterKind::Dflash2, m_jobs[i].drafts);
}

void EngineThread::decode(const Scheduler::Decode &step)
{
    const Clock::time_point begin = Clock::now();
    draft(step.requests);
    const Clock::time_point drafted = Clock::now();
    m_rows.clear();
    std::size_t rows = 0;
    for (ActiveRequest *request : step.requests) {
        m_rows.push_back({ &request->sequence(), request->stepTokens() });
        rows += request->stepTokens().size();
    }
    const std::span<float> logits = m_loaded->logits(rows);
    Dflash2Drafter *drafter = m_loaded->dflash2();
    const auto isFollowed = [&](ActiveRequest *request) {
        return drafter != nullptr && request->policy().mayUse(DrafterKind::Dflash2);
    };
    const std::span<float> taps = std::ranges::any_of(step.requests, isFollowed)
        ? m_loaded->taps(rows)
        : std::span<float>();
    m_loaded->model().decode(m_rows, logits, taps);
    const Clock::time_point verified = Clock::now();
    ++m_counters.decodeSteps;
    m_costs.addStep(static_cast<int>(rows), secondsBetween(drafted, verified));
    if (!m_jobs.empty())
        m_costs.addDraft(secondsBetween(begin, drafted));

    const std::size_t vocabulary = logits.size() / std::max<std::size_t>(1, rows);
    const std::size_t tapWidth = taps.size() / std::max<std::size_t>(1, rows);
    std::size_t first = 0;
    m_counters.decodeTokensPerSecond = 0;
    for (ActiveRequest *request : step.requests) {
        const std::size_t count = request->stepTokens().size();
        const int position = request->sequence().position();
        request->addTimes(secondsBetween(begin, drafted), secondsBetween(drafted, verified));
        const ActiveRequest::Verified verdict
            = request->accept(logits.subspan(first * vocabulary, count * vocabulary));
        if (isFollowed(request))
            drafter->extend(
                request->slot(), position,
                taps.subspan(first * tapWidth, static_cast<std::size_t>(verdict.rows) * tapWidth));
        m_counters.decodedTokens += static_cast<std::uint64_t>(verdict.rows);
        m_counters.decodeTokensPerSecond += request->decodeTokensPerSecond();
        m_counters.draftTokens = verdict.drafted;
        m_counters.drafting.addStep(verdict.drafted, verdict.agreed);
        first += count;
    }
    m_counters.drafting.draftSeconds += secondsBetween(begin, drafted);
    m_counters.drafting.verifySeconds += secondsBetween(drafted, verified);
}

void EngineThread::retireEnded()
{
    for (const std::unique_ptr<ActiveRequest> &request : m_scheduler.running()) {
        if (!request->hasEnded())
            continue;
        m_queue.ended(request->id());
        m_loaded->slots().release(request->slot());
        m_log.info("engine.serve",
                   std::format("request {}: {} prompt tokens ({} cached) at {:.0f}/s, {} generated "
                               "at {:.1f}/s, waited {:.2f} s",
                               request->id(), request->usage().promptTokens,
                               request->usage().cachedTokens, request->prefillTokensPerSecond(),
                               request->usage().completionTokens, request->decodeTokensPerSecond(),
                               request->timings().queueSeconds));
    }
    m_scheduler.dropEnded();
}

void EngineThread::failRequest(RequestId id, const EventSink &sink, const Error &reason)
{
    m_queue.ended(id);
    sink(id, Failed { reason });
}

void EngineThread::dropModel(const Error &reason)
{
    while (const std::unique_ptr<ActiveRequest> request = m_scheduler.takeRunning()) {
        m_queue.ended(request->id());
        if (!request->hasEnded())
            request->endFailed(reason);
    }
    while (const std::optional<QueuedRequest> queued = m_scheduler.takeWaiting()) {
        failRequest(queued->id, queued->sink, reason);
    }
    m_loaded.reset();
}

void EngineThread::reportStats()
{
    m_counters.usedTokens = 0;
    for (const std::unique_ptr<ActiveRequest> &request : m_scheduler.running())
        m_counters.usedTokens += request->sequence().position();
    m_counters.requests.clear();
    for (const std::unique_ptr<ActiveRequest> &request : m_scheduler.running())
        m_counters.requests.push_back(request->status());
    m_counters.snapshotBytes = m_loaded ? m_loaded->slots().snapshotBytes() : 0;
    m_queue.report(m_counters);
}

} // namespace firesteel::engine
