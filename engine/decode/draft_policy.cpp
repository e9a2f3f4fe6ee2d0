// SPDX-License-Identifier: MIT
#include "engine/decode/draft_policy.h"

#include <algorithm>

namespace firesteel::engine {

namespace {

constexpr double kNewTime = 0.2; // weight of the newest time against the average so far
constexpr double kFade = 0.97; // of a count in each step: half after 23 steps
// What is believed of a position before it was tried, worth this many tries.
constexpr double kPriorChance = 0.8;
constexpr double kPriorTries = 2;
// A step's growth per further row before two row counts were measured: the published cost of a row
// of GLM-5.3-Flash (docs/speculation.md).
constexpr double kPriorGrowth = 0.15;

void average(double &mean, double value)
{
    mean = mean > 0 ? mean + kNewTime * (value - mean) : value;
}

} // namespace

void StepCosts::addStep(int rows, double seconds)
{
    if (rows >= 1 && rows < static_cast<int>(m_steps.size()))
        average(m_steps[static_cast<std::size_t>(rows)], seconds);
}

void StepCosts::addDraft(double seconds) { average(m_draft, seconds); }

double StepCosts::step(int rows) const
{
    int below = rows;
    while (below > 0 && m_steps[static_cast<std::size_t>(below)] <= 0)
        --below;
    int above = rows;
    while (above <= kMostRows && m_steps[static_cast<std::size_t>(above)] <= 0)
        ++above;
    const auto at = [this](int r) { return m_steps[static_cast<std::size_t>(r)]; };
    const bool hasAbove = above <= kMostRows;
    if (below == 0 && !hasAbove)
        return 0;
    if (below == rows)
        return at(rows);
    if (below > 0 && hasAbove)
        return at(below) + (at(above) - at(below)) * (rows - below) / (above - below);
    // One side only: the published growth from there.
    const int known = below > 0 ? below : above;
    return at(known) * (1 + kPriorGrowth * (rows - 1)) / (1 + kPriorGrowth * (known - 1));
}

double DraftPolicy::Acceptance::chance(int position) const
{
    const auto i = static_cast<std::size_t>(position);
    return (kPriorChance * kPriorTries + accepted[i]) / (kPriorTries + tried[i]);
}

void DraftPolicy::Acceptance::fade()
{
    for (std::size_t i = 0; i < tried.size(); ++i) {
        tried[i] *= kFade;
        accepted[i] *= kFade;
    }
}

double DraftPolicy::tokensPerStep(const Acceptance &acceptance, int drafts) const
{
    double tokens = 1;
    double reached = 1;
    for (int k = 0; k < drafts; ++k) {
        reached *= acceptance.chance(k);
        tokens += reached;
    }
    return tokens;
}

DraftPolicy::Choice DraftPolicy::choose(int limit, bool hasDflash2, int found,
                                        const StepCosts &costs, OtherSequences others) const
{
    Choice best;
    const double plain = costs.step(others.rows + 1);
    double bestRate = plain > 0 ? (others.sequences + 1) / plain : 0;
    if (m_wish.tokens)
        bestRate = -1; // any draft is better than none, up to the wish
    const int most = std::min(limit, m_wish.tokens.value_or(kMaxDrafts));
    const auto consider = [&](DrafterKind drafter, const Acceptance &acceptance, int available,
                              double draftSeconds) {
        const int last = std::min(most, available);
        // A fixed K asks for all of it.
        for (int k = m_wish.tokens ? last : 1; k >= 1 && k <= last; ++k) {
            const double seconds = costs.step(others.rows + 1 + k) + draftSeconds;
            const double tokens = others.sequences + tokensPerStep(acceptance, k);
            const double rate = seconds > 0 ? tokens / seconds : tokens;
            if (rate > bestRate) {
                bestRate = rate;
                best = { drafter, k };
            }
        }
    };
    if (hasDflash2 && mayUse(DrafterKind::Dflash2))
        consider(DrafterKind::Dflash2, m_dflash2, kMaxDrafts, costs.draft());
    if (mayUse(DrafterKind::Lookup))
        consider(DrafterKind::Lookup, m_lookup, found, 0);
    return best;
}

void DraftPolicy::observe(DrafterKind drafter, int drafted, int accepted)
{
    m_lookup.fade();
    m_dflash2.fade();
    if (drafter == DrafterKind::None)
        return;
    Acceptance &seen = drafter == DrafterKind::Lookup ? m_lookup : m_dflash2;
    // The first wrong guess was tried; those after it were not.
    for (int k = 0; k < std::min(drafted, accepted + 1); ++k) {
        seen.tried[static_cast<std::size_t>(k)] += 1;
        seen.accepted[static_cast<std::size_t>(k)] += k < accepted ? 1 : 0;
    }
}

} // namespace firesteel::engine
