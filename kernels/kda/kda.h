// SPDX-License-Identifier: MIT
//
// Kimi Delta Attention (KDA): a gated delta rule with one decay per key channel (docs/model.md,
// section KDA). Rows are laid out q|k|v: u[t] = [q (H*d), k (H*d), v (H*d)], width 3*H*d.
//
// Per head, with state S [d key][d value]:
//   S <- diag(exp(g)) S;  u = beta (v - S^T k);  S <- S + k u^T;  o = S^T q
//
// A layer calls launchKdaPrepare, launchKdaDecode or launchKdaPrefill, and launchKdaFinish on the
// rows of one step. A decode step leaves its rows in the sequence's records, because a recurrent
// state cannot take a rejected row back; the next step of the sequence folds the first
// `recordedRows` of them in (those that were accepted) before anything else.
//
// Spans, slots and the step's tables lie where the stream runs. Every launcher reads what differs
// between steps of equal sizes on the device, so that a recorded step can be replayed. Rows of no
// sequence (sequenceOf is -1: they fill a recorded step up) have results of no use and are never
// recorded. On the GPU heads have kKdaCudaHeadDim channels; launchers throw std::invalid_argument
// for others, and std::logic_error for spans too small for the step.
#pragma once

#include "kernels/common/row_class.h"
#include "kernels/common/step.h"
#include "kernels/common/stream.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace firesteel::kernels {

struct KdaShape
{
    std::int64_t heads = 0;
    std::int64_t headDim = 0; // keys and values; a multiple of 8, at most kKdaMaxHeadDim
    float gateLowerBound = 0; // < 0
    std::int64_t channels() const { return heads * headDim; }
    std::int64_t stateSize() const { return heads * headDim * headDim; }
};

inline constexpr std::int64_t kKdaMaxHeadDim = 256;
inline constexpr std::int64_t kKdaCudaHeadDim = 128;
inline constexpr std::int64_t kKdaConvTaps = 4; // the window holds the last 3 inputs
inline constexpr std::int64_t kKdaWindow = kKdaConvTaps - 1;
inline constexpr std::int64_t kKdaChunk = 64; // rows of one chunk of the prefill form

// State of one sequence in one layer; slots[i] belongs to step.sequences[i]. C = channels().
struct KdaSlot
{
    float *state = nullptr; // [heads, d key, d value] before the recorded rows
    float *window = nullptr; // [3, 3*C] pre-convolution rows before the recorded ones, oldest first
    // The rows of the last decode step, [kMaxSequenceRows, ...].
    float *input = nullptr; // 3*C, before the convolution
    float *u = nullptr; // 3*C, normalised q|k|v
    float *g = nullptr; // C
    float *beta = nullptr; // heads
};

// What the layers' mixing starts from:
//   u[t, c] = silu(sum_j conv[c, j] z[t - 3 + j, c]), then q and k divided by sqrt(sum x^2 + 1e-6)
//     per head and q also by sqrt(d); rows before the sequence's first come from its window
//   g[t, h, c] = lowerBound * sigmoid(exp(aLog[h]) * (g[t, h, c] + dtBias[h, c])) in place, the
//     logarithm of the decay; beta = sigmoid(beta) in place
// u, z [rows, 3*C]; g [rows, C]; beta [rows, heads]; conv [3*C, 4]; dtBias [C]; aLog [heads].
// The recorded inputs are folded into the window first. Decode then records z; prefill moves the
// window on to its last 3 rows.
void launchKdaPrepare(std::span<float> u, std::span<float> g, std::span<float> beta,
                      std::span<const float> z, std::span<const float> conv,
                      std::span<const float> dtBias, std::span<const float> aLog,
                      std::span<const KdaSlot> slots, const Step &step, RowClass rowClass,
                      const KdaShape &shape, Stream &stream);

// Decode and verification, at most kMaxSequenceRows rows a sequence: applies the recorded rows to
// the state (its one read and one write), then runs the rows on a copy of it. o [rows, C].
void launchKdaDecode(std::span<float> o, std::span<const float> u, std::span<const float> g,
                     std::span<const float> beta, std::span<const KdaSlot> slots, const Step &step,
                     const KdaShape &shape, Stream &stream);

// Bytes of scratch of a step, 256-byte aligned, where the stream runs; may be none.
std::size_t kdaScratchBytes(const KdaShape &shape, std::int64_t rows, RowClass rowClass,
                            const Stream &stream);

// Any number of rows: applies the recorded rows, then the step's in chunks of 64 from the first row
// of each sequence, to the state.
void launchKdaPrefill(std::span<float> o, std::span<const float> u, std::span<const float> g,
                      std::span<const float> beta, std::span<const KdaSlot> slots, const Step &step,
                      const KdaShape &shape, std::span<std::byte> scratch, Stream &stream);

// y[t, h] = o / sqrt(mean(o^2) + eps) * weight * sigmoid(gate), per head. y, o, gate [rows, C];
// weight [d]; y may be o. Decode: u, g and beta of the rows become the sequence's records.
void launchKdaFinish(std::span<float> y, std::span<const float> o, std::span<const float> gate,
                     std::span<const float> weight, float eps, std::span<const float> u,
                     std::span<const float> g, std::span<const float> beta,
                     std::span<const KdaSlot> slots, const Step &step, RowClass rowClass,
                     const KdaShape &shape, Stream &stream);

} // namespace firesteel::kernels
