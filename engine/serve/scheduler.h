// SPDX-License-Identifier: MIT
//
// Decides what the engine thread does next: which waiting request gets a sequence, and whether the
// next step of the model is a prefill chunk or a decode step of every request that decodes. Knows
// neither the model nor any lock.
//
// Sequences go to the source that has fewest of them, then to the one that has waited longest for
// its turn: one client's queue does not keep another waiting. Where some requests decode while
// others are read, decoding gets kDecodeShare of the time. Of those that are read, the one that had
// least goes first: a short prompt does not wait for a long one.
#pragma once

#include "engine/serve/active_request.h"
#include "engine/serve/request_queue.h"

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace firesteel::engine {

class Scheduler
{
public:
    static constexpr double kDecodeShare = 0.75;
    // Of a prompt that is read while others decode, at most: they wait for it. Multiples of
    // Model::kPrefillAlignment change no bit.
    static constexpr int kSharedPrefillTokens = 512;

    // Of the loaded model.
    void setLimits(int sequences, int prefillTokens);

    void enqueue(QueuedRequest request);
    bool isIdle() const { return m_waiting.empty() && m_running.empty(); }

    // The waiting request whose turn it is, if a sequence is free for it.
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
        std::span<ActiveRequest *const> requests; // until the next call
    };
    using Step = std::variant<std::monostate, Prefill, Decode>; // monostate: nothing to do
    Step next();
    // How long the step took that next() gave.
    void took(const Step &step, double seconds);

private:
    // Waiting requests in the order in which they will be admitted.
    std::vector<std::size_t> order() const;
    Prefill prefillOf(ActiveRequest &request, bool isAlone) const;

    struct Waiting
    {
        QueuedRequest request;
        int announced = -1;
        const std::string &source() const { return request.request.source; }
    };
    std::deque<Waiting> m_waiting;
    std::vector<std::unique_ptr<ActiveRequest>> m_running;
    std::map<std::string, std::uint64_t> m_lastTurn; // of sources that wait or run
    std::uint64_t m_turns = 0;
    std::vector<ActiveRequest *> m_decoding; // of the step that next() gave
    std::size_t m_sequences = 0;
    int m_prefillTokens = 0;
    double m_owed = 0; // seconds of decoding before the next chunk of a prompt
};

} // namespace firesteel::engine
