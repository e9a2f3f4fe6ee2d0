// SPDX-License-Identifier: MIT
//
// The boundary between Firesteel's applications and its engine. Everything in app/ and
// engine/tools/ that wants a model goes through these calls; nothing here knows Qt, HTTP or CUDA.
//
// An Engine owns one thread, one model and every sequence. Clients on other threads hand it work
// (submit) and receive events through the sink they gave; they never wait for it. A conversation is
// not engine state: each request carries its whole prompt, and reuse of earlier work is the
// engine's business.
#pragma once

#include "engine/api/error.h"
#include "engine/api/event.h"
#include "engine/api/request.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace firesteel::engine {

// Where a model runs. Auto: on the GPU if there is one that can run it, else on the CPU, and
// ModelInfo::backendNote says why.
enum class ProcessorChoice { Auto, Cpu, Gpu };

// Requests that can run at once.
inline constexpr int kMaxSequences = 8;
inline constexpr int kUsualSequences = 4;

struct LoadOptions
{
    std::filesystem::path modelDirectory;
    std::filesystem::path drafterDirectory = {}; // a DFlash2 drafter of this model; empty: none
    int contextTokens = 0; // of each sequence; 0: what config.json allows and memory holds
    // Requests that run at once, 1..kMaxSequences; 0: kUsualSequences, fewer where memory is short.
    int sequences = 0;
    int threads = 0; // CPU kernels; 0: one per core
    ProcessorChoice processor = ProcessorChoice::Auto;
    // Of the memory the model lies in (the machine's, or a discrete GPU's) that must stay free
    // after loading.
    std::uint64_t memoryReserveBytes = 2ULL << 30;
};

// What a load would need of memory, and whether it would be refused.
struct LoadEstimate
{
    int contextTokens = 0; // of a sequence, that would be allocated, or was asked for in vain
    int longestTokens = 0; // of this model
    int sequences = 0; // that would be allocated
    std::uint64_t weightBytes = 0; // without the drafter's
    std::uint64_t drafterBytes = 0; // its weights and its context
    std::uint64_t stateBytes = 0; // of every sequence's context, and the kernels' scratch
    std::uint64_t snapshotBytes = 0; // that may be kept of earlier prompts, at most
    std::uint64_t availableBytes = 0; // for weights, state and reserve
    std::uint64_t reserveBytes = 0;
    std::optional<Error> refusal; // what load() would answer: BadRequest or OutOfMemory
};

struct LoadProgress
{
    std::string stage; // "Reading weights", one line for a person
    double fraction = 0.0; // of the whole load, 0 to 1
};

// Facts of the loaded model that clients show or enforce.
struct ModelInfo
{
    std::string name; // of the model where its shape is known, else of its folder
    std::string backend; // "CPU (2 threads)", or the GPU's name
    std::string backendNote; // why this backend, when a person should know; else empty
    int contextTokens = 0; // of each sequence
    int sequences = 0; // requests that run at once
    int vocabularySize = 0;
    std::string vocabulary; // names it: token ids mean the same under the same name
    std::uint64_t parameterCount = 0;
    std::uint64_t weightBytes = 0;
    std::uint64_t stateBytes = 0; // caches, recurrent state and scratch of every sequence
    bool readsImages = false;
    std::string drafter; // "DFlash2" where one was loaded, else empty
    std::uint64_t drafterBytes = 0; // its weights and its context
    SamplingParams samplingDefaults; // from generation_config.json
};

// LoadProgress any number of times, then exactly one ModelInfo or Error. Called on the engine
// thread.
using LoadEvent = std::variant<LoadProgress, ModelInfo, Error>;
using LoadSink = std::function<void(const LoadEvent &)>;

// A request that was submitted and has not ended.
struct RequestStatus
{
    enum class Phase { Waiting, Prefill, Decode };
    RequestId id = 0;
    std::string source; // as its GenerationRequest named it
    Phase phase = Phase::Waiting;
    int promptTokens = 0;
    int processedTokens = 0; // of the prompt
    int generatedTokens = 0;
};

