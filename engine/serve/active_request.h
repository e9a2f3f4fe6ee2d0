// SPDX-License-Identifier: MIT
//
// One request while it has a sequence: what is left of its prompt, its sampler and output parser,
// its events and times. The engine thread runs the model and hands the logits in; nothing here
// calls the model. Exactly one last event (Finished or Failed) is sent.
#pragma once

#include "engine/api/engine.h"
#include "engine/api/event.h"
#include "engine/decode/answer_constraint.h"
#include "engine/decode/draft_policy.h"
#include "engine/decode/drafter.h"
#include "engine/decode/repetition_guard.h"
#include "engine/decode/sampler.h"
#include "engine/serve/model_facts.h"
#include "engine/serve/request_queue.h"
#include "engine/state/sequence_state.h"
#include "engine/text/output_parser.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace firesteel::engine {

class ActiveRequest
{
public:
    // `sequence`: holds the first tokens of the prompt or none; outlives the request. `slot` is its
    // number.
    ActiveRequest(QueuedRequest queued, std::shared_ptr<const ModelFacts> facts, int slot,
                  SequenceState &sequence);

    RequestId id() const { return m_queued.id; }
    const std::string &source() const { return m_queued.request.source; }
    int slot() const { return m_slot; }
    const Prompt &prompt() const { return m_queued.request.prompt; }
    SequenceState &sequence() { return m_sequence; }
    bool isCancelled() const { return m_queued.cancel.isCancelled(); }
    bool hasEnded() const { return m_hasEnded; }

    std::span<const std::int32_t> promptLeft() const;
    int prefilledTokens() const { return static_cast<int>(m_prefilled) - m_usage.cachedTokens; }
    void announcePrefill() const;
    void prefilled(int tokens); // the model has taken that many more

    // The rows of the next decode step: the pending token and what was drafted after it.
    std::span<const std::int32_t> stepTokens() const { return m_step; }

    // Drafting. The job's drafts come back through setDrafts; without them the step has one row.
    DraftPolicy &policy() { return m_policy; }
    int draftLimit() const; // drafts whose acceptance would not exceed a limit
    DraftJob draftJob(int count) const;
    void setDrafts(DrafterKind drafter, std::span<const std::int32_t> drafts);

    // After the prompt: samples the first token from its last row's logits [vocabulary].
    void acceptFirst(std::span<float> logits);
    // After a step: samples row by row from the logits [stepTokens(), vocabulary] for as long as
    // the drafts agree, and commits the rows that stay. Both use the logits as scratch, send what
    // the tokens mean and, where one is the last, the end.
    struct Verified
    {
        int rows = 0; // committed
        int drafted = 0;
        int agreed = 0; // drafts
    };
    Verified accept(std::span<float> logits);
    void addTimes(double draftSeconds, double verifySeconds);

    void endCancelled();
    void endFailed(Error error);

    RequestStatus status() const; // without its source, which the queue keeps
    int promptTokens() const { return static_cast<int>(m_queued.request.prompt.tokens.size()); }
    const Usage &usage() const { return m_usage; }
    const Timings &timings() const { return m_timings; }
    const DraftCounts &drafting() const { return m_drafting; }
    double prefillTokensPerSecond() const;
    double decodeTokensPerSecond() const;

private:
    using Clock = std::chrono::steady_clock;

    void send(const GenerationEvent &event) const { m_queued.sink(m_queued.id, event); }
    void send(std::vector<OutputParser::Piece> pieces) const;
    // The token of a row: the sampler's, or the end of thinking where `thought` tokens of it are
    // enough. None where bias and format leave none.
    std::optional<std::int32_t> nextToken(std::span<float> logits, std::uint64_t position,
                                          bool isThinking, int thought);
    TokenMask mask(bool isThinking);
    // Takes sampled tokens; returns how many belong to the answer.
    int generated(std::span<const std::int32_t> tokens);
    std::span<const std::int32_t> answer() const
    {
        return std::span(m_tokens).subspan(m_queued.request.prompt.tokens.size());
    }
    void end(FinishReason reason);
    void endWithoutToken();

    QueuedRequest m_queued;
    std::shared_ptr<const ModelFacts> m_facts;
    int m_slot;
    SequenceState &m_sequence;
    DraftPolicy m_policy;
    std::uint64_t m_seed = 0;
    Sampler m_sampler;
    OutputParser m_parser;
    std::optional<AnswerConstraint> m_constraint;
    RepetitionGuard m_guard;
    bool m_isLooping = false;
    std::size_t m_prefilled = 0;
    std::size_t m_maxTokens = 0;
    std::vector<std::int32_t> m_tokens; // the prompt and what was generated
    std::vector<std::int32_t> m_step; // rows of the next decode step
    DrafterKind m_stepDrafter = DrafterKind::None;
    bool m_hasEnded = false;
    Clock::time_point m_admitted;
    Clock::time_point m_firstToken;
    Usage m_usage;
    Timings m_timings;
    DraftCounts m_drafting;
};

} // namespace firesteel::engine
