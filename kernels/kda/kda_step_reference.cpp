// SPDX-License-Identifier: MIT
//
// A step on the CPU: its sequences one after the other, with the pieces of kda_reference.h.
#include "kernels/kda/kda_backends.h"
#include "kernels/kda/kda_reference.h"

#include <algorithm>

namespace firesteel::kernels::reference {

namespace {

// The part of a buffer that belongs to `rows` rows of `width` values from row `first` on.
template <typename T>
std::span<T> rowsOf(std::span<T> buffer, std::int64_t width, std::int64_t rows, std::int64_t first)
{
    return buffer.subspan(static_cast<std::size_t>(first * width),
                          static_cast<std::size_t>(rows * width));
}

std::span<float> slotRows(float *values, std::int64_t width, std::int64_t rows)
{
    return { values, static_cast<std::size_t>(rows * width) };
}

KdaRecords recordsOf(const KdaSlot &slot, const StepSequence &sequence, const KdaShape &shape)
{
    const std::int64_t rows = sequence.recordedRows;
    return { slotRows(slot.u, 3 * shape.channels(), rows), slotRows(slot.g, shape.channels(), rows),
             slotRows(slot.beta, shape.heads, rows), rows };
}

KdaRecords rowsOfSequence(std::span<const float> u, std::span<const float> g,
                          std::span<const float> beta, const StepSequence &sequence,
                          const KdaShape &shape)
{
    const std::int64_t rows = sequence.rows;
    return { rowsOf(u, 3 * shape.channels(), rows, sequence.firstRow),
             rowsOf(g, shape.channels(), rows, sequence.firstRow),
             rowsOf(beta, shape.heads, rows, sequence.firstRow), rows };
}

std::span<float> stateOf(const KdaSlot &slot, const KdaShape &shape)
{
    return { slot.state, static_cast<std::size_t>(shape.stateSize()) };
}

} // namespace

void kdaPrepare(std::span<float> u, std::span<float> g, std::span<float> beta,
                std::span<const float> z, std::span<const float> conv,
                std::span<const float> dtBias, std::span<const float> aLog,
                std::span<const KdaSlot> slots, const Step &step, RowClass rowClass,
                const KdaShape &shape, ThreadPool &pool)
{
    const std::int64_t width = 3 * shape.channels();
    for (std::size_t i = 0; i < slots.size(); ++i) {
        const StepSequence &sequence = step.sequences[i];
        const std::span<float> window = slotRows(slots[i].window, width, kKdaWindow);
        const std::span<const float> input = rowsOf(z, width, sequence.rows, sequence.firstRow);
        kdaShiftWindow(window, slotRows(slots[i].input, width, sequence.recordedRows), width,
                       sequence.recordedRows);
        kdaConv(rowsOf(u, width, sequence.rows, sequence.firstRow), input, window, conv,
                sequence.rows, pool);
        if (rowClass == RowClass::Decode)
            std::ranges::copy(input, slots[i].input);
        else
            kdaShiftWindow(window, input, width, sequence.rows);
    }
    kdaNormalize(u, shape, step.rows, pool);
    kdaGates(g, beta, dtBias, aLog, shape, step.rows, pool);
}

void kdaDecode(std::span<float> o, std::span<const float> u, std::span<const float> g,
               std::span<const float> beta, std::span<const KdaSlot> slots, const Step &step,
               const KdaShape &shape, ThreadPool &pool)
{
    for (std::size_t i = 0; i < slots.size(); ++i) {
        const StepSequence &sequence = step.sequences[i];
        kdaRecurrent(rowsOf(o, shape.channels(), sequence.rows, sequence.firstRow),
                     stateOf(slots[i], shape), recordsOf(slots[i], sequence, shape),
                     rowsOfSequence(u, g, beta, sequence, shape), shape, pool);
    }
}

void kdaPrefill(std::span<float> o, std::span<const float> u, std::span<const float> g,
                std::span<const float> beta, std::span<const KdaSlot> slots, const Step &step,
                const KdaShape &shape, ThreadPool &pool)
{
    for (std::size_t i = 0; i < slots.size(); ++i) {
        const StepSequence &sequence = step.sequences[i];
        const std::span<float> state = stateOf(slots[i], shape);
        if (sequence.recordedRows > 0)
            kdaRecurrent({}, state, recordsOf(slots[i], sequence, shape), {}, shape, pool);
        const KdaRecords rows = rowsOfSequence(u, g, beta, sequence, shape);
        kdaChunks(rowsOf(o, shape.channels(), sequence.rows, sequence.firstRow), state, rows.u,
                  rows.g, rows.beta, shape, sequence.rows, pool);
    }
}

void kdaFinish(std::span<float> y, std::span<const float> o, std::span<const float> gate,
               std::span<const float> weight, float eps, std::span<const float> u,
               std::span<const float> g, std::span<const float> beta,
               std::span<const KdaSlot> slots, const Step &step, RowClass rowClass,
               const KdaShape &shape, ThreadPool &pool)
{
    kdaOutput(y, o, gate, weight, eps, shape, step.rows, pool);
    if (rowClass == RowClass::Prefill)
        return;
    for (std::size_t i = 0; i < slots.size(); ++i) {
        const KdaRecords rows = rowsOfSequence(u, g, beta, step.sequences[i], shape);
        std::ranges::copy(rows.u, slots[i].u);
        std::ranges::copy(rows.g, slots[i].g);
        std::ranges::copy(rows.beta, slots[i].beta);
    }
}

} // namespace firesteel::kernels::reference
