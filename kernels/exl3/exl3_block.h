// SPDX-License-Identifier: MIT
//
// The CPU kernels' building blocks: everything works on 128 columns at a time, the width of a
// Hadamard block and of eight tiles. A value is summed over the input in ascending order in one
// float32 chain, so a row's result never depends on the rows beside it or on the number of threads.
#pragma once

#include "kernels/exl3/exl3.h"

#include <cstdint>
#include <span>

namespace firesteel::kernels {

// Rows multiplied with one decoding of the weights: a whole decode step.
inline constexpr int kExl3BlockRows = kMaxDecodeStepRows;

// rotated = F16( (x * suh) H ) of one block of 128; the butterfly runs over strides 1, 2, .. 64.
void exl3RotateInput(std::uint16_t *rotated, const float *x, const std::uint16_t *suh);

// y[r] = (x[r] C) H * svh + bias for the 128 columns from 128 * block on.
// y: rows of 128; x: rows of m.in F16; at most kExl3BlockRows of them.
void exl3MultiplyBlock(std::span<float *const> y, std::span<const std::uint16_t *const> x,
                       const Exl3Matrix &m, std::int64_t block);

// 16 rows of C from row 16 * tileRow on, the 128 columns of a block: as F16 bits, rows `stride`
// apart.
void exl3DecodeStrip(std::uint16_t *strip, std::int64_t stride, const Exl3Matrix &m,
                     std::int64_t tileRow, std::int64_t block);

// A 128x128 block of W transposed: w[o][i], rows `stride` apart.
void exl3DequantizeBlock(float *w, std::int64_t stride, const Exl3Matrix &m, std::int64_t inBlock,
                         std::int64_t outBlock);

} // namespace firesteel::kernels
