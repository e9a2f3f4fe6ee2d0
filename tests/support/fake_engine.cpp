// SPDX-License-Identifier: MIT
#include "tests/support/fake_engine.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace firesteel::test {

namespace {

constexpr int kBytesPerToken = 4;
constexpr int kPrefillSteps = 8;
constexpr int kVocabularySize = 256;

int tokensOf(std::size_t bytes)
{
    return static_cast<int>((bytes + kBytesPerToken - 1) / kBytesPerToken);
}

// About four bytes, never a part of a character.
std::size_t tokenLength(const std::string &text, std::size_t from)
{
    std::size_t end = std::min(from + kBytesPerToken, text.size());
    while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U)
        ++end;
    return end - from;
}

FakeAnswer defaultAnswer()
{
    FakeAnswer answer;
    answer.thinking = "The question is short.\n\nSo is the answer.";
    answer.text = "Hello from **Glimmer**.";
    return answer;
}

double seconds(std::chrono::steady_clock::duration duration)
{
    return std::chrono::duration<double>(duration).count();
}

} // namespace

FakeEngine::FakeEngine(FakeScript script)
    : m_script(std::move(script))
    , m_thread([this] { run(); })
{
}

FakeEngine::~FakeEngine()
{
    {
        const std::scoped_lock lock(m_mutex);
        m_isStopping = true;
    }
    m_changed.notify_all();
    m_thread.join();
}

void FakeEngine::setScript(FakeScript script)
{
    const std::scoped_lock lock(m_mutex);
    m_script = std::move(script);
}

void FakeEngine::load(engine::LoadOptions options, engine::LoadSink sink)
{
    {
        const std::scoped_lock lock(m_mutex);
        m_stats.state = engine::EngineStats::State::Loading;
        for (const Request &request : m_queue)
            m_cancelled.push_back(request.id);
        m_cancelled.push_back(m_running);
        m_lastLoad = options;
        m_loads.push_back({ std::move(options), std::move(sink) });
    }
    m_changed.notify_all();
}

void FakeEngine::unload()
{
    {
        const std::scoped_lock lock(m_mutex);
        m_stats = {};
        for (const Request &request : m_queue)
            m_cancelled.push_back(request.id);
        m_cancelled.push_back(m_running);
        m_loads.clear();
        m_isUnloaded = true;
    }
    m_changed.notify_all();
}

// Like the real one: without a wish the longest that fits, a context too long or too large is
// refused.
engine::Result<engine::LoadEstimate> FakeEngine::estimate(const engine::LoadOptions &options) const
{
    const std::scoped_lock lock(m_mutex);
    if (m_script.drafterError && !options.drafterDirectory.empty())
        return std::unexpected(*m_script.drafterError);
    return estimateLocked(options);
}

engine::LoadEstimate FakeEngine::estimateLocked(const engine::LoadOptions &options) const
{
    engine::LoadEstimate estimate;
    const int longest = m_script.contextTokens;
    estimate.longestTokens = longest;
    estimate.drafterBytes = options.drafterDirectory.empty() ? 0 : m_script.drafterBytes;
    const std::uint64_t taken
        = m_script.weightBytes + estimate.drafterBytes + options.memoryReserveBytes;
    const std::uint64_t free
        = m_script.availableBytes > taken ? m_script.availableBytes - taken : 0;
    estimate.sequences = std::max(1, options.sequences);
    const std::uint64_t bytesPerToken
        = m_script.bytesPerToken * static_cast<std::uint64_t>(estimate.sequences);
    estimate.contextTokens = options.contextTokens > 0
        ? options.contextTokens
        : static_cast<int>(std::clamp<std::uint64_t>(free / bytesPerToken, 1,
                                                     static_cast<std::uint64_t>(longest)));
    estimate.weightBytes = m_script.weightBytes;
    estimate.stateBytes = bytesPerToken * static_cast<std::uint64_t>(estimate.contextTokens);
    estimate.availableBytes = m_script.availableBytes;
    estimate.reserveBytes = options.memoryReserveBytes;
    const std::uint64_t needed = estimate.weightBytes + estimate.drafterBytes + estimate.stateBytes;
    if (estimate.contextTokens > longest) {
        estimate.refusal = engine::Error { engine::ErrorCode::BadRequest,
                                           "A context of " + std::to_string(estimate.contextTokens)
                                               + " tokens was asked for; this model allows 1 to "
                                               + std::to_string(longest) + "." };
    } else if (needed + estimate.reserveBytes > estimate.availableBytes) {
        estimate.refusal = engine::Error {
            engine::ErrorCode::OutOfMemory,
            std::to_string(needed) + " bytes are needed; " + std::to_string(estimate.availableBytes)
                + " with the reserve of " + std::to_string(estimate.reserveBytes) + " are there."
        };
    }
    return estimate;
}

