// SPDX-License-Identifier: MIT
#include "app/api/generation_run.h"

#include <chrono>
#include <span>
#include <utility>
#include <variant>

namespace firesteel::app {

namespace {

constexpr std::chrono::milliseconds kWatch { 50 }; // for a client that goes

} // namespace

GenerationRun::GenerationRun(engine::Engine &engine, ApiRequest request, std::string source)
    : m_engine(engine)
    , m_request(std::move(request))
    , m_source(std::move(source))
{
}

GenerationRun::~GenerationRun()
{
    if (m_running)
        m_engine.cancel(*m_running);
}

ApiResult<std::unique_ptr<GenerationRun>>
GenerationRun::start(engine::Engine &engine, ApiRequest request, const std::string &source)
{
    std::unique_ptr<GenerationRun> run(new GenerationRun(engine, std::move(request), source));
    if (const auto prepared = run->prepare(); !prepared)
        return std::unexpected(prepared.error());
    if (const auto submitted = run->submit(0); !submitted)
        return std::unexpected(submitted.error());
    return run;
}

ApiResult<void> GenerationRun::prepare()
{
    const auto add = [this](std::span<const engine::Message> messages) -> ApiResult<void> {
        auto prompt = m_engine.prepare(messages, m_request.tools, m_request.prompt);
        if (!prompt)
            return std::unexpected(apiErrorOf(prompt.error()));
        m_prompts.push_back(std::move(*prompt));
        return {};
    };
    for (std::vector<std::int32_t> &tokens : m_request.tokenPrompts) {
        engine::Prompt prompt;
        prompt.tokens = std::move(tokens);
        prompt.startsInThinking = false;
        prompt.lastUserTurn = prompt.tokens.size();
        m_prompts.push_back(std::move(prompt));
    }
    if (m_request.isOnePromptPerMessage) {
        for (const engine::Message &message : m_request.messages) {
            if (auto added = add(std::span(&message, 1)); !added)
                return added;
        }
    } else if (auto added = add(m_request.messages); !added) {
        return added;
    }
    for (engine::Prompt &prompt : m_prompts) {
        prompt.isPlainText = !m_request.prompt.applyTemplate;
        m_promptTokens += static_cast<int>(prompt.tokens.size());
    }
    return {};
}

ApiResult<void> GenerationRun::submit(std::size_t index)
{
    engine::GenerationRequest request = m_request.generation;
    request.prompt = std::move(m_prompts[index]);
    request.source = m_source;
    m_queue = std::make_shared<EventQueue>();
    m_endsAfterCall = false;
    // The engine thread may push after this run has gone, so the queue is shared; `cancel` is all
    // that a sink may call.
    const auto id = m_engine.submit(
        std::move(request),
        [queue = m_queue, engine = &m_engine](engine::RequestId request, const auto &event) {
            if (!queue->push(event))
                engine->cancel(request);
        });
    if (!id)
        return std::unexpected(apiErrorOf(id.error()));
    m_running = *id;
    return {};
}

bool GenerationRun::handle(engine::GenerationEvent &event, const Deliver &deliver)
{
    if (auto *failed = std::get_if<engine::Failed>(&event)) {
        m_running.reset();
        m_error = apiErrorOf(failed->error);
        m_ending = Ending::Failed;
        return false;
    }
    if (auto *finished = std::get_if<engine::Finished>(&event)) {
        m_running.reset();
        if (m_endsAfterCall)
            finished->reason = engine::FinishReason::ToolCalls;
        m_usage += finished->usage;
        if (!m_firstToken && finished->usage.completionTokens > 0)
            m_firstToken = finished->timings.timeToFirstTokenSeconds;
        if (finished->reason == engine::FinishReason::Cancelled) {
            m_error = apiErrorOf(
                { engine::ErrorCode::Cancelled, "The model was unloaded or replaced meanwhile." });
            m_ending = Ending::Failed;
            return false;
        }
        return deliver(event);
    }
    if (m_endsAfterCall)
        return true; // what the model says after its one call
    if (std::holds_alternative<engine::ToolCallEvent>(event) && !m_request.allowsParallelCalls) {
        m_endsAfterCall = true;
        m_engine.cancel(*m_running);
    }
    return deliver(event);
}

bool GenerationRun::follow(const Client &client, const Deliver &deliver,
                           const std::function<bool()> &pulse)
{
    while (true) {
        auto events = m_queue->take(kWatch);
        for (engine::GenerationEvent &event : events) {
            if (m_queue->isFull()) {
                m_ending = Ending::ClientSlow;
                return false;
            }
            if (!handle(event, deliver))
                return false;
            if (std::holds_alternative<engine::Finished>(event))
                return true;
        }
        if (client.isGone() || !pulse()) {
            m_ending = Ending::ClientGone;
            return false;
        }
    }
}

GenerationRun::Ending GenerationRun::stream(ReplyFormat &format, const Client &client)
{
    auto lastWritten = std::chrono::steady_clock::now();
    const auto write = [&](const std::string &bytes) {
        if (bytes.empty())
            return true;
        lastWritten = std::chrono::steady_clock::now();
        if (client.write(bytes))
            return true;
        m_ending = m_queue->isFull() ? Ending::ClientSlow : Ending::ClientGone;
        return false;
    };
    // Progress that is not written does not count as a sign of life.
    const auto pulse = [&] {
        return std::chrono::steady_clock::now() - lastWritten < client.ping || write(format.ping());
    };
    const auto deliver = [&](const engine::GenerationEvent &event) {
        if (const auto *thinking = std::get_if<engine::ThinkingDelta>(&event))
            return write(format.thinking(thinking->text));
        if (const auto *text = std::get_if<engine::TextDelta>(&event))
            return write(format.text(text->text));
        if (const auto *call = std::get_if<engine::ToolCallEvent>(&event))
            return write(format.call(*call));
        if (const auto *finished = std::get_if<engine::Finished>(&event))
            return write(format.finish(*finished));
        return true; // progress
    };
    if (!write(format.opening(m_promptTokens)))
        return m_ending;
    for (std::size_t i = 0; i < m_prompts.size(); ++i) {
        if (i > 0) {
            if (const auto submitted = submit(i); !submitted) {
                m_ending = Ending::Failed;
                m_error = submitted.error();
                break;
            }
        }
        if (!write(format.beginAnswer(static_cast<int>(i))) || !follow(client, deliver, pulse))
            break;
    }
    if (m_ending == Ending::Failed)
        write(format.failure(m_error));
    else if (m_ending == Ending::Finished)
        write(format.closing());
    return m_ending;
}

ApiResult<std::vector<Reply>> GenerationRun::collect(const Client &client)
{
    std::vector<Reply> replies;
    const auto deliver = [&](const engine::GenerationEvent &event) {
        Reply &reply = replies.back();
        if (const auto *thinking = std::get_if<engine::ThinkingDelta>(&event))
            reply.thinking += thinking->text;
        else if (const auto *text = std::get_if<engine::TextDelta>(&event))
            reply.text += text->text;
        else if (const auto *call = std::get_if<engine::ToolCallEvent>(&event))
            reply.calls.push_back(call->call);
        else if (const auto *finished = std::get_if<engine::Finished>(&event))
            reply.finished = *finished;
        return true;
    };
    for (std::size_t i = 0; i < m_prompts.size(); ++i) {
        if (i > 0) {
            if (const auto submitted = submit(i); !submitted)
                return std::unexpected(submitted.error());
        }
        replies.emplace_back();
        if (!follow(client, deliver, [] { return true; })) {
            if (m_ending == Ending::Failed)
                return std::unexpected(m_error);
            return std::unexpected(ApiError { .status = 499, .message = "The client went away." });
        }
    }
    return replies;
}

} // namespace firesteel::app
