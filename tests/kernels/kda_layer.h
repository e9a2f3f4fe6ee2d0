// SPDX-License-Identifier: MIT
//
// Whole steps of a KDA layer for the tests of its launchers, on any stream: sequences with a state
// of their own, and steps whose buffers lie between guards and start poisoned.
#pragma once

#include "kernels/kda/kda.h"
#include "tests/support/placed.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace firesteel::test {

inline constexpr kernels::KdaShape kKdaTestShape { .heads = 3,
                                                   .headDim = 128,
                                                   .gateLowerBound = -5.0F };

// What the projections give for some rows of a sequence.
struct KdaInput
{
    std::int64_t rows = 0;
    std::vector<float> z, f, b, gate; // [rows, 3C | C | heads | C]

    static KdaInput random(std::int64_t rows, std::uint64_t seed);
    KdaInput part(std::int64_t first, std::int64_t count) const;
};

// What a step makes of them.
struct KdaOutput
{
    std::vector<float> u, g, beta, o, y; // [rows, 3C | C | heads | C | C]
    bool operator==(const KdaOutput &) const = default;
};

// Values of a slot.
struct KdaMemory
{
    std::vector<float> state, window, input, u, g, beta;
};

class KdaSequence
{
public:
    // With a random state and window, and records of NaN.
    KdaSequence(std::uint64_t seed, kernels::Stream &stream);

    kernels::KdaSlot slot() const;
    KdaMemory read() const;
    bool areGuardsIntact() const;

    int recordedRows = 0; // that the next step folds in

private:
    Placed<float> m_state, m_window, m_input, m_u, m_g, m_beta;
};

struct KdaPart
{
    KdaSequence *sequence = nullptr;
    KdaInput input;
};

struct KdaWeights
{
    std::vector<float> conv, dtBias, aLog, norm;
    static KdaWeights random(std::uint64_t seed);
};

inline constexpr float kKdaTestEps = 1e-5F;

class KdaTestLayer
{
public:
    explicit KdaTestLayer(kernels::Stream &stream);

    const KdaWeights &weights() const { return m_weights; }
    kernels::Stream &stream() const { return m_stream; }

    // One step; checks the guards. A decode step leaves its rows recorded, all of them accepted.
    // paddingRows: rows behind the others that belong to no sequence.
    std::vector<KdaOutput> run(kernels::RowClass rowClass, const std::vector<KdaPart> &parts,
                               std::int64_t paddingRows = 0) const;
    KdaOutput run(kernels::RowClass rowClass, KdaSequence &sequence, const KdaInput &input) const;

private:
    friend class KdaStep;
    kernels::Stream &m_stream;
    KdaWeights m_weights;
    Placed<float> m_conv, m_dtBias, m_aLog, m_norm;
};

// The buffers and tables of a step, for as many launches as fit them.
class KdaStep
{
public:
    KdaStep(const KdaTestLayer &layer, kernels::RowClass rowClass,
            const std::vector<KdaPart> &parts, std::int64_t paddingRows);

    // Inputs and tables of other parts: as many sequences and rows, none with more rows than the
    // longest.
    void assign(const std::vector<KdaPart> &parts);
    void launch() const;
    // Of the parts assigned last; checks the guards.
    std::vector<KdaOutput> read() const;

private:
    const KdaTestLayer &m_layer;
    kernels::RowClass m_rowClass;
    std::int64_t m_rows = 0;
    std::int64_t m_mostRows = 0;
    std::vector<std::int64_t> m_partRows;
    Placed<float> m_z, m_u, m_g, m_beta, m_gate, m_o, m_y;
    Placed<std::byte> m_scratch;
    Placed<kernels::KdaSlot> m_slots;
    Placed<kernels::StepSequence> m_sequences;
    Placed<std::int32_t> m_sequenceOf;
};

} // namespace firesteel::test
