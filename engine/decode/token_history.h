// SPDX-License-Identifier: MIT
//
// Which tokens a sequence has seen and how often, for the penalties of Sampler. Does nothing and
// holds nothing while no penalty is set. Accepted tokens can be taken back, since a verified draft
// may be shorter than what was sampled.
#pragma once

#include "engine/api/request.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace firesteel::engine {

class TokenHistory
{
public:
    TokenHistory(const SamplingParams &params, std::size_t vocabularySize);

    void addPrompt(std::span<const std::int32_t> tokens);
    void accept(std::int32_t token);
    void undo(int tokens); // the newest accepted ones; throws std::logic_error if there are fewer

    // Repetition first (it scales), then presence and frequency (they subtract).
    void penalise(std::span<float> logits) const;

private:
    struct Seen
    {
        std::uint32_t answerCount = 0;
        bool inPrompt = false;
        bool isListed = false; // in m_ids
    };
    Seen &seen(std::int32_t token);

    float m_repetition = 1;
    float m_presence = 0;
    float m_frequency = 0;
    std::vector<Seen> m_seen; // by id; empty while no penalty is set
    std::vector<std::int32_t> m_ids; // every id seen once or more
    std::vector<std::int32_t> m_answer; // accepted, in order
};

} // namespace firesteel::engine
