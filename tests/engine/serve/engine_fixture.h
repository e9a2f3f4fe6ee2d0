// SPDX-License-Identifier: MIT
//
// A real engine on a tiny random checkpoint, and sinks that record what it sends, for the suites of
// engine/serve.
#pragma once

#include "engine/api/engine.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/tiny_checkpoint.h"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace firesteel::test {

// Events of one request. Shared with its sink, so it may go before the engine does.
class RequestLog
{
public:
    engine::EventSink sink() const;
    // As sink(), calling `also` first, on the engine thread.
    engine::EventSink sink(engine::EventSink also) const;

    void waitForEnd() const; // throws after five minutes
    void waitForDelta() const; // the first one, or the end
    std::vector<engine::GenerationEvent> events() const;

    // After the end.
    engine::Finished finished() const; // throws if it failed
    engine::Error failure() const; // throws if it did not fail
    std::string text() const;
    std::string thinking() const;
    int endings() const; // Finished and Failed events so far

private:
    struct Shared
    {
        std::mutex mutex;
        std::condition_variable changed;
        std::vector<engine::GenerationEvent> events;
    };
    void waitFor(bool (*isDone)(const engine::GenerationEvent &)) const;

    std::shared_ptr<Shared> m_shared = std::make_shared<Shared>();
};

class LoadLog
{
public:
    engine::LoadSink sink() const;
    void waitForEnd() const;
    engine::Result<engine::ModelInfo> result() const; // waits
    std::vector<double> fractions() const;
    int endings() const;

private:
    struct Shared
    {
        std::mutex mutex;
        std::condition_variable changed;
        std::vector<engine::LoadEvent> events;
    };
    std::shared_ptr<Shared> m_shared = std::make_shared<Shared>();
};

// Without a reserve, so that a busy machine does not refuse the tiny model. One sequence: requests
// wait for each other.
engine::LoadOptions loadOptions(const std::filesystem::path &directory, int contextTokens = 512,
                                int sequences = 1);

class EngineFixture
{
public:
    explicit EngineFixture(int queueCapacity = 64);

    engine::Result<engine::ModelInfo> load(int contextTokens = 512, int sequences = 1);
    const std::filesystem::path &folder() const { return m_folder.path(); }
    engine::Engine &engine() { return *m_engine; }
    void destroyEngine() { m_engine.reset(); }

    RequestLog submit(engine::GenerationRequest request);

private:
    TemporaryFolder m_folder;
    std::unique_ptr<engine::Engine> m_engine;
};

// `tokens` ids of plain text, a different sequence for each `variant`.
std::vector<std::int32_t> promptTokens(int tokens, int variant = 0);

// Greedy, not thinking, printable ASCII only and no end-of-turn ids: it runs for exactly
// `maxTokens`.
engine::GenerationRequest endlessRequest(int promptLength, int maxTokens, int variant = 0);

} // namespace firesteel::test
