// SPDX-License-Identifier: MIT
//
// How many tokens to draft for a sequence, and by whom: the choice that promises most tokens per
// second,
//   rate(K) = (O + 1 + sum over k = 1..K of a_1 a_2 ... a_k) / (V(R + 1 + K) + D),
// a_j the chance that draft j is accepted if those before it were, V(r) the time of a step with r
// rows, D the time to draft, O and R the other sequences of the step and their rows
// (docs/speculation.md).
#pragma once

#include "engine/api/request.h"
#include "engine/decode/drafter.h"

#include <array>
#include <span>

namespace firesteel::engine {

// Measured times of steps, for all sequences of an engine; recent ones count most.
class StepCosts
{
public:
    void addStep(int rows, double seconds);
    void addDraft(double seconds);

    // Seconds of a step with so many rows, at most kMostRows; 0 before anything was measured.
    // Between and beyond measured row counts: on a line.
    double step(int rows) const;
    double draft() const { return m_draft; }

private:
    static constexpr int kMostRows = kernels::kMaxDecodeStepRows;
    std::array<double, kMostRows + 1> m_steps = {}; // by rows; 0: not measured
    double m_draft = 0;
};

// What else a step carries: each other sequence gives a token at least.
struct OtherSequences
{
    int sequences = 0;
    int rows = 0;
};

class DraftPolicy
{
public:
    struct Choice
    {
        DrafterKind drafter = DrafterKind::None; // never Auto
        int tokens = 0;
    };

    explicit DraftPolicy(Drafting wish)
        : m_wish(wish)
    {
    }

    // limit: drafts that fit what is left; found: tokens that a lookup would copy.
    Choice choose(int limit, bool hasDflash2, int found, const StepCosts &costs,
                  OtherSequences others = {}) const;
    // Whether it may ever choose this drafter; what no choice needs is not computed.
    bool mayUse(DrafterKind drafter) const
    {
        return m_wish.tokens != 0
            && (m_wish.drafter == DrafterKind::Auto || m_wish.drafter == drafter);
    }

    // What the model said of `drafted` guesses.
    void observe(DrafterKind drafter, int drafted, int accepted);

private:
    // Decayed counts by position, so that an old observation fades and an untried position looks
    // promising again.
    struct Acceptance
    {
        std::array<double, kMaxDrafts> tried = {};
        std::array<double, kMaxDrafts> accepted = {};
        double chance(int position) const;
        void fade();
    };
    double tokensPerStep(const Acceptance &acceptance, int drafts) const;

    Drafting m_wish;
    Acceptance m_lookup, m_dflash2;
};

} // namespace firesteel::engine
