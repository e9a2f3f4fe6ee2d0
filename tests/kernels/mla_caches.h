// SPDX-License-Identifier: MIT
//
// What the suites of latent attention place where a stream runs: the caches of sequences, in the
// stream's type, and the tables of a step.
#pragma once

#include "kernels/common/buffer.h"
#include "kernels/mla/mla.h"
#include "tests/support/placed.h"

#include <cstdint>
#include <span>
#include <vector>

namespace firesteel::test {

// The nearest BF16, widened; ties to even.
float nearestBf16(float value);
std::vector<float> nearestBf16(std::vector<float> values);
// F16, BF16 or F32 patterns of values that these types hold exactly.
std::vector<std::byte> storedAs(kernels::DType type, std::span<const float> values);

// Poisoned (NaN) where nothing was written.
class MlaCaches
{
public:
    // Without an indexer: indexDim 0.
    MlaCaches(std::int64_t context, std::int64_t latentDim, std::int64_t indexDim,
              kernels::Stream &stream);

    kernels::MlaSlot slot() const;
    // From the first; values that BF16 holds exactly, so that they are the same everywhere.
    void setLatents(std::span<const float> values);
    void setPooledKeys(std::span<const float> values);
    std::vector<float> latents() const;
    std::vector<float> pooledKeys() const;
    bool isGuardIntact() const;

private:
    std::vector<float> widened(const PlacedBytes &bytes) const;

    kernels::DType m_type;
    PlacedBytes m_latents, m_pooledKeys, m_tailKey, m_tailGate;
};

// Rows of a sequence in a step: so many from a position on.
struct StepRows
{
    std::int32_t firstPosition, rows;
};

class PlacedStep
{
public:
    // longestContext, mostRows: what the step says; 0 means what the rows need.
    PlacedStep(const std::vector<StepRows> &rows, std::span<const kernels::MlaSlot> slots,
               kernels::Stream &stream, std::int64_t longestContext = 0, std::int64_t mostRows = 0);

    const kernels::Step &step() const { return m_step; }
    std::span<const kernels::MlaSlot> slots() const { return m_slots; }
    std::int64_t rows() const { return m_step.rows; }
    // Other contents of the same tables, of as many sequences and rows.
    void assign(const std::vector<StepRows> &rows, std::span<const kernels::MlaSlot> slots,
                kernels::Stream &stream);

private:
    kernels::Buffer<kernels::StepSequence> m_sequences;
    kernels::Buffer<std::int32_t> m_sequenceOf;
    kernels::Buffer<kernels::MlaSlot> m_slots;
    kernels::Step m_step;
};

struct SelectedTokens
{
    std::vector<std::vector<std::int32_t>> rows;
    bool operator==(const SelectedTokens &) const = default;
};

// A selection's buffers, guarded.
class PlacedSelection
{
public:
    PlacedSelection(std::int64_t rows, std::int64_t maxSelected, kernels::Stream &stream);
    PlacedSelection(const SelectedTokens &tokens, std::int64_t maxSelected,
                    kernels::Stream &stream);

    kernels::Selection selection() const;
    SelectedTokens read() const;
    bool isGuardIntact() const;

private:
    std::int64_t m_maxSelected;
    Placed<std::int32_t> m_positions, m_counts;
};

} // namespace firesteel::test