engine::Result<engine::Prompt> FakeEngine::prepare(std::span<const engine::Message> messages,
                                                   std::span<const engine::Tool> tools,
                                                   const engine::PromptOptions &options) const
{
    std::unique_lock lock(m_mutex);
    if (m_stats.state != engine::EngineStats::State::Ready)
        return engine::fail(engine::ErrorCode::NotLoaded, "no model is loaded");
    if (m_script.prepareError)
        return std::unexpected(*m_script.prepareError);
    m_lastMessages.assign(messages.begin(), messages.end());
    m_lastTools.assign(tools.begin(), tools.end());
    m_lastOptions = options;
    std::size_t bytes = 0;
    for (const engine::Message &message : messages) {
        for (const engine::ContentPart &part : message.content)
            bytes += part.text.size();
    }
    const int promptTokens = tokensOf(bytes) + 1;
    if (promptTokens >= m_stats.contextTokens) {
        return engine::fail(engine::ErrorCode::ContextExceeded,
                            "The prompt has " + std::to_string(promptTokens)
                                + " tokens, the context holds "
                                + std::to_string(m_stats.contextTokens) + ".");
    }
    FakeAnswer answer = m_script.answer ? m_script.answer(m_lastMessages) : defaultAnswer();
    if (!options.thinking)
        answer.thinking.clear();
    engine::Prompt prompt;
    prompt.startsInThinking = options.thinking;
    prompt.tokens.assign(static_cast<std::size_t>(promptTokens), 0);
    prompt.tokens.front() = ++m_lastPrepared;
    prompt.lastUserTurn = prompt.tokens.size() - 1;
    m_prepared.emplace(m_lastPrepared, std::move(answer));
    return prompt;
}

engine::Result<int> FakeEngine::countTokens(std::string_view text) const
{
    const std::scoped_lock lock(m_mutex);
    if (m_stats.state != engine::EngineStats::State::Ready)
        return engine::fail(engine::ErrorCode::NotLoaded, "no model is loaded");
    ++m_countedTexts;
    return tokensOf(text.size());
}

engine::Result<std::vector<std::int32_t>> FakeEngine::tokenize(std::string_view text) const
{
    const std::scoped_lock lock(m_mutex);
    if (m_stats.state != engine::EngineStats::State::Ready)
        return engine::fail(engine::ErrorCode::NotLoaded, "no model is loaded");
    std::vector<std::int32_t> ids;
    for (const char byte : text)
        ids.push_back(static_cast<unsigned char>(byte));
    return ids;
}

engine::Result<std::string> FakeEngine::detokenize(std::span<const std::int32_t> ids) const
{
    const std::scoped_lock lock(m_mutex);
    if (m_stats.state != engine::EngineStats::State::Ready)
        return engine::fail(engine::ErrorCode::NotLoaded, "no model is loaded");
    std::string text;
    for (const std::int32_t id : ids) {
        if (id < 0 || id >= kVocabularySize)
            return engine::fail(engine::ErrorCode::BadRequest,
                                "there is no token " + std::to_string(id));
        text += static_cast<char>(id);
    }
    return text;
}

std::optional<engine::ModelInfo> FakeEngine::model() const
{
    const std::scoped_lock lock(m_mutex);
    if (m_stats.state != engine::EngineStats::State::Ready)
        return std::nullopt;
    return m_info;
}

