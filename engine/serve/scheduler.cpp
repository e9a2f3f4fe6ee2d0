// SPDX-License-Identifier: MIT
#include "engine/serve/scheduler.h"

#include "engine/model/model.h"

#include <algorithm>
#include <utility>

namespace firesteel::engine {

static_assert(Scheduler::kPrefillChunk % Model::kPrefillAlignment == 0);

void Scheduler::enqueue(QueuedRequest request) { m_waiting.push_back({ std::move(request) }); }

std::optional<QueuedRequest> Scheduler::admit()
{
    if (m_running.size() >= kSequences)
        return std::nullopt;
    return takeWaiting();
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
    int position = static_cast<int>(m_running.size());
    for (Waiting &entry : m_waiting) {
        if (entry.announced != position) {
            entry.announced = position;
            entry.request.sink(entry.request.id, Queued { position });
        }
        ++position;
    }
}

Scheduler::Step Scheduler::next() const
{
    // A request whose prompt is not done goes first: it holds a sequence and gives nothing yet.
    for (const std::unique_ptr<ActiveRequest> &request : m_running) {
        const std::span<const std::int32_t> left = request->promptLeft();
        if (left.empty())
            continue;
        const std::size_t tokens = std::min(left.size(), static_cast<std::size_t>(kPrefillChunk));
        return Prefill { request.get(), left.first(tokens), tokens == left.size() };
    }
    if (m_running.empty())
        return std::monostate();
    return Decode { m_running };
}

} // namespace firesteel::engine
