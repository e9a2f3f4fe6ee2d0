// SPDX-License-Identifier: MIT
//
// Between the engine thread, which pushes the events of one request, and the thread of the client's
// connection. Pushing never waits: deltas of a kind are joined, and where a client reads too slowly
// the queue is full and says so instead of growing.
#pragma once

#include "engine/api/event.h"

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <vector>

namespace firesteel::app {

class EventQueue
{
public:
    static constexpr std::size_t kMostBytes = std::size_t { 4 } << 20; // of text

    // False: it is full, this and later pieces are lost; the end of the request still gets in.
    bool push(const engine::GenerationEvent &event);
    // What came; waits for something up to `patience`.
    std::vector<engine::GenerationEvent> take(std::chrono::milliseconds patience);
    bool isFull() const;

private:
    mutable std::mutex m_mutex;
    std::condition_variable m_pushed;
    std::vector<engine::GenerationEvent> m_events;
    std::size_t m_bytes = 0;
    bool m_isFull = false;
};

} // namespace firesteel::app