struct EngineStats
{
    enum class State { Empty, Loading, Ready, Failed };
    State state = State::Empty;
    int waitingRequests = 0;
    int runningRequests = 0;
    int contextTokens = 0; // of all sequences together
    int usedTokens = 0; // of the running ones
    std::uint64_t weightBytes = 0; // of the loaded model, as ModelInfo
    std::uint64_t stateBytes = 0;
    std::uint64_t drafterBytes = 0;
    std::uint64_t snapshotBytes = 0; // kept of earlier prompts, beside the state
    std::uint64_t cachedTokens = 0; // total since the load: of prompts, not read again
    std::uint64_t prefillTokens = 0; // totals since the load
    std::uint64_t decodedTokens = 0;
    std::uint64_t decodeSteps = 0; // of the model, each for every sequence that decodes
    double prefillTokensPerSecond = 0; // of the running or last request
    double decodeTokensPerSecond = 0;
    DraftCounts drafting; // totals since the load
    int draftTokens = 0; // K of the last step
    double timeToFirstTokenSeconds = 0; // of the newest request that has one
    std::vector<RequestStatus> requests; // oldest first
};

class Engine
{
public:
    virtual ~Engine() = default; // cancels everything and joins the engine thread

    // Replaces the model. Running requests fail with Cancelled first. Returns at once; a later
    // load() or unload() cancels one in flight.
    virtual void load(LoadOptions options, LoadSink sink) = 0;
    virtual void unload() = 0;

    // The very computation that load() begins with, on headers alone and with what the loaded model
    // would give back. Any thread. At once for the folder of the loaded model; for another, its
    // config.json and headers are read. Errors: those of load() for a folder without a model.
    virtual Result<LoadEstimate> estimate(const LoadOptions &options) const = 0;

    // Renders and tokenises a conversation. Any thread; does not wait for the engine thread.
    // Errors: NotLoaded, BadRequest, ContextExceeded (with both numbers).
    virtual Result<Prompt> prepare(std::span<const Message> messages, std::span<const Tool> tools,
                                   const PromptOptions &options) const
        = 0;

    // Tokens of a plain text, for counters. Any thread. Errors: NotLoaded.
    virtual Result<int> countTokens(std::string_view text) const = 0;

    // Ids of a plain text and back. Control tags of the text become control tokens, as for a prompt
    // without the template; what is no UTF-8 comes back as U+FFFD. Any thread. Errors: NotLoaded,
    // BadRequest (an id outside of the vocabulary, named).
    virtual Result<std::vector<std::int32_t>> tokenize(std::string_view text) const = 0;
    virtual Result<std::string> detokenize(std::span<const std::int32_t> ids) const = 0;

    // The model that is ready; none before a load succeeded. Any thread.
    virtual std::optional<ModelInfo> model() const = 0;

    // Queues a request. Exactly one Finished or Failed follows a success. Errors: NotLoaded,
    // BadRequest, ContextExceeded, QueueFull; on error the sink is never called.
    virtual Result<RequestId> submit(GenerationRequest request, EventSink sink) = 0;

    // Ends a request in the queue, in prefill or in decode; Finished{Cancelled} follows. Unknown
    // ids are ignored.
    virtual void cancel(RequestId id) = 0;

    // Closes the reasoning block of a running request as if its thinking budget were used up.
    // Nothing happens to one that is not thinking, has ended or is unknown.
    virtual void answerNow(RequestId id) = 0;

    virtual EngineStats stats() const = 0;
};

enum class LogLevel { Debug, Info, Warning, Error };
// category: "engine.load", "engine.serve" ... Never message text, tokens of a prompt or keys.
using LogSink = std::function<void(LogLevel, std::string_view category, std::string_view message)>;

// The real engine. The sink may be called from any thread.
std::unique_ptr<Engine> createEngine(LogSink log);

} // namespace firesteel::engine
