// SPDX-License-Identifier: MIT
//
// An engine as a command-line tool uses it: load, then one request after another, with events
// brought to the calling thread and signals seen while waiting. Knows engine/api only.
#pragma once

#include "engine/api/engine.h"
#include "engine/tools/cli_signals.h"

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace firesteel::engine {

struct Answer
{
    std::string text;
    std::string thinking;
    std::vector<ToolCall> toolCalls;
    Finished finished;
    CliSignal interruptedBy = CliSignal::None;
};

class CliSession
{
public:
    CliSession(const CliSignals &signals, bool isVerbose); // throws std::system_error
    CliSession(const CliSession &) = delete;
    CliSession &operator=(const CliSession &) = delete;
    ~CliSession();

    Engine &engine() { return *m_engine; }

    // Errors: the engine's; Cancelled after a signal.
    Result<ModelInfo> load(LoadOptions options);

    // Runs one request to its end. `show` sees every delta and tool call as it comes; false ends
    // the request. A signal ends it too; a second one ends the wait at once. Errors: the engine's.
    Result<Answer> run(GenerationRequest request,
                       const std::function<bool(const GenerationEvent &)> &show);

private:
    using Event = std::variant<LoadEvent, GenerationEvent>;
    // Shared with the sinks, which the engine may still hold when the session is gone.
    struct Mailbox;

    // The next event, or the signal that came first.
    std::variant<Event, CliSignal> wait();

    const CliSignals &m_signals;
    std::shared_ptr<Mailbox> m_mailbox;
    std::unique_ptr<Engine> m_engine;
};

} // namespace firesteel::engine
