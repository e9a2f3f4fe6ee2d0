// SPDX-License-Identifier: MIT
#include "engine/serve/sequence_slots.h"

#include "kernels/common/device.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace firesteel::engine {

namespace {

int roundedDown(std::size_t tokens)
{
    constexpr auto kStep = static_cast<std::size_t>(Model::kPrefillAlignment);
    return static_cast<int>(tokens / kStep * kStep);
}

int commonTokens(std::span<const std::int32_t> a, std::span<const std::int32_t> b)
{
    return static_cast<int>(std::ranges::mismatch(a, b).in1 - a.begin());
}

} // namespace

SequenceSlots::SequenceSlots(Model &model, int count, int contextTokens,
                             std::uint64_t snapshotBudget)
    : m_budget(snapshotBudget)
{
    m_slots.reserve(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i)
        m_slots.push_back({ .state = model.newSequence(contextTokens), .kept = {} });
}

int SequenceSlots::nextMark(const Prompt &prompt, int position)
{
    const auto tokens = static_cast<int>(prompt.tokens.size());
    int next = tokens;
    for (const int mark : { roundedDown(prompt.lastUserTurn), roundedDown(prompt.tokens.size() - 1),
                            (position / kSnapshotInterval + 1) * kSnapshotInterval }) {
        if (mark > position)
            next = std::min(next, mark);
    }
    return next;
}

SequenceSlots::Match SequenceSlots::longestMatch(std::span<const std::int32_t> prompt) const
{
    // The last token is read in any case: its logits begin the answer.
    const std::span<const std::int32_t> wanted = prompt.first(prompt.size() - 1);
    Match best;
    for (std::size_t i = 0; i < m_slots.size(); ++i) {
        const Slot &slot = m_slots[i];
        const int common = commonTokens(slot.state.tokens(), wanted);
        const auto consider = [&](int position, int kept) {
            if (position <= common && position > best.position)
                best = { static_cast<int>(i), position, kept };
        };
        if (slot.isFree)
            consider(slot.state.position(), -1);
        for (std::size_t k = 0; k < slot.kept.size(); ++k)
            consider(slot.kept[k].position(), static_cast<int>(k));
    }
    return best;
}

int SequenceSlots::leastRecentlyUsed(int except) const
{
    int oldest = -1;
    for (int i = 0; i < static_cast<int>(m_slots.size()); ++i) {
        const Slot &slot = m_slots[static_cast<std::size_t>(i)];
        if (slot.isFree && i != except
            && (oldest < 0 || slot.used < m_slots[static_cast<std::size_t>(oldest)].used))
            oldest = i;
    }
    return oldest;
}

SequenceSlots::Lease SequenceSlots::acquire(std::span<const std::int32_t> prompt)
{
    ++m_clock;
    const Match match = longestMatch(prompt);
    Lease lease { .slot = match.slot, .position = match.position, .isSameSequence = true };
    // A prompt that shares only its beginning with what a sequence holds leaves it alone while
    // there is another: another chat may go on there. One that goes on from all of it takes it, how
    // little that is of the request that was given up there.
    if (match.slot >= 0) {
        const Slot &source = m_slots[static_cast<std::size_t>(match.slot)];
        if (match.kept >= 0 && (!source.isFree || 2 * match.position < source.promptTokens)) {
            const int other = leastRecentlyUsed(match.slot);
            lease.isSameSequence = other < 0 && source.isFree;
            lease.slot = lease.isSameSequence ? match.slot : other;
        }
    } else {
        lease.slot = leastRecentlyUsed(-1);
        lease.isSameSequence = false;
    }
    if (lease.slot < 0)
        throw std::logic_error("SequenceSlots::acquire: no sequence is free");

    Slot &slot = m_slots[static_cast<std::size_t>(lease.slot)];
    if (match.slot < 0) {
        slot.state.clear();
    } else if (match.kept < 0) {
        keep(lease.slot); // the end of a turn, for when what follows is changed
    } else {
        Kept &kept = m_slots[static_cast<std::size_t>(match.slot)]
                         .kept[static_cast<std::size_t>(match.kept)];
        kept.used = m_clock;
        if (lease.isSameSequence) {
            if (auto restored = slot.state.restore(kept.state); !restored)
                throw std::logic_error(restored.error().message);
        } else {
            slot.state.adopt(m_slots[static_cast<std::size_t>(match.slot)].state, kept.state);
        }
    }
    if (slot.state.position() != lease.position)
        throw std::logic_error("SequenceSlots::acquire: the sequence is elsewhere");
    // Snapshots of tokens that are no longer there.
    for (std::size_t k = slot.kept.size(); k-- > 0;) {
        if (!lease.isSameSequence || slot.kept[k].position() > lease.position)
            drop(slot, k);
    }
    slot.isFree = false;
    slot.used = m_clock;
    slot.promptTokens = static_cast<int>(prompt.size());
    return lease;
}

void SequenceSlots::release(int slot) { m_slots.at(static_cast<std::size_t>(slot)).isFree = true; }

void SequenceSlots::keep(int slot)
{
    Slot &owner = m_slots.at(static_cast<std::size_t>(slot));
    const int position = owner.state.position();
    const auto at = std::ranges::lower_bound(owner.kept, position, {}, &Kept::position);
    if (at != owner.kept.end() && at->position() == position) {
        at->used = m_clock;
        return;
    }
    SequenceState::Snapshot storage;
    if (!makeRoom(owner.state.snapshotBytes(), storage))
        return;
    try {
        Kept kept { owner.state.snapshotInto(std::move(storage)), m_clock };
        m_snapshotBytes += kept.state.bytes();
        owner.kept.insert(std::ranges::lower_bound(owner.kept, position, {}, &Kept::position),
                          std::move(kept));
    } catch (const kernels::DeviceError &error) {
        // Less is kept than the budget allows: something else took the memory.
        if (error.isSticky())
            throw;
    }
}

void SequenceSlots::drop(Slot &slot, std::size_t kept)
{
    m_snapshotBytes -= slot.kept[kept].state.bytes();
    slot.kept.erase(slot.kept.begin() + static_cast<std::ptrdiff_t>(kept));
}

bool SequenceSlots::makeRoom(std::uint64_t bytes, SequenceState::Snapshot &storage)
{
    if (bytes > m_budget)
        return false;
    while (m_snapshotBytes + bytes > m_budget) {
        // The one that saves least: few tokens behind the one before it, long unused.
        Slot *owner = nullptr;
        std::size_t index = 0;
        double least = 0;
        for (Slot &slot : m_slots) {
            int before = 0;
            for (std::size_t k = 0; k < slot.kept.size(); ++k) {
                const Kept &kept = slot.kept[k];
                const double saved = static_cast<double>(kept.position() - before)
                    / static_cast<double>(1 + m_clock - kept.used);
                if (owner == nullptr || saved < least) {
                    owner = &slot;
                    index = k;
                    least = saved;
                }
                before = kept.position();
            }
        }
        m_snapshotBytes -= owner->kept[index].state.bytes();
        storage = std::move(owner->kept[index].state);
        owner->kept.erase(owner->kept.begin() + static_cast<std::ptrdiff_t>(index));
    }
    return true;
}

} // namespace firesteel::engine
