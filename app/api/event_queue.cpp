// SPDX-License-Identifier: MIT
#include "app/api/event_queue.h"

#include <utility>
#include <variant>

namespace firesteel::app {

namespace {

std::size_t bytesOf(const engine::GenerationEvent &event)
{
    if (const auto *thinking = std::get_if<engine::ThinkingDelta>(&event))
        return thinking->text.size();
    if (const auto *text = std::get_if<engine::TextDelta>(&event))
        return text->text.size();
    if (const auto *call = std::get_if<engine::ToolCallEvent>(&event))
        return call->call.argumentsJson.size();
    return 0;
}

template <typename Delta>
bool join(std::vector<engine::GenerationEvent> &events, const engine::GenerationEvent &event)
{
    const auto *delta = std::get_if<Delta>(&event);
    auto *last = events.empty() ? nullptr : std::get_if<Delta>(&events.back());
    if (delta == nullptr || last == nullptr)
        return false;
    last->text += delta->text;
    last->tokens += delta->tokens;
    return true;
}

} // namespace

bool EventQueue::push(const engine::GenerationEvent &event)
{
    {
        const std::scoped_lock lock(m_mutex);
        m_bytes += bytesOf(event);
        m_isFull = m_isFull || m_bytes > kMostBytes;
        const bool isEnd = std::holds_alternative<engine::Finished>(event)
            || std::holds_alternative<engine::Failed>(event);
        if (m_isFull && !isEnd)
            return false;
        if (!join<engine::ThinkingDelta>(m_events, event)
            && !join<engine::TextDelta>(m_events, event))
            m_events.push_back(event);
    }
    m_pushed.notify_one();
    return true;
}

std::vector<engine::GenerationEvent> EventQueue::take(std::chrono::milliseconds patience)
{
    std::unique_lock lock(m_mutex);
    m_pushed.wait_for(lock, patience, [this] { return !m_events.empty(); });
    m_bytes = 0;
    return std::exchange(m_events, {});
}

bool EventQueue::isFull() const
{
    const std::scoped_lock lock(m_mutex);
    return m_isFull;
}

} // namespace firesteel::app
