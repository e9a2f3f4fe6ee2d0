// SPDX-License-Identifier: MIT
//
// Plain matrix products with weights as stored (BF16, F16, F32), and the embedding lookup.
// Quantised linears have their own family. Activations are float32.
#pragma once

#include "kernels/common/stream.h"
#include "kernels/common/tensor.h"

#include <cstdint>
#include <span>

namespace firesteel::kernels {

// y[t * yStride + n] = sum_k x[t, k] w[n, k] for n < w.rows.  x [rows, w.cols]; w.cols % 8 == 0;
// yStride >= w.rows, 0 means w.rows. A row's result depends on that row alone, bit for bit, at
// every row count.
void launchLinear(std::span<float> y, std::span<const float> x, const Matrix &w, std::int64_t rows,
                  Stream &stream, std::int64_t yStride = 0);

// y[t, :] = table[ids[t], :].  Ids must be in range.
void launchEmbed(std::span<float> y, std::span<const std::int32_t> ids, const Matrix &table,
                 Stream &stream);

} // namespace firesteel::kernels