engine::Result<engine::RequestId> FakeEngine::submit(engine::GenerationRequest request,
                                                     engine::EventSink sink)
{
    engine::RequestId id = 0;
    {
        const std::scoped_lock lock(m_mutex);
        if (m_script.submitError)
            return std::unexpected(*m_script.submitError);
        if (m_stats.state != engine::EngineStats::State::Ready)
            return engine::fail(engine::ErrorCode::NotLoaded, "no model is loaded");
        if (m_queue.size() >= m_script.mostWaiting)
            return engine::fail(engine::ErrorCode::QueueFull,
                                std::to_string(m_queue.size()) + " requests wait.");
        const auto prepared
            = m_prepared.find(request.prompt.tokens.empty() ? 0 : request.prompt.tokens.front());
        if (prepared == m_prepared.end())
            return engine::fail(engine::ErrorCode::BadRequest,
                                "the prompt was not made by prepare()");
        id = ++m_lastId;
        m_lastRequest = request;
        m_lastRequest.prompt.tokens.clear();
        m_queue.push_back({ id, std::move(prepared->second),
                            static_cast<int>(request.prompt.tokens.size()), std::move(sink),
                            std::move(request.source), request.thinkingBudget });
        m_prepared.erase(prepared);
        m_stats.waitingRequests = static_cast<int>(m_queue.size());
    }
    m_changed.notify_all();
    return id;
}

void FakeEngine::cancel(engine::RequestId id)
{
    {
        const std::scoped_lock lock(m_mutex);
        m_cancelled.push_back(id);
    }
    m_changed.notify_all();
}

void FakeEngine::answerNow(engine::RequestId id)
{
    {
        const std::scoped_lock lock(m_mutex);
        m_answerNow = id;
    }
    m_changed.notify_all();
}

engine::EngineStats FakeEngine::stats() const
{
    const std::scoped_lock lock(m_mutex);
    engine::EngineStats stats = m_stats;
    if (m_running != 0)
        stats.requests.push_back(m_runningStatus);
    for (const Request &request : m_queue) {
        stats.requests.push_back({ request.id, request.source,
                                   engine::RequestStatus::Phase::Waiting, request.promptTokens });
    }
    return stats;
}

void FakeEngine::holdTokens()
{
    const std::scoped_lock lock(m_mutex);
    m_allowed = 0;
}

void FakeEngine::allowTokens(int count)
{
    {
        const std::scoped_lock lock(m_mutex);
        m_allowed = m_allowed.value_or(0) + count;
    }
    m_changed.notify_all();
}

void FakeEngine::releaseTokens()
{
    {
        const std::scoped_lock lock(m_mutex);
        m_allowed.reset();
    }
    m_changed.notify_all();
}

void FakeEngine::draft(const engine::DraftCounts &counts, int draftTokens)
{
    const std::scoped_lock lock(m_mutex);
    m_stats.drafting += counts;
    m_stats.draftTokens = draftTokens;
}

int FakeEngine::emittedTokens() const
{
    const std::scoped_lock lock(m_mutex);
    return m_emitted;
}

int FakeEngine::countedTexts() const
{
    const std::scoped_lock lock(m_mutex);
    return m_countedTexts;
}

std::vector<engine::Message> FakeEngine::lastMessages() const
{
    const std::scoped_lock lock(m_mutex);
    return m_lastMessages;
}

std::vector<engine::Tool> FakeEngine::lastTools() const
{
    const std::scoped_lock lock(m_mutex);
    return m_lastTools;
}

engine::PromptOptions FakeEngine::lastOptions() const
{
    const std::scoped_lock lock(m_mutex);
    return m_lastOptions;
}

engine::GenerationRequest FakeEngine::lastRequest() const
{
    const std::scoped_lock lock(m_mutex);
    return m_lastRequest;
}

engine::LoadOptions FakeEngine::lastLoad() const
{
    const std::scoped_lock lock(m_mutex);
    return m_lastLoad;
}

void FakeEngine::run()
{
    Lock lock(m_mutex);
    while (true) {
        m_changed.wait(lock,
                       [this] { return m_isStopping || !m_loads.empty() || !m_queue.empty(); });
        // Requests accepted before a load end first: it cancelled them.
        if (!m_queue.empty()) {
            Request request = std::move(m_queue.front());
            m_queue.pop_front();
            m_stats.waitingRequests = static_cast<int>(m_queue.size());
            runRequest(std::move(request), lock);
        } else if (m_isStopping) {
            return;
        } else if (!m_loads.empty()) {
            Load load = std::move(m_loads.front());
            m_loads.pop_front();
            runLoad(std::move(load), lock);
        }
    }
}

