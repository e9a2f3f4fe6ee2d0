// SPDX-License-Identifier: MIT
//
// Guesses the tokens that follow a sequence, for the model to verify in one step. A drafter never
// changes what is generated, only how many steps it takes (docs/speculation.md). Engine thread
// only.
#pragma once

#include "engine/state/sequence_state.h"

#include <cstdint>
#include <span>
#include <vector>

namespace firesteel::engine {

// Drafts a step can verify: the pending token takes one row.
inline constexpr int kMaxDrafts = kMaxDecodeRows - 1;

// One sequence's turn to be drafted for.
struct DraftJob
{
    int slot = 0; // which sequence; numbered by the caller
    std::span<const std::int32_t> tokens; // all of it, the pending token last
    int count = 0; // drafts wanted, 1..kMaxDrafts
    float temperature = 0; // that the sequence is sampled with
    std::uint64_t seed = 0; // resolved
    std::vector<std::int32_t> drafts = {}; // out: up to `count`, fewer or none if there is no guess
};

class Drafter
{
public:
    virtual ~Drafter() = default;

    // Layers whose completed residual streams it reads, their mean over the streams concatenated in
    // this order: the taps. Empty: it needs none.
    virtual std::span<const int> tapLayers() const = 0;
    // Taps of rows older than this many positions are of no use.
    virtual int tapWindow() const = 0;

    // Forgets what it knows of the slot.
    virtual void restart(int slot) = 0;
    // Forgets what it knows of the slot's positions from `position` on.
    virtual void rewind(int slot, int position) = 0;
    // Rows that were committed at `position` and after: taps [rows, tapLayers, hidden]. Positions
    // only grow but for rewind(); what lies before a gap is forgotten.
    virtual void extend(int slot, int position, std::span<const float> taps) = 0;
    virtual void draft(std::span<DraftJob> jobs) = 0;

    virtual std::uint64_t bytes() const = 0; // beside the weights' mapping
};

} // namespace firesteel::engine
