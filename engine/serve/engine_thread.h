// SPDX-License-Identifier: MIT
//
// The engine: one thread that owns the model and every sequence and is the only caller of kernels.
// Everything else reaches it through RequestQueue and hears from it through sinks. Made by
// createEngine.
#pragma once

#include "engine/api/engine.h"
#include "engine/base/log.h"
#include "engine/decode/draft_policy.h"
#include "engine/serve/loaded_model.h"
#include "engine/serve/request_queue.h"
#include "engine/serve/scheduler.h"

#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace firesteel::engine {

class EngineThread final : public Engine
{
public:
    explicit EngineThread(LogSink log, int queueCapacity = RequestQueue::kDefaultCapacity);
    ~EngineThread() override;

    void load(LoadOptions options, LoadSink sink) override;
    void unload() override;
    Result<LoadEstimate> estimate(const LoadOptions &options) const override;
    Result<Prompt> prepare(std::span<const Message> messages, std::span<const Tool> tools,
                           const PromptOptions &options) const override;
    Result<int> countTokens(std::string_view text) const override;
    Result<std::vector<std::int32_t>> tokenize(std::string_view text) const override;
    Result<std::string> detokenize(std::span<const std::int32_t> ids) const override;
    std::optional<ModelInfo> model() const override;
    Result<RequestId> submit(GenerationRequest request, EventSink sink) override;
    void cancel(RequestId id) override;
    void answerNow(RequestId id) override;
    EngineStats stats() const override;

private:
    // All on the engine thread.
    void run();
    bool serve(); // false: the end
    void recover(const std::string &what);
    void collect(RequestQueue::Inbox inbox);
    void execute(LoadCommand &command);
    void endCancelled();
    void admit();
    void step();
    void prefill(const Scheduler::Prefill &step);
    void decode(const Scheduler::Decode &step);
    void draft(std::span<ActiveRequest *const> requests);
    void retireEnded();
    void dropModel(const Error &reason);
    void failRequest(RequestId id, const EventSink &sink, const Error &reason);
    void reportStats();

    Log m_log;
    RequestQueue m_queue;
    Scheduler m_scheduler;
    std::unique_ptr<LoadedModel> m_loaded;
    CancelToken m_load; // of the newest command that was begun
    std::deque<LoadCommand> m_commands; // not begun
    // What is in nobody else's hands while it is being worked on, so that recover() can answer it.
    std::optional<LoadCommand> m_loading;
    std::optional<std::pair<RequestId, EventSink>> m_admitting;
    std::vector<DecodeRows> m_rows;
    std::vector<DraftJob> m_jobs;
    StepCosts m_costs;
    EngineStats m_counters;
    std::jthread m_thread; // last: it uses all of the above
};

} // namespace firesteel::engine
