// SPDX-License-Identifier: MIT
#include "engine/api/event.h"
#include "engine/decode/drafter.h"

#include <array>

namespace firesteel::engine {

static_assert(Drafting::kMaxTokens == kMaxDrafts);

std::string_view drafterName(DrafterKind kind)
{
    constexpr std::array<std::string_view, 4> kNames { "auto", "none", "lookup", "dflash2" };
    return kNames.at(static_cast<std::size_t>(kind));
}

void DraftCounts::addStep(int drafts, int agreed)
{
    ++steps;
    drafted += drafts;
    accepted += agreed;
    for (int k = 0; k < drafts; ++k) {
        ++draftedAt.at(static_cast<std::size_t>(k));
        acceptedAt.at(static_cast<std::size_t>(k)) += k < agreed ? 1 : 0;
    }
}

DraftCounts &DraftCounts::operator+=(const DraftCounts &other)
{
    steps += other.steps;
    drafted += other.drafted;
    accepted += other.accepted;
    for (std::size_t k = 0; k < draftedAt.size(); ++k) {
        draftedAt.at(k) += other.draftedAt.at(k);
        acceptedAt.at(k) += other.acceptedAt.at(k);
    }
    draftSeconds += other.draftSeconds;
    verifySeconds += other.verifySeconds;
    return *this;
}

} // namespace firesteel::engine
