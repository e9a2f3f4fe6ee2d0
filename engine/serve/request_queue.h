// SPDX-License-Identifier: MIT
//
// The one meeting point of client threads and the engine thread: requests and load commands go in,
// the facts of the loaded model and the counters come out. Bounded; refuses when full. No sink is
// ever called under its lock.
#pragma once

#include "engine/api/engine.h"
#include "engine/base/cancel_token.h"
#include "engine/serve/model_facts.h"

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace firesteel::engine {

struct QueuedRequest
{
    RequestId id = 0;
    GenerationRequest request;
    std::shared_ptr<const Grammar> grammar; // of its format; null: a free answer
    EventSink sink;
    CancelToken cancel;
    CancelToken thinking; // cancelled: the answer is wanted now
    std::chrono::steady_clock::time_point submitted;
};

struct LoadCommand
{
    std::optional<LoadOptions> options; // none: unload
    LoadSink sink;
    CancelToken cancel; // set by a later load, an unload or the end
};

class RequestQueue
{
public:
    static constexpr int kDefaultCapacity = 64;

    explicit RequestQueue(int capacity = kDefaultCapacity);

    // Client threads.
    void load(LoadOptions options, LoadSink sink);
    void unload();
    Result<RequestId> submit(GenerationRequest request, EventSink sink);
    void cancel(RequestId id);
    void answerNow(RequestId id);
    void stop(); // for good
    std::shared_ptr<const ModelFacts> facts() const; // none: no model is ready
    EngineStats stats() const;

    // The engine thread.
    struct Inbox
    {
        bool isStopping = false;
        std::vector<LoadCommand> commands; // oldest first
        std::vector<QueuedRequest>
            requests; // oldest first; all older than the commands beside them
    };
    Inbox take();
    Inbox waitAndTake(); // blocks until there is something
    // `load`: the token of the command that this is about. Once it is cancelled, a later command
    // rules: publish() then returns false and withdraw() leaves the state alone.
    bool publish(const CancelToken &load, std::shared_ptr<const ModelFacts> facts);
    void withdraw(const CancelToken &load, EngineStats::State state); // no model is ready any more
    void admitted(RequestId id); // a waiting request became a running one
    void ended(RequestId id); // waiting or running, nothing of it is left to do
    // State, numbers of requests, those that wait and the model's facts are the queue's own: a
    // request is waiting or running from submit() to ended(), between two reports too.
    void report(const EngineStats &counters);

private:
    void supersede(std::optional<LoadOptions> options, LoadSink sink, EngineStats::State state);
    int waitingRequests() const; // of m_live
    void addModel(EngineStats &stats) const; // facts of the one that is ready
    Inbox takeLocked();

    const int m_capacity;
    mutable std::mutex m_mutex;
    std::condition_variable m_wake;
    bool m_isStopping = false;
    std::vector<LoadCommand> m_commands;
    std::vector<QueuedRequest> m_requests;
    struct Live
    {
        CancelToken cancel;
        CancelToken thinking;
        std::string source;
        int promptTokens = 0;
        bool isWaiting = true;
    };
    std::map<RequestId, Live> m_live; // waiting or running
    RequestId m_lastId = 0;
    CancelToken m_currentLoad;
    std::shared_ptr<const ModelFacts> m_facts;
    EngineStats m_stats;
};

} // namespace firesteel::engine
