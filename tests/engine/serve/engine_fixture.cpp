// SPDX-License-Identifier: MIT
#include "tests/engine/serve/engine_fixture.h"

#include "engine/serve/engine_thread.h"

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <utility>
#include <variant>

namespace firesteel::test {

using namespace engine;

namespace {

constexpr std::chrono::seconds kPatience { 300 }; // an emulator or a sanitizer is slow
constexpr std::int32_t kPlainTokens = kTinyFirstAddedToken; // ids below have no meaning but text
constexpr std::int32_t kAddedTokens = 36;
constexpr std::int32_t kFirstOtherByte = 0x7F - 0x21; // the printable ASCII characters come before
constexpr std::int32_t kLastOtherByte = 255;

bool isEnd(const GenerationEvent &event)
{
    return std::holds_alternative<Finished>(event) || std::holds_alternative<Failed>(event);
}

bool isEndOfLoad(const LoadEvent &event) { return !std::holds_alternative<LoadProgress>(event); }

} // namespace

EventSink RequestLog::sink() const { return sink({}); }

EventSink RequestLog::sink(EventSink also) const
{
    return [shared = m_shared, also = std::move(also)](RequestId id, const GenerationEvent &event) {
        if (also)
            also(id, event);
        const std::lock_guard lock(shared->mutex);
        shared->events.push_back(event);
        shared->changed.notify_all();
    };
}

void RequestLog::waitFor(bool (*isDone)(const GenerationEvent &)) const
{
    std::unique_lock lock(m_shared->mutex);
    if (!m_shared->changed.wait_for(lock, kPatience,
                                    [&] { return std::ranges::any_of(m_shared->events, isDone); }))
        throw std::runtime_error("no such event within five minutes");
}

void RequestLog::waitForEnd() const { waitFor(isEnd); }

void RequestLog::waitForDelta() const
{
    waitFor([](const GenerationEvent &event) {
        return std::holds_alternative<TextDelta>(event) || isEnd(event);
    });
}

std::vector<GenerationEvent> RequestLog::events() const
{
    const std::lock_guard lock(m_shared->mutex);
    return m_shared->events;
}

Finished RequestLog::finished() const
{
    waitForEnd();
    const auto all = events();
    if (const auto *failed = std::get_if<Failed>(&all.back()))
        throw std::runtime_error("the request failed: " + failed->error.message);
    return std::get<Finished>(all.back());
}

Error RequestLog::failure() const
{
    waitForEnd();
    return std::get<Failed>(events().back()).error;
}

std::string RequestLog::text() const
{
    std::string text;
    for (const GenerationEvent &event : events()) {
        if (const auto *delta = std::get_if<TextDelta>(&event))
            text += delta->text;
    }
    return text;
}

std::string RequestLog::thinking() const
{
    std::string text;
    for (const GenerationEvent &event : events()) {
        if (const auto *delta = std::get_if<ThinkingDelta>(&event))
            text += delta->text;
    }
    return text;
}

int RequestLog::endings() const { return static_cast<int>(std::ranges::count_if(events(), isEnd)); }

LoadSink LoadLog::sink() const
{
    return [shared = m_shared](const LoadEvent &event) {
        const std::lock_guard lock(shared->mutex);
        shared->events.push_back(event);
        shared->changed.notify_all();
    };
}

void LoadLog::waitForEnd() const
{
    std::unique_lock lock(m_shared->mutex);
    if (!m_shared->changed.wait_for(
            lock, kPatience, [&] { return std::ranges::any_of(m_shared->events, isEndOfLoad); }))
        throw std::runtime_error("the load did not end within five minutes");
}

Result<ModelInfo> LoadLog::result() const
{
    waitForEnd();
    const std::lock_guard lock(m_shared->mutex);
    if (const auto *error = std::get_if<Error>(&m_shared->events.back()))
        return std::unexpected(*error);
    return std::get<ModelInfo>(m_shared->events.back());
}

std::vector<double> LoadLog::fractions() const
{
    const std::lock_guard lock(m_shared->mutex);
    std::vector<double> fractions;
    for (const LoadEvent &event : m_shared->events) {
        if (const auto *progress = std::get_if<LoadProgress>(&event))
            fractions.push_back(progress->fraction);
    }
    return fractions;
}

int LoadLog::endings() const
{
    const std::lock_guard lock(m_shared->mutex);
    return static_cast<int>(std::ranges::count_if(m_shared->events, isEndOfLoad));
}

LoadOptions loadOptions(const std::filesystem::path &directory, int contextTokens, int sequences)
{
    LoadOptions options;
    options.modelDirectory = directory;
    options.contextTokens = contextTokens;
    options.sequences = sequences;
    options.threads = 2;
    options.memoryReserveBytes = 0;
    return options;
}

EngineFixture::EngineFixture(int queueCapacity)
    : m_engine(std::make_unique<EngineThread>(LogSink(), queueCapacity))
{
    writeTinyCheckpoint(m_folder.path());
}

Result<ModelInfo> EngineFixture::load(int contextTokens, int sequences)
{
    const LoadLog log;
    m_engine->load(loadOptions(folder(), contextTokens, sequences), log.sink());
    return log.result();
}

RequestLog EngineFixture::submit(GenerationRequest request)
{
    const RequestLog log;
    if (const auto id = m_engine->submit(std::move(request), log.sink()); !id)
        throw std::runtime_error("submit refused: " + id.error().message);
    return log;
}

std::vector<std::int32_t> promptTokens(int tokens, int variant)
{
    std::vector<std::int32_t> ids;
    for (int i = 0; i < tokens; ++i)
        ids.push_back((i * 31 + variant * 17 + i * i % 13) % kPlainTokens);
    return ids;
}

GenerationRequest endlessRequest(int promptLength, int maxTokens, int variant)
{
    GenerationRequest request;
    request.prompt.tokens = promptTokens(promptLength, variant);
    request.prompt.startsInThinking = false;
    request.sampling.temperature = 0;
    const auto ban = [&](std::int32_t first, std::int32_t last) {
        for (std::int32_t id = first; id <= last; ++id)
            request.sampling.logitBias.emplace_back(id, -100.0F);
    };
    ban(kFirstOtherByte, kLastOtherByte);
    ban(kTinyFirstAddedToken, kTinyFirstAddedToken + kAddedTokens - 1);
    request.maxTokens = maxTokens;
    return request;
}

} // namespace firesteel::test
