// SPDX-License-Identifier: MIT
//
// Decides what the engine thread does next: which waiting request gets a sequence, and whether the
// next step of the model is a prefill chunk or a decode step. One request runs at a time for now;
// the steps already carry several, so that batching changes this class only. Knows neither the
// model nor any lock.
#pragma once

#include "engine/serve/active_request.h"
#include "engine/serve/request_queue.h"

#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <variant>
#include <vector>

namespace firesteel::engine {

class Scheduler
{
public:
    // A prompt is cut here so that a cancel is seen soon; a multiple of Model::kPrefillAlignment,
    // so the cuts change no bit.
    static constexpr int kPrefillChunk = 64;
    static constexpr std::size_t kSequences = 1;

    void enqueue(QueuedRequest request);
    bool isIdle() const { return m_waiting.empty() && m_running.empty(); }

    // The oldest waiting request if a sequence is free for it.
    std::optional<QueuedRequest> admit();
    void start(std::unique_ptr<ActiveRequest> request);

    // Requests that were cancelled while they waited; any waiting request; the oldest running one.
    std::optional<QueuedRequest> takeCancelled();
    std::optional<QueuedRequest> takeWaiting();
    std::unique_ptr<ActiveRequest> takeRunning();

    std::span<const std::unique_ptr<ActiveRequest>> running() const { return m_running; }
    void dropEnded();

    // Tells every waiting request how many are ahead of it, where that has changed.
    void announcePositions();

    struct Prefill
    {
        ActiveRequest *request = nullptr;
        std::span<const std::int32_t> tokens;
        bool isLast = false; // of the prompt: its logits are wanted
    };
    struct Decode
    {
        std::span<const std::unique_ptr<ActiveRequest>> requests;
    };
    using Step = std::variant<std::monostate, Prefill, Decode>; // monostate: nothing to do
    Step next() const;

private:
    struct Waiting
    {
        QueuedRequest request;
        int announced = -1;
    };
    std::deque<Waiting> m_waiting;
    std::vector<std::unique_ptr<ActiveRequest>> m_running;
};

} // namespace firesteel::engine
