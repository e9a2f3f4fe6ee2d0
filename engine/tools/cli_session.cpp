// SPDX-License-Identifier: MIT
#include "engine/tools/cli_session.h"

#include <cerrno>
#include <cstdio>
#include <format>
#include <poll.h>
#include <sys/eventfd.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace firesteel::engine {

struct CliSession::Mailbox
{
    Mailbox()
        : descriptor(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC))
    {
        if (descriptor < 0)
            throw std::system_error(errno, std::generic_category(), "eventfd");
    }
    Mailbox(const Mailbox &) = delete;
    Mailbox &operator=(const Mailbox &) = delete;
    ~Mailbox() { close(descriptor); }

    void put(Event event)
    {
        {
            const std::lock_guard lock(mutex);
            events.push_back(std::move(event));
        }
        eventfd_write(descriptor, 1);
    }

    std::optional<Event> take()
    {
        const std::lock_guard lock(mutex);
        if (events.empty())
            return std::nullopt;
        Event event = std::move(events.front());
        events.pop_front();
        return event;
    }

    const int descriptor;
    std::mutex mutex;
    std::deque<Event> events;
};

namespace {

void logToStandardError(LogLevel level, std::string_view category, std::string_view message)
{
    constexpr std::string_view kNames[] = { "debug", "info", "warning", "error" };
    const std::string line
        = std::format("{} {}: {}\n", kNames[static_cast<std::size_t>(level)], category, message);
    std::fwrite(line.data(), 1, line.size(), stderr);
}

} // namespace

CliSession::CliSession(const CliSignals &signals, bool isVerbose)
    : m_signals(signals)
    , m_mailbox(std::make_shared<Mailbox>())
    , m_engine(createEngine(isVerbose ? LogSink(logToStandardError) : LogSink()))
{
}

CliSession::~CliSession() = default;

std::variant<CliSession::Event, CliSignal> CliSession::wait()
{
    for (;;) {
        if (const CliSignal signal = m_signals.take(); signal != CliSignal::None)
            return signal;
        if (std::optional<Event> event = m_mailbox->take())
            return *std::move(event);
        pollfd inputs[]
            = { { m_signals.descriptor(), POLLIN, 0 }, { m_mailbox->descriptor, POLLIN, 0 } };
        poll(inputs, std::size(inputs), -1);
        eventfd_t ignored = 0;
        eventfd_read(m_mailbox->descriptor, &ignored);
    }
}

Result<ModelInfo> CliSession::load(LoadOptions options)
{
    options.sequences = 1; // nobody else asks
    m_engine->load(std::move(options),
                   [mailbox = m_mailbox](const LoadEvent &event) { mailbox->put(event); });
    for (;;) {
        auto next = wait();
        if (std::holds_alternative<CliSignal>(next)) {
            m_engine->unload();
            return fail(ErrorCode::Cancelled, "interrupted while loading");
        }
        const auto *event = std::get_if<LoadEvent>(std::get_if<Event>(&next));
        if (event == nullptr)
            continue;
        if (const auto *info = std::get_if<ModelInfo>(event))
            return *info;
        if (const auto *error = std::get_if<Error>(event))
            return std::unexpected(*error);
    }
}

Result<Answer> CliSession::run(GenerationRequest request,
                               const std::function<bool(const GenerationEvent &)> &show)
{
    const auto id = m_engine->submit(
        std::move(request),
        [mailbox = m_mailbox](RequestId, const GenerationEvent &event) { mailbox->put(event); });
    if (!id)
        return std::unexpected(id.error());
    Answer answer;
    for (;;) {
        auto next = wait();
        if (const auto *signal = std::get_if<CliSignal>(&next)) {
            if (answer.interruptedBy != CliSignal::None)
                return fail(ErrorCode::Cancelled, "interrupted twice");
            answer.interruptedBy = *signal;
            m_engine->cancel(*id);
            continue;
        }
        auto *event = std::get_if<GenerationEvent>(std::get_if<Event>(&next));
        if (event == nullptr)
            continue;
        if (auto *finished = std::get_if<Finished>(event)) {
            answer.finished = std::move(*finished);
            return answer;
        }
        if (const auto *failed = std::get_if<Failed>(event))
            return std::unexpected(failed->error);
        if (const auto *text = std::get_if<TextDelta>(event))
            answer.text += text->text;
        else if (const auto *thinking = std::get_if<ThinkingDelta>(event))
            answer.thinking += thinking->text;
        else if (const auto *call = std::get_if<ToolCallEvent>(event))
            answer.toolCalls.push_back(call->call);
        if (!show(*event))
            m_engine->cancel(*id);
    }
}

} // namespace firesteel::engine
