// SPDX-License-Identifier: MIT
#include "engine/serve/active_request.h"

#include <algorithm>
#include <random>
#include <utility>
#include <variant>

namespace firesteel::engine {

namespace {

double secondsBetween(std::chrono::steady_clock::time_point from,
                      std::chrono::steady_clock::time_point to)
{
    return std::chrono::duration<double>(to - from).count();
}

std::uint64_t resolvedSeed(const SamplingParams &params)
{
    if (params.seed)
        return *params.seed;
    std::random_device device;
    return (static_cast<std::uint64_t>(device()) << 32) | device();
}

OutputParser::Options parserOptions(const GenerationRequest &request, const ModelFacts &facts)
{
    return { request.prompt.startsInThinking, request.stop, facts.eosTokenIds(),
             request.prompt.toolParameterTypes };
}

} // namespace

ActiveRequest::ActiveRequest(QueuedRequest queued, std::shared_ptr<const ModelFacts> facts,
                             SequenceState &sequence)
    : m_queued(std::move(queued))
    , m_facts(std::move(facts))
    , m_sequence(sequence)
    , m_sampler(m_queued.request.sampling, m_facts->mappedTokens(),
                resolvedSeed(m_queued.request.sampling))
    , m_parser(m_facts->tokenizer(), parserOptions(m_queued.request, *m_facts))
    , m_admitted(Clock::now())
{
    const std::vector<std::int32_t> &prompt = m_queued.request.prompt.tokens;
    m_sampler.addPrompt(prompt);
    m_maxTokens = static_cast<std::size_t>(sequence.contextTokens()) - prompt.size();
    if (m_queued.request.maxTokens)
        m_maxTokens = std::min(m_maxTokens, static_cast<std::size_t>(*m_queued.request.maxTokens));
    m_tokens.reserve(m_maxTokens);
    m_usage.promptTokens = promptTokens();
    m_timings.queueSeconds = secondsBetween(m_queued.submitted, m_admitted);
}

std::span<const std::int32_t> ActiveRequest::promptLeft() const
{
    return std::span(m_queued.request.prompt.tokens).subspan(m_prefilled);
}

void ActiveRequest::announcePrefill() const
{
    send(PrefillProgress { static_cast<int>(m_prefilled), promptTokens() });
}

void ActiveRequest::prefilled(int tokens)
{
    m_prefilled += static_cast<std::size_t>(tokens);
    m_timings.prefillSeconds = secondsBetween(m_admitted, Clock::now());
    announcePrefill();
}

std::span<const std::int32_t> ActiveRequest::lastToken() const
{
    return std::span(m_tokens).last(1);
}

void ActiveRequest::accept(std::span<float> logits)
{
    const std::int32_t token
        = m_sampler.sample(logits, static_cast<std::uint64_t>(m_sequence.position()));
    m_sampler.accept(token);
    m_tokens.push_back(token);
    const Clock::time_point now = Clock::now();
    if (m_tokens.size() == 1) {
        m_firstToken = now;
        m_timings.timeToFirstTokenSeconds = secondsBetween(m_queued.submitted, now);
    }
    m_timings.decodeSeconds = secondsBetween(m_firstToken, now);
    m_usage.completionTokens = static_cast<int>(m_tokens.size());

    OutputParser::Outcome outcome = m_parser.push(lastToken());
    m_usage.reasoningTokens = m_parser.reasoningTokens();
    send(std::move(outcome.pieces));
    switch (outcome.status) {
    case OutputParser::Status::EndOfTurn:
        end(m_parser.toolCallCount() > 0 ? FinishReason::ToolCalls : FinishReason::Stop);
        return;
    case OutputParser::Status::StopString:
        end(FinishReason::StopString);
        return;
    case OutputParser::Status::Running:
        if (m_tokens.size() == m_maxTokens)
            end(FinishReason::Length);
        return;
    }
}

void ActiveRequest::endCancelled() { end(FinishReason::Cancelled); }

void ActiveRequest::endFailed(Error error)
{
    m_hasEnded = true; // first: a sink that throws must not be called again
    send(Failed { std::move(error) });
}

double ActiveRequest::prefillTokensPerSecond() const
{
    return m_timings.prefillSeconds > 0
        ? static_cast<double>(m_prefilled) / m_timings.prefillSeconds
        : 0;
}

// The first token belongs to the prefill, so n tokens took n - 1 steps.
double ActiveRequest::decodeTokensPerSecond() const
{
    return m_timings.decodeSeconds > 0
        ? static_cast<double>(m_tokens.size() - 1) / m_timings.decodeSeconds
        : 0;
}

void ActiveRequest::send(std::vector<OutputParser::Piece> pieces) const
{
    for (OutputParser::Piece &piece : pieces)
        std::visit([&](auto &event) { send(GenerationEvent(std::move(event))); }, piece);
}

void ActiveRequest::end(FinishReason reason)
{
    if (reason != FinishReason::StopString)
        send(m_parser.finish());
    m_usage.reasoningTokens = m_parser.reasoningTokens();
    m_hasEnded = true;
    send(Finished { reason, m_usage, m_timings, m_tokens });
}

} // namespace firesteel::engine
