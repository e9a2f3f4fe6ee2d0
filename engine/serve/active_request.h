// SPDX-License-Identifier: MIT
//
// One request while it has a sequence: what is left of its prompt, its sampler and output parser,
// its events and times. The engine thread runs the model and hands the logits in; nothing here
// calls the model. Exactly one last event (Finished or Failed) is sent.
#pragma once

#include "engine/api/event.h"
#include "engine/decode/sampler.h"
#include "engine/serve/model_facts.h"
#include "engine/serve/request_queue.h"
#include "engine/state/sequence_state.h"
#include "engine/text/output_parser.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace firesteel::engine {

class ActiveRequest
{
public:
    // `sequence`: empty; outlives the request.
    ActiveRequest(QueuedRequest queued, std::shared_ptr<const ModelFacts> facts,
                  SequenceState &sequence);

    RequestId id() const { return m_queued.id; }
    SequenceState &sequence() { return m_sequence; }
    bool isCancelled() const { return m_queued.cancel.isCancelled(); }
    bool hasEnded() const { return m_hasEnded; }

    std::span<const std::int32_t> promptLeft() const;
    void announcePrefill() const;
    void prefilled(int tokens); // the model has taken that many more

    std::span<const std::int32_t> lastToken() const; // to decode next
    // Samples the token at the sequence's position from its logits [vocabulary], used as scratch;
    // sends what it means and, where it is the last one, the end.
    void accept(std::span<float> logits);

    void endCancelled();
    void endFailed(Error error);

    int promptTokens() const { return static_cast<int>(m_queued.request.prompt.tokens.size()); }
    const Usage &usage() const { return m_usage; }
    const Timings &timings() const { return m_timings; }
    double prefillTokensPerSecond() const;
    double decodeTokensPerSecond() const;

private:
    using Clock = std::chrono::steady_clock;

    void send(const GenerationEvent &event) const { m_queued.sink(m_queued.id, event); }
    void send(std::vector<OutputParser::Piece> pieces) const;
    void end(FinishReason reason);

    QueuedRequest m_queued;
    std::shared_ptr<const ModelFacts> m_facts;
    SequenceState &m_sequence;
    Sampler m_sampler;
    OutputParser m_parser;
    std::size_t m_prefilled = 0;
    std::size_t m_maxTokens = 0;
    std::vector<std::int32_t> m_tokens; // generated
    bool m_hasEnded = false;
    Clock::time_point m_admitted;
    Clock::time_point m_firstToken;
    Usage m_usage;
    Timings m_timings;
};

} // namespace firesteel::engine