// False when the wait ended because there is no point in going on.
bool FakeEngine::waitUntil(Clock::time_point when, engine::RequestId id, Lock &lock)
{
    m_changed.wait_until(lock, when, [&] { return isCancelled(id); });
    return !isCancelled(id);
}

bool FakeEngine::isCancelled(engine::RequestId id) const
{
    return m_isStopping || (id != 0 && std::ranges::contains(m_cancelled, id));
}

void FakeEngine::runLoad(Load load, Lock &lock)
{
    const FakeScript script = m_script;
    m_isUnloaded = false;
    const auto tell = [&](const engine::LoadEvent &event) {
        lock.unlock();
        load.sink(event);
        lock.lock();
    };
    double stage = 0;
    for (const std::string &name : script.loadStages) {
        tell(
            engine::LoadProgress { name, stage++ / static_cast<double>(script.loadStages.size()) });
        m_changed.wait_until(lock, Clock::now() + script.loadStageTime,
                             [this] { return m_isStopping || m_isUnloaded; });
        if (m_isStopping || m_isUnloaded || !m_loads.empty()) {
            tell(engine::Error { engine::ErrorCode::Cancelled, "loading was cancelled" });
            return;
        }
    }
    const engine::LoadEstimate estimate = estimateLocked(load.options);
    const bool isDrafted = !load.options.drafterDirectory.empty();
    const auto error = isDrafted && script.drafterError ? script.drafterError
        : script.loadError                              ? script.loadError
                                                        : estimate.refusal;
    if (error) {
        m_stats.state = engine::EngineStats::State::Failed;
        tell(*error);
        return;
    }
    m_stats = {};
    m_stats.state = engine::EngineStats::State::Ready;
    m_stats.contextTokens = estimate.contextTokens;
    m_stats.weightBytes = estimate.weightBytes;
    m_stats.stateBytes = estimate.stateBytes;
    m_stats.drafterBytes = estimate.drafterBytes;
    engine::ModelInfo info;
    info.name = script.modelName;
    info.backend = script.backend;
    info.vocabulary = script.vocabulary;
    info.contextTokens = estimate.contextTokens;
    info.weightBytes = estimate.weightBytes;
    info.stateBytes = estimate.stateBytes;
    info.drafter = isDrafted ? "DFlash2" : "";
    info.drafterBytes = estimate.drafterBytes;
    info.samplingDefaults = script.samplingDefaults;
    info.vocabularySize = kVocabularySize;
    m_info = info;
    tell(info);
}

void FakeEngine::reportQueue(Lock &lock)
{
    std::vector<std::pair<engine::RequestId, engine::EventSink>> waiting;
    for (const Request &request : m_queue)
        waiting.emplace_back(request.id, request.sink);
    lock.unlock();
    for (std::size_t i = 0; i < waiting.size(); ++i)
        waiting[i].second(waiting[i].first, engine::Queued { static_cast<int>(i) + 1 });
    lock.lock();
}

