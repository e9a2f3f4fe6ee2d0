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
             request.prompt.toolParameterTypes, request.prompt.isPlainText };
}

} // namespace

ActiveRequest::ActiveRequest(QueuedRequest queued, std::shared_ptr<const ModelFacts> facts,
                             int slot, SequenceState &sequence)
    : m_queued(std::move(queued))
    , m_facts(std::move(facts))
    , m_slot(slot)
    , m_sequence(sequence)
    , m_policy(m_queued.request.drafting)
    , m_seed(resolvedSeed(m_queued.request.sampling))
    , m_sampler(m_queued.request.sampling, m_facts->mappedTokens(), m_seed)
    , m_parser(m_facts->tokenizer(), parserOptions(m_queued.request, *m_facts))
    , m_prefilled(static_cast<std::size_t>(sequence.position()))
    , m_admitted(Clock::now())
{
    if (m_queued.grammar)
        m_constraint.emplace(m_queued.grammar, m_facts->answerTokens(),
                             m_queued.request.format.mayCallInstead);
    const std::vector<std::int32_t> &prompt = m_queued.request.prompt.tokens;
    m_sampler.addPrompt(prompt);
    m_maxTokens = static_cast<std::size_t>(sequence.contextTokens()) - prompt.size();
    if (m_queued.request.maxTokens)
        m_maxTokens = std::min(m_maxTokens, static_cast<std::size_t>(*m_queued.request.maxTokens));
    m_tokens.reserve(prompt.size() + m_maxTokens);
    m_tokens = prompt;
    m_usage.promptTokens = promptTokens();
    m_usage.cachedTokens = sequence.position();
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

int ActiveRequest::draftLimit() const
{
    // A step gives one token more than it has drafts, and needs a place for each row.
    const auto wanted = static_cast<int>(m_maxTokens - answer().size()) - 1;
    const int places = m_sequence.contextTokens() - m_sequence.position() - 1;
    return std::clamp(std::min(wanted, places), 0, kMaxDrafts);
}

DraftJob ActiveRequest::draftJob(int count) const
{
    DraftJob job;
    job.tokens = m_tokens;
    job.count = count;
    job.temperature = m_queued.request.sampling.temperature;
    job.seed = m_seed;
    return job;
}

void ActiveRequest::setDrafts(DrafterKind drafter, std::span<const std::int32_t> drafts)
{
    m_stepDrafter = drafts.empty() ? DrafterKind::None : drafter;
    m_step.assign(1, m_tokens.back());
    m_step.insert(m_step.end(), drafts.begin(), drafts.end());
}

void ActiveRequest::acceptFirst(std::span<float> logits)
{
    const auto token = nextToken(logits, static_cast<std::uint64_t>(m_sequence.position()),
                                 m_parser.isThinking(), m_parser.reasoningTokens());
    if (!token) {
        endWithoutToken();
        return;
    }
    m_firstToken = Clock::now();
    m_timings.timeToFirstTokenSeconds = secondsBetween(m_queued.submitted, m_firstToken);
    generated({ &*token, 1 });
}

TokenMask ActiveRequest::mask(bool isThinking)
{
    if (!m_constraint)
        return {};
    return isThinking ? m_constraint->thinkingMask() : m_constraint->mask();
}

std::optional<std::int32_t> ActiveRequest::nextToken(std::span<float> logits,
                                                     std::uint64_t position, bool isThinking,
                                                     int thought)
{
    std::optional<std::int32_t> token = m_sampler.sample(logits, position, mask(isThinking));
    const std::optional<int> budget = m_queued.request.thinkingBudget;
    if (isThinking && m_parser.endOfThinking() >= 0
        && (m_queued.thinking.isCancelled() || (budget && thought >= *budget)))
        token = m_parser.endOfThinking();
    if (!token)
        return std::nullopt;
    if (m_constraint && !isThinking)
        m_constraint->accept(*token);
    m_sampler.accept(*token);
    m_isLooping = m_guard.push(*token) && m_queued.request.stopsRepetition;
    return token;
}

ActiveRequest::Verified ActiveRequest::accept(std::span<float> logits)
{
    const std::size_t rows = m_step.size();
    const std::size_t vocabulary = logits.size() / rows;
    const auto position = static_cast<std::uint64_t>(m_sequence.position());
    bool isThinking = m_parser.isThinking();
    int thought = m_parser.reasoningTokens();
    std::vector<std::int32_t> sampled;
    bool hasToken = true;
    for (std::size_t row = 0; row < rows; ++row) {
        // Penalties and limits see the drafts accepted so far, as if each had been a step of its
        // own.
        const auto token = nextToken(logits.subspan(row * vocabulary, vocabulary),
                                     position + row + 1, isThinking, thought);
        hasToken = token.has_value();
        if (!hasToken)
            break;
        sampled.push_back(*token);
        isThinking = isThinking && *token != m_parser.endOfThinking();
        ++thought;
        if (row + 1 == rows || m_step[row + 1] != *token || m_isLooping)
            break;
    }
    const auto drafted = static_cast<int>(rows) - 1;
    const int agreed = std::max(0, static_cast<int>(sampled.size()) - 1);
    m_policy.observe(m_stepDrafter, drafted, agreed);
    m_drafting.addStep(drafted, agreed);
    // Row r stays if the token that was sampled from it does.
    const int kept = sampled.empty() ? 0 : generated(sampled);
    m_sequence.commit(kept);
    if (!hasToken && !m_hasEnded)
        endWithoutToken();
    return { .rows = kept, .drafted = drafted, .agreed = agreed };
}

void ActiveRequest::addTimes(double draftSeconds, double verifySeconds)
{
    m_drafting.draftSeconds += draftSeconds;
    m_drafting.verifySeconds += verifySeconds;
}

int ActiveRequest::generated(std::span<const std::int32_t> tokens)
{
    OutputParser::Outcome outcome = m_parser.push(tokens);
    const std::span<const std::int32_t> kept
        = tokens.first(static_cast<std::size_t>(outcome.consumed));
    m_tokens.insert(m_tokens.end(), kept.begin(), kept.end());
    m_timings.decodeSeconds = secondsBetween(m_firstToken, Clock::now());
    m_usage.completionTokens = static_cast<int>(answer().size());
    m_usage.reasoningTokens = m_parser.reasoningTokens();
    setDrafts(DrafterKind::None, {});
    send(std::move(outcome.pieces));
    switch (outcome.status) {
    case OutputParser::Status::EndOfTurn:
        end(m_parser.toolCallCount() > 0 ? FinishReason::ToolCalls : FinishReason::Stop);
        break;
    case OutputParser::Status::StopString:
        end(FinishReason::StopString);
        break;
    case OutputParser::Status::Running:
        if (answer().size() == m_maxTokens)
            end(FinishReason::Length);
        else if (m_isLooping)
            end(FinishReason::Repetition);
        break;
    }
    return outcome.consumed;
}

void ActiveRequest::endWithoutToken()
{
    endFailed({ ErrorCode::BadRequest,
                m_constraint ? "The answer's format and logit_bias leave no token to choose."
                             : "logit_bias leaves no token to choose." });
}

void ActiveRequest::endCancelled() { end(FinishReason::Cancelled); }

void ActiveRequest::endFailed(Error error)
{
    m_hasEnded = true; // first: a sink that throws must not be called again
    send(Failed { std::move(error) });
}

RequestStatus ActiveRequest::status() const
{
    RequestStatus status;
    status.id = id();
    status.phase
        = promptLeft().empty() ? RequestStatus::Phase::Decode : RequestStatus::Phase::Prefill;
    status.promptTokens = promptTokens();
    status.processedTokens = static_cast<int>(m_prefilled);
    status.generatedTokens = static_cast<int>(answer().size());
    return status;
}

double ActiveRequest::prefillTokensPerSecond() const
{
    return m_timings.prefillSeconds > 0 ? prefilledTokens() / m_timings.prefillSeconds : 0;
}

// The first token belongs to the prefill, so n tokens took n - 1 steps.
double ActiveRequest::decodeTokensPerSecond() const
{
    return m_timings.decodeSeconds > 0
        ? static_cast<double>(answer().size() - 1) / m_timings.decodeSeconds
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
    send(Finished { reason, m_usage, m_timings, { answer().begin(), answer().end() }, m_drafting });
}

} // namespace firesteel::engine
