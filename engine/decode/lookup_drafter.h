// SPDX-License-Identifier: MIT
//
// Drafts by copying: what followed the longest earlier occurrence of the sequence's newest tokens
// (prompt lookup; A. Saxena, 2023). Right when a text repeats itself or quotes its prompt, silent
// otherwise.
#pragma once

#include "engine/decode/drafter.h"

namespace firesteel::engine {

class LookupDrafter final : public Drafter
{
public:
    static constexpr int kShortestMatch = 3; // tokens; shorter ones are chance
    static constexpr int kLongestMatch = 32; // longer ones are not told apart

    std::span<const int> tapLayers() const override { return {}; }
    int tapWindow() const override { return 0; }
    void restart(int /*slot*/) override { }
    void rewind(int /*slot*/, int /*position*/) override { }
    void extend(int /*slot*/, int /*position*/, std::span<const float> /*taps*/) override { }
    void draft(std::span<DraftJob> jobs) override;
    std::uint64_t bytes() const override { return 0; }
};

} // namespace firesteel::engine
