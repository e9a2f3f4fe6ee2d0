// SPDX-License-Identifier: MIT
//
// The sequences that requests use in turn, and what they still hold of the requests before. A
// prompt that begins like one that was read before goes on from the longest part of it whose state
// is at hand: the end of what a free sequence holds, or a snapshot taken while a prompt was read.
// Latents of a prefix stay valid in place or are copied; recurrent states, which cannot be cut
// back, are what snapshots hold. Engine thread only.
#pragma once

#include "engine/api/request.h"
#include "engine/model/model.h"
#include "engine/state/sequence_state.h"

#include <cstdint>
#include <span>
#include <vector>

namespace firesteel::engine {

class SequenceSlots
{
public:
    // Tokens between the snapshots of a long prompt.
    static constexpr int kSnapshotInterval = 8192;

    // Allocates the sequences. Snapshots take at most `snapshotBudget` bytes. Throws
    // kernels::DeviceError.
    SequenceSlots(Model &model, int count, int contextTokens, std::uint64_t snapshotBudget);

    // Where a prompt that has been read up to `position` wants its next snapshot, or its end: the
    // begin of the last user's turn, the end, and every kSnapshotInterval tokens, all rounded down
    // to Model::kPrefillAlignment, so that reading on from there gives the bits of reading it all.
    static int nextMark(const Prompt &prompt, int position);

    struct Lease
    {
        int slot = 0;
        int position = 0; // tokens of the prompt that the sequence holds, fewer than all
        bool isSameSequence = false; // it held them before: what follows the slot knows them too
    };
    // A free sequence for a prompt. There must be one.
    Lease acquire(std::span<const std::int32_t> prompt);
    void release(int slot);
    // Keeps the state at the sequence's position for later prompts, if the budget allows.
    void keep(int slot);

    SequenceState &sequence(int slot) { return m_slots.at(static_cast<std::size_t>(slot)).state; }
    std::uint64_t snapshotBytes() const { return m_snapshotBytes; }

private:
    struct Kept
    {
        SequenceState::Snapshot state;
        std::uint64_t used = 0; // when
        int position() const { return static_cast<int>(state.tokens.size()); }
    };
    struct Slot
    {
        SequenceState state;
        bool isFree = true;
        std::uint64_t used = 0; // when it was acquired last
        int promptTokens = 0; // of the request that has it or had it last
        std::vector<Kept> kept; // by position
    };
    // Some of a slot's tokens that begin a prompt, and the state behind them.
    struct Match
    {
        int slot = -1;
        int position = 0;
        int kept = -1; // which snapshot; -1: the sequence as it is
    };
    Match longestMatch(std::span<const std::int32_t> prompt) const;
    int leastRecentlyUsed(int except) const; // free one
    void drop(Slot &slot, std::size_t kept);
    // Makes room for a snapshot of so many bytes; `storage` gets the memory of one that made way.
    // False where the whole budget is less.
    bool makeRoom(std::uint64_t bytes, SequenceState::Snapshot &storage);

    std::vector<Slot> m_slots;
    std::uint64_t m_budget;
    std::uint64_t m_snapshotBytes = 0;
    std::uint64_t m_clock = 0;
};

} // namespace firesteel::engine
