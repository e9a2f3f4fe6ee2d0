// SPDX-License-Identifier: MIT
//
// One answer being made, seen from the GUI thread. EngineController::generate() makes it, or
// RemoteClient::generate(); the conversation that asked owns it and receives at most one update per
// frame. Destroying it cancels the request.
#pragma once

#include "app/inference/event_buffer.h"
#include "engine/api/engine.h"

#include <QObject>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace firesteel::app {

// How an answer is to be made; the messages come beside it.
struct RequestOptions
{
    engine::PromptOptions prompt;
    engine::SamplingParams sampling;
    std::optional<int> maxTokens; // unset: what is left of the context
    std::optional<int> thinkingBudget; // tokens; unset: no limit
    std::vector<std::string> stop;
    engine::Drafting drafting;
};

// Everything that happened to a generation since the last frame.
struct GenerationUpdate
{
    struct Piece
    {
        bool isThinking = false;
        std::string text; // whole UTF-8 characters
        int tokens = 0;
        std::vector<std::int32_t> ids; // of those tokens
    };

    std::optional<int> promptTokens;
    std::vector<std::int32_t> turn; // with promptTokens: the prompt from the last user's turn on
    std::optional<engine::Queued> queued;
    std::optional<engine::PrefillProgress> prefill;
    std::vector<Piece> pieces; // in order, neighbours of one kind joined
    std::optional<engine::Finished> finished;
    std::optional<engine::Error> failed;
};

// Shared with the worker that prepares and submits: whichever of cancel() or answerNow() and submit
// comes second reaches the engine.
struct GenerationLink
{
    std::atomic<bool> isCancelled = false;
    std::atomic<bool> isAnswerWanted = false;
    std::atomic<bool> isSubmitted = false;
    std::atomic<engine::RequestId> request = 0; // valid once isSubmitted
};

// Whoever makes it: the engine of this machine, or another one's.
class Generation : public QObject
{
    Q_OBJECT

public:
    // Returns at once; an update with `finished` follows, soon.
    virtual void cancel() = 0;
    // Returns at once; the thinking ends soon and the answer begins, where its maker can do that.
    virtual void answerNow() = 0;

Q_SIGNALS:
    // The receiver may destroy the generation.
    void updated(const firesteel::app::GenerationUpdate &update);
};

// By the engine of this machine, within one decode step each.
class LocalGeneration : public Generation
{
    Q_OBJECT

public:
    LocalGeneration(engine::Engine &engine, std::shared_ptr<GenerationLink> link);
    ~LocalGeneration() override;

    void cancel() override;
    void answerNow() override;

private:
    engine::Engine &m_engine;
    std::shared_ptr<GenerationLink> m_link;
};

} // namespace firesteel::app
