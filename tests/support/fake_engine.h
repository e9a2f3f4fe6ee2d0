// SPDX-License-Identifier: MIT
//
// An Engine without a model: it answers from a script, on a thread of its own, at a given rate. The
// Qt suites drive it step by step; the offline app and the GUI benchmark let it run. It keeps the
// contract of engine/api/engine.h, order of events and errors included.
#pragma once

#include "engine/api/engine.h"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace firesteel::test {

// What the model will say to one prompt.
struct FakeAnswer
{
    std::string thinking; // skipped where the prompt asks for no thinking
    std::string text;
    engine::FinishReason reason = engine::FinishReason::Stop;
    std::optional<engine::Error> failure; // instead of Finished
    std::vector<engine::ToolCall> toolCalls = {}; // after the text
};

struct FakeScript
{
    std::vector<std::string> loadStages = { "Reading weights", "Allocating memory" };
    std::chrono::milliseconds loadStageTime { 0 };
    std::optional<engine::Error> loadError;
    std::optional<engine::Error> drafterError; // of estimates and loads with a drafter
    std::optional<engine::Error> prepareError;
    std::optional<engine::Error> submitError;
    std::string modelName = "Glimmer";
    std::string vocabulary = "scripted"; // of its tokens, which count from 1 in each answer
    std::string backend = "Scripted";
    int contextTokens = 262'144; // the longest; also what a load without a wish allocates
    // Of its pretended memory, for estimates.
    std::uint64_t weightBytes = 3ULL << 29; // 1.5 GiB
    std::uint64_t drafterBytes = 64ULL << 20; // of one that is loaded with the model
    std::uint64_t bytesPerToken = 4096;
    std::uint64_t availableBytes = 8ULL << 30;
    engine::SamplingParams samplingDefaults;
    std::size_t mostWaiting = 8; // requests; one more is refused
    std::chrono::milliseconds prefillTime { 0 };
    double tokensPerSecond = 0; // 0: as fast as it can
    std::chrono::milliseconds endTime { 0 }; // that a request is counted after it ended
    std::function<FakeAnswer(const std::vector<engine::Message> &)>
        answer; // unset: a short default
};

class FakeEngine : public engine::Engine
{
public:
    explicit FakeEngine(FakeScript script = {});
    ~FakeEngine() override;

    void load(engine::LoadOptions options, engine::LoadSink sink) override;
    void unload() override;
    engine::Result<engine::LoadEstimate>
    estimate(const engine::LoadOptions &options) const override;
    engine::Result<engine::Prompt> prepare(std::span<const engine::Message> messages,
                                           std::span<const engine::Tool> tools,
                                           const engine::PromptOptions &options) const override;
    engine::Result<int> countTokens(std::string_view text) const override;
    // One token a byte.
    engine::Result<std::vector<std::int32_t>> tokenize(std::string_view text) const override;
    engine::Result<std::string> detokenize(std::span<const std::int32_t> ids) const override;
    std::optional<engine::ModelInfo> model() const override;
    engine::Result<engine::RequestId> submit(engine::GenerationRequest request,
                                             engine::EventSink sink) override;
    void cancel(engine::RequestId id) override;
    void answerNow(engine::RequestId id) override;
    engine::EngineStats stats() const override;

    // For tests. Any thread.
    void setScript(FakeScript script);
    void holdTokens(); // from now on only as many tokens as allowed come out
    void allowTokens(int count); // adds to them
    void releaseTokens(); // unlimited again
    void draft(const engine::DraftCounts &counts, int draftTokens); // added to the statistics
    int emittedTokens() const;
    int countedTexts() const; // calls of countTokens
    std::vector<engine::Message> lastMessages() const;
    std::vector<engine::Tool> lastTools() const;
    engine::PromptOptions lastOptions() const;
    engine::GenerationRequest lastRequest() const; // without its prompt's tokens
    engine::LoadOptions lastLoad() const;

private:
    struct Request
    {
        engine::RequestId id = 0;
        FakeAnswer answer;
        int promptTokens = 0;
        engine::EventSink sink;
        std::string source;
        std::optional<int> thinkingBudget;
    };
    struct Load
    {
        engine::LoadOptions options;
        engine::LoadSink sink;
    };
    using Lock = std::unique_lock<std::mutex>;
    using Clock = std::chrono::steady_clock;

    engine::LoadEstimate estimateLocked(const engine::LoadOptions &options) const;
    void run();
    void runLoad(Load load, Lock &lock);
    void runRequest(Request request, Lock &lock);
    bool streamText(const Request &request, const std::string &text, bool isThinking, int &tokens,
                    Clock::time_point started, Lock &lock);
    bool waitUntil(Clock::time_point when, engine::RequestId id, Lock &lock);
    bool isCancelled(engine::RequestId id) const;
    void reportQueue(Lock &lock);
    void finish(const Request &request, engine::FinishReason reason, int tokens, int reasoning,
                Clock::time_point submitted, Clock::time_point firstToken, Lock &lock);

    mutable std::mutex m_mutex;
    std::condition_variable m_changed;
    FakeScript m_script;
    engine::EngineStats m_stats;
    engine::ModelInfo m_info; // of the last load
    std::deque<Load> m_loads;
    std::deque<Request> m_queue;
    std::vector<engine::RequestId> m_cancelled;
    engine::RequestId m_answerNow = 0; // thinks no longer
    mutable std::map<std::int32_t, FakeAnswer> m_prepared; // by the first token of the prompt
    mutable std::int32_t m_lastPrepared = 0;
    mutable std::vector<engine::Message> m_lastMessages;
    mutable std::vector<engine::Tool> m_lastTools;
    mutable engine::PromptOptions m_lastOptions;
    mutable int m_countedTexts = 0;
    engine::GenerationRequest m_lastRequest;
    engine::LoadOptions m_lastLoad;
    engine::RequestId m_lastId = 0;
    engine::RequestId m_running = 0;
    engine::RequestStatus m_runningStatus;
    std::optional<int> m_allowed; // unset: unlimited
    int m_emitted = 0;
    bool m_isUnloaded = false; // since the load that goes on began
    bool m_isStopping = false;
    std::thread m_thread; // last: uses everything above
};

} // namespace firesteel::test
