// SPDX-License-Identifier: MIT
#include "engine/serve/scheduler.h"

#include "engine/model/model.h"
#include "engine/serve/sequence_slots.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

namespace firesteel::engine {

static_assert(Scheduler::kSharedPrefillTokens % Model::kPrefillAlignment == 0);

void Scheduler::setLimits(int sequences, int prefillTokens)
{
    m_sequences = static_cast<std::size_t>(sequences);
    m_prefillTokens = prefillTokens;
    m_owed = 0;
}

void Scheduler::enqueue(QueuedRequest request) { m_waiting.push_back({ std::move(request) }); }

std::optional<QueuedRequest> Scheduler::admit()
{
    if (m_running.size() >= m_sequences || m_waiting.empty())
        return std::nullopt;
    const auto chosen = m_waiting.begin() + static_cast<std::ptrdiff_t>(order().front());
    QueuedRequest request = std::move(chosen->request);
    m_waiting.erase(chosen);
    // Who asks for nothing any more will be new when it comes again.
    std::erase_if(m_lastTurn, [&](const auto &entry) {
        const auto isOf = [&](const std::string &source) { return source == entry.first; };
        return std::ranges::none_of(m_running, isOf, &ActiveRequest::source)
            && std::ranges::none_of(m_waiting, isOf, &Waiting::source);
    });
    m_lastTurn[request.request.source] = ++m_turns;
    return request;
}

std::vector<std::size_t> Scheduler::order() const
{
    std::map<std::string_view, int> bySource; // requests that run or go first
    for (const std::unique_ptr<ActiveRequest> &request : m_running)
        ++bySource[request->source()];
    std::vector<int> ahead;
    std::vector<std::size_t> order;
    ahead.reserve(m_waiting.size());
    order.reserve(m_waiting.size());
    for (const Waiting &entry : m_waiting) {
        ahead.push_back(bySource[entry.source()]++);
        order.push_back(order.size());
    }
    std::ranges::stable_sort(order, {}, [&](std::size_t i) {
        const auto last = m_lastTurn.find(m_waiting[i].source());
        return std::pair(ahead[i], last != m_lastTurn.end() ? last->second : 0);
    });
    return order;
}

void Scheduler::start(std::unique_ptr<ActiveRequest> request)
{
    m_running.push_back(std::move(request));
}

std::optional<QueuedRequest> Scheduler::takeCancelled()
{
    const auto cancelled = std::ranges::find_if(
        m_waiting, [](const Waiting &entry) { return entry.request.cancel.isCancelled(); });
    if (cancelled == m_waiting.end())
        return std::nullopt;
    QueuedRequest request = std::move(cancelled->request);
    m_waiting.erase(cancelled);
    return request;
}

std::optional<QueuedRequest> Scheduler::takeWaiting()
{
    if (m_waiting.empty())
        return std::nullopt;
    QueuedRequest request = std::move(m_waiting.front().request);
    m_waiting.pop_front();
    return request;
}

std::unique_ptr<ActiveRequest> Scheduler::takeRunning()
{
    if (m_running.empty())
        return nullptr;
    std::unique_ptr<ActiveRequest> request = std::move(m_running.front());
    m_running.erase(m_running.begin());
    return request;
}

void Scheduler::dropEnded()
{
    std::erase_if(m_running, [](const std::unique_ptr<ActiveRequest> &request) {
        return request->hasEnded();
    });
}

void Scheduler::announcePositions()
{
    if (m_waiting.empty())
        return; // before every step
    int position = static_cast<int>(m_running.size());
    for (const std::size_t i : order()) {
        Waiting &entry = m_waiting[i];
        if (entry.announced != position) {
            entry.announced = position;
            entry.request.sink(entry.request.id, Queued { position });
        }
        ++position;
    }
}

Scheduler::Prefill Scheduler::prefillOf(ActiveRequest &request, bool isAlone) const
{
    const int position = request.promptTokens() - static_cast<int>(request.promptLeft().size());
    const int most = isAlone ? m_prefillTokens : std::min(m_prefillTokens, kSharedPrefillTokens);
    const int tokens = std::min(most - position % Model::kPrefillAlignment,
                                SequenceSlots::nextMark(request.prompt(), position) - position);
    const std::span<const std::int32_t> left = request.promptLeft();
    return { &request, left.first(static_cast<std::size_t>(tokens)),
             static_cast<std::size_t>(tokens) == left.size() };
}

Scheduler::Step Scheduler::next()
{
    m_decoding.clear();
    ActiveRequest *read = nullptr;
    for (const std::unique_ptr<ActiveRequest> &request : m_running) {
        if (request->promptLeft().empty())
            m_decoding.push_back(request.get());
        else if (read == nullptr || request->prefilledTokens() < read->prefilledTokens())
            read = request.get();
    }
    if (m_decoding.empty())
        m_owed = 0;
    if (read != nullptr && m_owed <= 0)
        return prefillOf(*read, m_decoding.empty());
    if (m_decoding.empty())
        return std::monostate();
    return Decode { m_decoding };
}

void Scheduler::took(const Step &step, double seconds)
{
    if (std::holds_alternative<Decode>(step))
        m_owed = std::max(0.0, m_owed - seconds);
    else if (!m_decoding.empty())
        m_owed += seconds * kDecodeShare / (1 - kDecodeShare);
}

} // namespace firesteel::engine
