// SPDX-License-Identifier: MIT
//
// KDA of one sequence on the CPU, piece by piece; kda_step_reference.cpp puts the pieces together
// for the sequences of a step. Layouts as in kda.h.
#pragma once

#include "kernels/kda/kda.h"

namespace firesteel::kernels::reference {

// Causal depthwise convolution and SiLU: u[t, c] = silu(sum_j w[c, j] z[t - 3 + j, c]); rows before
// the first come from `window` [3, channels], oldest first. u, z [rows, channels]; w [channels, 4].
void kdaConv(std::span<float> u, std::span<const float> z, std::span<const float> window,
             std::span<const float> w, std::int64_t rows, ThreadPool &pool);

// window <- the last 3 rows of (window, z[0..rows)).
void kdaShiftWindow(std::span<float> window, std::span<const float> z, std::int64_t channels,
                    std::int64_t rows);

// q and k of u [rows, 3*H*d] in place.
void kdaNormalize(std::span<float> u, const KdaShape &shape, std::int64_t rows, ThreadPool &pool);

// g [rows, H*d] and beta [rows, H] in place.
void kdaGates(std::span<float> g, std::span<float> beta, std::span<const float> dtBias,
              std::span<const float> aLog, const KdaShape &shape, std::int64_t rows,
              ThreadPool &pool);

// Prefill: any number of rows, cut into chunks of 64 from the first one. o [rows, H*d]; state [H,
// d, d] is updated.
void kdaChunks(std::span<float> o, std::span<float> state, std::span<const float> u,
               std::span<const float> g, std::span<const float> beta, const KdaShape &shape,
               std::int64_t rows, ThreadPool &pool);

struct KdaRecords
{
    std::span<const float> u; // [rows, 3*H*d] normalised
    std::span<const float> g; // [rows, H*d]
    std::span<const float> beta; // [rows, H]
    std::int64_t rows = 0;
};

// Applies `accepted` to the state, then runs `rows` on a copy of it.
void kdaRecurrent(std::span<float> o, std::span<float> state, const KdaRecords &accepted,
                  const KdaRecords &rows, const KdaShape &shape, ThreadPool &pool);

// The norm and gate of launchKdaFinish.
void kdaOutput(std::span<float> y, std::span<const float> o, std::span<const float> gate,
               std::span<const float> weight, float eps, const KdaShape &shape, std::int64_t rows,
               ThreadPool &pool);

} // namespace firesteel::kernels::reference
