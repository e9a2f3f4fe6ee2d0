// SPDX-License-Identifier: MIT
//
// Kimi Delta Attention (KDA): a gated delta rule with one decay per key channel (docs/model.md,
// section KDA). Rows are laid out q|k|v: u[t] = [q (H*d), k (H*d), v (H*d)], width 3*H*d.
//
// Per head, with state S [d key][d value]:
//   S <- diag(exp(g)) S;  u = beta (v - S^T k);  S <- S + k u^T;  o = S^T q
#pragma once

#include "kernels/common/stream.h"

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
inline constexpr std::int64_t kKdaConvTaps = 4; // the window holds the last 3 inputs
inline constexpr std::int64_t kKdaWindow = kKdaConvTaps - 1;
inline constexpr std::int64_t kKdaChunk = 64; // rows of one chunk of the prefill form

// Causal depthwise convolution and SiLU: u[t, c] = silu(sum_j w[c, j] z[t - 3 + j, c]); rows before
// the first come from `window` [3, channels], oldest first. u, z [rows, channels]; w [channels, 4].
void launchKdaConv(std::span<float> u, std::span<const float> z, std::span<const float> window,
                   std::span<const float> w, std::int64_t rows, Stream &stream);

// window <- the last 3 rows of (window, z[0..rows)).
void launchKdaShiftWindow(std::span<float> window, std::span<const float> z, std::int64_t channels,
                          std::int64_t rows);

// q and k of u [rows, 3*H*d] in place: x / sqrt(sum x^2 + 1e-6) per head, q also times d^-0.5.
void launchKdaNormalize(std::span<float> u, const KdaShape &shape, std::int64_t rows,
                        Stream &stream);

// g[t, h, c] = lowerBound * sigmoid(exp(aLog[h]) * (f[t, h, c] + dtBias[h, c])), the logarithm of
// the decay; in place on f. beta = sigmoid(beta) in place.  g [rows, H*d]; beta [rows, H].
void launchKdaGates(std::span<float> g, std::span<float> beta, std::span<const float> dtBias,
                    std::span<const float> aLog, const KdaShape &shape, std::int64_t rows,
                    Stream &stream);

// Prefill: any number of rows, cut into chunks of 64 from the first one. o [rows, H*d]; state [H,
// d, d] is updated.
void launchKdaChunks(std::span<float> o, std::span<float> state, std::span<const float> u,
                     std::span<const float> g, std::span<const float> beta, const KdaShape &shape,
                     std::int64_t rows, Stream &stream);

// Rows of an earlier step whose effect on the state is still to be applied.
struct KdaRecords
{
    std::span<const float> u; // [rows, 3*H*d] normalised
    std::span<const float> g; // [rows, H*d]
    std::span<const float> beta; // [rows, H]
    std::int64_t rows = 0;
};

// Decode and verification: applies `accepted` to the state (its only write), then runs `rows` on a
// copy of it.
void launchKdaRecurrent(std::span<float> o, std::span<float> state, const KdaRecords &accepted,
                        const KdaRecords &rows, const KdaShape &shape, Stream &stream);

// y[t, h] = o / sqrt(mean(o^2) + eps) * weight * sigmoid(gate), per head. y, o, gate [rows, H*d];
// weight [d]. y may be o.
void launchKdaOutput(std::span<float> y, std::span<const float> o, std::span<const float> gate,
                     std::span<const float> weight, float eps, const KdaShape &shape,
                     std::int64_t rows, Stream &stream);

} // namespace firesteel::kernels
