// SPDX-License-Identifier: MIT
#include "engine/decode/token_history.h"

#include <stdexcept>

namespace firesteel::engine {

TokenHistory::TokenHistory(const SamplingParams &params, std::size_t vocabularySize)
    : m_repetition(params.repetitionPenalty)
    , m_presence(params.presencePenalty)
    , m_frequency(params.frequencyPenalty)
{
    if (m_repetition != 1.0F || m_presence != 0.0F || m_frequency != 0.0F)
        m_seen.resize(vocabularySize);
}

TokenHistory::Seen &TokenHistory::seen(std::int32_t token)
{
    Seen &entry = m_seen.at(static_cast<std::size_t>(token));
    if (!entry.isListed) {
        entry.isListed = true;
        m_ids.push_back(token);
    }
    return entry;
}

void TokenHistory::addPrompt(std::span<const std::int32_t> tokens)
{
    if (m_seen.empty())
        return;
    for (const std::int32_t token : tokens)
        seen(token).inPrompt = true;
}

void TokenHistory::accept(std::int32_t token)
{
    if (m_seen.empty())
        return;
    ++seen(token).answerCount;
    m_answer.push_back(token);
}

void TokenHistory::undo(int tokens)
{
    if (m_seen.empty())
        return;
    for (int i = 0; i < tokens; ++i) {
        if (m_answer.empty())
            throw std::logic_error("TokenHistory::undo: more tokens than were accepted");
        --m_seen[static_cast<std::size_t>(m_answer.back())].answerCount;
        m_answer.pop_back();
    }
}

void TokenHistory::penalise(std::span<float> logits) const
{
    for (const std::int32_t id : m_ids) {
        const Seen &entry = m_seen[static_cast<std::size_t>(id)];
        float &logit = logits[static_cast<std::size_t>(id)];
        if (entry.inPrompt || entry.answerCount > 0)
            logit = logit > 0 ? logit / m_repetition : logit * m_repetition;
        if (entry.answerCount > 0)
            logit -= m_presence + m_frequency * static_cast<float>(entry.answerCount);
    }
}

} // namespace firesteel::engine
