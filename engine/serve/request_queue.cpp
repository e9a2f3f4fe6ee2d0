// SPDX-License-Identifier: MIT
#include "engine/serve/request_queue.h"

#include <algorithm>
#include <format>
#include <utility>

namespace firesteel::engine {

RequestQueue::RequestQueue(int capacity)
    : m_capacity(capacity)
{
}

void RequestQueue::supersede(std::optional<LoadOptions> options, LoadSink sink,
                             EngineStats::State state)
{
    {
        const std::lock_guard lock(m_mutex);
        m_currentLoad.cancel();
        m_currentLoad = CancelToken();
        m_facts.reset();
        m_stats = {};
        m_stats.state = state;
        m_commands.push_back({ std::move(options), std::move(sink), m_currentLoad });
    }
    m_wake.notify_one();
}

void RequestQueue::load(LoadOptions options, LoadSink sink)
{
    supersede(std::move(options), std::move(sink), EngineStats::State::Loading);
}

void RequestQueue::unload() { supersede(std::nullopt, {}, EngineStats::State::Empty); }

Result<RequestId> RequestQueue::submit(GenerationRequest request, EventSink sink)
{
    const std::shared_ptr<const ModelFacts> facts = this->facts();
    if (!facts)
        return fail(ErrorCode::NotLoaded, "No model is loaded.");
    if (auto checked = facts->check(request); !checked)
        return std::unexpected(checked.error());
    auto grammar = facts->grammarOf(request.format);
    if (!grammar)
        return std::unexpected(grammar.error());
    if (*grammar)
        facts->answerTokens(); // here, where it delays nobody else
    RequestId id = 0;
    {
        const std::lock_guard lock(m_mutex);
        if (m_facts != facts)
            return fail(ErrorCode::NotLoaded,
                        "The model was replaced while the request was being checked.");
        if (const int waiting = waitingRequests(); waiting >= m_capacity)
            return fail(ErrorCode::QueueFull,
                        std::format("{} requests are waiting already.", waiting));
        id = ++m_lastId;
        const Live live { .cancel = {},
                          .thinking = {},
                          .source = request.source,
                          .promptTokens = static_cast<int>(request.prompt.tokens.size()) };
        m_live.emplace(id, live);
        m_requests.push_back({ id, std::move(request), std::move(*grammar), std::move(sink),
                               live.cancel, live.thinking, std::chrono::steady_clock::now() });
    }
    m_wake.notify_one();
    return id;
}

void RequestQueue::cancel(RequestId id)
{
    const std::lock_guard lock(m_mutex);
    if (const auto live = m_live.find(id); live != m_live.end())
        live->second.cancel.cancel();
}

void RequestQueue::answerNow(RequestId id)
{
    const std::lock_guard lock(m_mutex);
    if (const auto live = m_live.find(id); live != m_live.end())
        live->second.thinking.cancel();
}

void RequestQueue::stop()
{
    {
        const std::lock_guard lock(m_mutex);
        m_isStopping = true;
        m_currentLoad.cancel();
        m_facts.reset();
    }
    m_wake.notify_one();
}

std::shared_ptr<const ModelFacts> RequestQueue::facts() const
{
    const std::lock_guard lock(m_mutex);
    return m_facts;
}

EngineStats RequestQueue::stats() const
{
    const std::lock_guard lock(m_mutex);
    EngineStats stats = m_stats;
    stats.waitingRequests = waitingRequests();
    stats.runningRequests = static_cast<int>(m_live.size()) - stats.waitingRequests;
    // What the engine thread reported last may have ended since; what it did not report waits.
    stats.requests.clear();
    for (const auto &[id, live] : m_live) {
        const auto running = std::ranges::find(m_stats.requests, id, &RequestStatus::id);
        RequestStatus &status = stats.requests.emplace_back(
            running != m_stats.requests.end() ? *running : RequestStatus());
        status.id = id;
        status.source = live.source;
        status.promptTokens = live.promptTokens;
    }
    return stats;
}

int RequestQueue::waitingRequests() const
{
    return static_cast<int>(
        std::ranges::count_if(m_live, [](const auto &entry) { return entry.second.isWaiting; }));
}

void RequestQueue::addModel(EngineStats &stats) const
{
    const ModelInfo &info = m_facts->info();
    stats.contextTokens = info.sequences * info.contextTokens;
    stats.weightBytes = info.weightBytes;
    stats.stateBytes = info.stateBytes;
    stats.drafterBytes = info.drafterBytes;
}

RequestQueue::Inbox RequestQueue::takeLocked()
{
    return { m_isStopping, std::exchange(m_commands, {}), std::exchange(m_requests, {}) };
}

RequestQueue::Inbox RequestQueue::take()
{
    const std::lock_guard lock(m_mutex);
    return takeLocked();
}

RequestQueue::Inbox RequestQueue::waitAndTake()
{
    std::unique_lock lock(m_mutex);
    m_wake.wait(lock,
                [this] { return m_isStopping || !m_commands.empty() || !m_requests.empty(); });
    return takeLocked();
}

bool RequestQueue::publish(const CancelToken &load, std::shared_ptr<const ModelFacts> facts)
{
    const std::lock_guard lock(m_mutex);
    if (load.isCancelled())
        return false;
    m_stats = {};
    m_stats.state = EngineStats::State::Ready;
    m_facts = std::move(facts);
    addModel(m_stats);
    return true;
}

void RequestQueue::withdraw(const CancelToken &load, EngineStats::State state)
{
    const std::lock_guard lock(m_mutex);
    if (load.isCancelled())
        return;
    m_facts.reset();
    m_stats.state = state;
}

void RequestQueue::admitted(RequestId id)
{
    const std::lock_guard lock(m_mutex);
    m_live.at(id).isWaiting = false;
}

void RequestQueue::ended(RequestId id)
{
    const std::lock_guard lock(m_mutex);
    m_live.erase(id);
}

void RequestQueue::report(const EngineStats &counters)
{
    const std::lock_guard lock(m_mutex);
    if (!m_facts)
        return;
    const EngineStats::State state = m_stats.state;
    m_stats = counters;
    m_stats.state = state;
    addModel(m_stats);
}

} // namespace firesteel::engine
