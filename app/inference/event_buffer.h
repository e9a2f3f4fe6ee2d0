// SPDX-License-Identifier: MIT
//
// Where the engine thread and the workers leave what the GUI thread will read once per frame.
// Adjacent pieces of text are joined on the way in, so a fast model costs the GUI no more than a
// slow one. Shared by EngineController and every sink it hands out: a sink may outlive the
// controller.
#pragma once

#include "engine/api/engine.h"

#include <QtGlobal>

#include <cstdint>
#include <functional>
#include <mutex>
#include <variant>
#include <vector>

namespace firesteel::app {

using GenerationToken
    = std::uint64_t; // the app's own number of a generation: exists before the engine's

// The worker rendered the prompt and the engine accepted it.
struct Submitted
{
    int promptTokens = 0;
    std::vector<std::int32_t> turn; // from the last user's turn on
};

struct GenerationEntry
{
    GenerationToken token = 0;
    std::variant<Submitted, engine::GenerationEvent> event;
};

struct LoadEntry
{
    std::uint64_t load = 0; // which load; an older one's events are ignored
    engine::LoadEvent event;
};

using BufferEntry = std::variant<GenerationEntry, LoadEntry>;

class EventBuffer
{
public:
    // wake is called under the buffer's lock, on the pushing thread, when an empty buffer receives
    // its first entry.
    explicit EventBuffer(std::function<void()> wake);

    void push(BufferEntry entry);
    std::vector<BufferEntry> take();

    // After this returns, wake is never called again.
    void detach();

private:
    bool joinWithLast(const BufferEntry &entry);

    std::mutex m_mutex;
    std::vector<BufferEntry> m_entries;
    std::function<void()> m_wake;
};

} // namespace firesteel::app
