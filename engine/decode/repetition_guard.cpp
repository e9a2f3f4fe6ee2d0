// SPDX-License-Identifier: MIT
#include "engine/decode/repetition_guard.h"

#include <algorithm>

namespace firesteel::engine {

bool RepetitionGuard::push(std::int32_t token)
{
    bool isLoop = false;
    for (std::size_t period = 1; period <= std::min(kLongestPeriod, m_count); ++period) {
        std::size_t &repeated = m_repeated.at(period);
        repeated = m_tokens.at((m_count - period) % kLongestPeriod) == token ? repeated + 1 : 0;
        // The first period repeats nothing.
        isLoop = isLoop || repeated >= std::max(kRepeatedTokens, (kRepeats - 1) * period);
    }
    m_tokens.at(m_count++ % kLongestPeriod) = token;
    return isLoop;
}

} // namespace firesteel::engine
