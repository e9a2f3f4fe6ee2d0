// SPDX-License-Identifier: MIT
#include "app/inference/event_buffer.h"

#include <utility>

namespace firesteel::app {

namespace {

template <typename Delta>
bool joinDelta(engine::GenerationEvent &last, const engine::GenerationEvent &next)
{
    auto *into = std::get_if<Delta>(&last);
    const auto *from = std::get_if<Delta>(&next);
    if (into == nullptr || from == nullptr)
        return false;
    into->text += from->text;
    into->tokens += from->tokens;
    into->ids.insert(into->ids.end(), from->ids.begin(), from->ids.end());
    return true;
}

// Progress replaces progress: only the newest is worth showing.
template <typename State>
bool replaceState(engine::GenerationEvent &last, const engine::GenerationEvent &next)
{
    if (!std::holds_alternative<State>(last) || !std::holds_alternative<State>(next))
        return false;
    last = next;
    return true;
}

} // namespace

EventBuffer::EventBuffer(std::function<void()> wake)
    : m_wake(std::move(wake))
{
}

bool EventBuffer::joinWithLast(const BufferEntry &entry)
{
    const auto *next = std::get_if<GenerationEntry>(&entry);
    if (next == nullptr || m_entries.empty())
        return false;
    auto *last = std::get_if<GenerationEntry>(&m_entries.back());
    if (last == nullptr || last->token != next->token)
        return false;
    auto *lastEvent = std::get_if<engine::GenerationEvent>(&last->event);
    const auto *nextEvent = std::get_if<engine::GenerationEvent>(&next->event);
    if (lastEvent == nullptr || nextEvent == nullptr)
        return false;
    return joinDelta<engine::TextDelta>(*lastEvent, *nextEvent)
        || joinDelta<engine::ThinkingDelta>(*lastEvent, *nextEvent)
        || replaceState<engine::PrefillProgress>(*lastEvent, *nextEvent)
        || replaceState<engine::Queued>(*lastEvent, *nextEvent);
}

void EventBuffer::push(BufferEntry entry)
{
    const std::scoped_lock lock(m_mutex);
    if (joinWithLast(entry))
        return;
    m_entries.push_back(std::move(entry));
    if (m_entries.size() == 1 && m_wake)
        m_wake();
}

std::vector<BufferEntry> EventBuffer::take()
{
    const std::scoped_lock lock(m_mutex);
    return std::exchange(m_entries, {});
}

void EventBuffer::detach()
{
    const std::scoped_lock lock(m_mutex);
    m_wake = nullptr;
}

} // namespace firesteel::app