void FakeEngine::runRequest(Request request, Lock &lock)
{
    const auto submitted = Clock::now();
    const auto tell = [&](const engine::GenerationEvent &event) {
        lock.unlock();
        request.sink(request.id, event);
        lock.lock();
    };
    m_running = request.id;
    m_stats.runningRequests = 1;
    m_stats.usedTokens = request.promptTokens;
    m_runningStatus = { request.id, request.source, engine::RequestStatus::Phase::Prefill,
                        request.promptTokens };
    tell(engine::Queued { 0 });
    reportQueue(lock);
    const auto prefillStep = m_script.prefillTime / kPrefillSteps;
    bool goesOn = !isCancelled(request.id);
    for (int step = 1; goesOn && step <= kPrefillSteps; ++step) {
        goesOn = waitUntil(Clock::now() + prefillStep, request.id, lock);
        m_runningStatus.processedTokens = request.promptTokens * step / kPrefillSteps;
        m_stats.prefillTokens += static_cast<std::uint64_t>(m_runningStatus.processedTokens)
            - static_cast<std::uint64_t>(request.promptTokens * (step - 1) / kPrefillSteps);
        const double passed = seconds(Clock::now() - submitted);
        m_stats.prefillTokensPerSecond = passed > 0 ? m_runningStatus.processedTokens / passed : 0;
        tell(engine::PrefillProgress { request.promptTokens * step / kPrefillSteps,
                                       request.promptTokens });
    }
    const auto firstToken = Clock::now();
    m_runningStatus.phase = engine::RequestStatus::Phase::Decode;
    m_stats.timeToFirstTokenSeconds = seconds(firstToken - submitted);
    int tokens = 0;
    goesOn = goesOn && streamText(request, request.answer.thinking, true, tokens, firstToken, lock);
    const int reasoning = tokens;
    goesOn = goesOn && streamText(request, request.answer.text, false, tokens, firstToken, lock);
    for (int index = 0; const engine::ToolCall &call : request.answer.toolCalls) {
        if (!goesOn || isCancelled(request.id))
            break;
        tell(engine::ToolCallEvent { index++, call });
    }
    goesOn = goesOn && !isCancelled(request.id);
    m_running = 0;
    if (m_script.endTime.count() == 0)
        m_stats.runningRequests = 0;
    std::erase(m_cancelled, request.id);
    if (goesOn && request.answer.failure)
        tell(engine::Failed { *request.answer.failure });
    else
        finish(request, goesOn ? request.answer.reason : engine::FinishReason::Cancelled, tokens,
               reasoning, submitted, firstToken, lock);
    waitUntil(Clock::now() + m_script.endTime, 0, lock);
    m_stats.runningRequests = 0;
}

bool FakeEngine::streamText(const Request &request, const std::string &text, bool isThinking,
                            int &tokens, Clock::time_point started, Lock &lock)
{
    for (std::size_t at = 0; at < text.size();) {
        const auto isEnough = [&] {
            return isThinking
                && (m_answerNow == request.id
                    || (request.thinkingBudget && tokens >= *request.thinkingBudget));
        };
        m_changed.wait(lock, [&] {
            return !m_allowed || *m_allowed > 0 || isCancelled(request.id) || isEnough();
        });
        if (isCancelled(request.id))
            return false;
        if (isEnough())
            return true;
        if (m_script.tokensPerSecond > 0) {
            const std::chrono::duration<double> due((tokens + 1) / m_script.tokensPerSecond);
            if (!waitUntil(started + std::chrono::duration_cast<Clock::duration>(due), request.id,
                           lock))
                return false;
        }
        const std::size_t length = tokenLength(text, at);
        std::string piece = text.substr(at, length);
        at += length;
        ++tokens;
        ++m_stats.decodedTokens;
        ++m_stats.decodeSteps;
        ++m_stats.usedTokens;
        m_runningStatus.generatedTokens = tokens;
        const double passed = seconds(Clock::now() - started);
        m_stats.decodeTokensPerSecond = passed > 0 ? tokens / passed : 0;
        if (m_allowed)
            --*m_allowed;
        lock.unlock();
        if (isThinking)
            request.sink(request.id, engine::ThinkingDelta { std::move(piece), 1, { tokens } });
        else
            request.sink(request.id, engine::TextDelta { std::move(piece), 1, { tokens } });
        lock.lock();
        ++m_emitted;
    }
    return true;
}

void FakeEngine::finish(const Request &request, engine::FinishReason reason, int tokens,
                        int reasoning, Clock::time_point submitted, Clock::time_point firstToken,
                        Lock &lock)
{
    engine::Finished finished;
    finished.reason = reason;
    finished.usage.promptTokens = request.promptTokens;
    finished.usage.completionTokens = tokens;
    finished.usage.reasoningTokens = std::min(reasoning, tokens);
    finished.timings.timeToFirstTokenSeconds = seconds(firstToken - submitted);
    finished.timings.prefillSeconds = seconds(firstToken - submitted);
    finished.timings.decodeSeconds = seconds(Clock::now() - firstToken);
    finished.tokens.resize(static_cast<std::size_t>(tokens));
    std::iota(finished.tokens.begin(), finished.tokens.end(), 1);
    lock.unlock();
    request.sink(request.id, finished);
    lock.lock();
}

} // namespace firesteel::test
