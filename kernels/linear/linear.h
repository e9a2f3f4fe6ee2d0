// SPDX-License-Identifier: MIT
//
// Plain matrix products with weights as stored (BF16, F16, F32), and the embedding lookup.
// Quantised linears have their own family. Activations are float32.
#pragma once

#include "kernels/common/row_class.h"
#include "kernels/common/stream.h"
#include "kernels/common/tensor.h"

#include <cstdint>
#include <span>

namespace firesteel::kernels {

// One product: y[t * yStride + n] = sum_k x[t, k] w[n, k] for n < w.rows.  x [rows, w.cols];
// w.cols % 8 == 0; yStride >= w.rows, 0 means w.rows.
struct LinearPart
{
    std::span<float> y;
    std::span<const float> x;
    Matrix w;
    std::int64_t yStride = 0;
};

// Products that one call may hold.
inline constexpr std::size_t kMaxLinearParts = 4;

// Several products with the same rows, up to kMaxLinearParts, in one launch. In each class a row's
// result depends on that row alone, bit for bit, at every row count.
void launchLinears(std::span<const LinearPart> parts, std::int64_t rows, RowClass rowClass,
                   Stream &stream);

// One of them.
void launchLinear(std::span<float> y, std::span<const float> x, const Matrix &w, std::int64_t rows,
                  RowClass rowClass, Stream &stream, std::int64_t yStride = 0);

// y[t, s, :] = table[ids[t], :] for s < copies.  The CPU refuses ids outside the table; on the
// device they must be in range.
void launchEmbed(std::span<float> y, std::span<const std::int32_t> ids, const Matrix &table,
                 std::int64_t copies, Stream &stream);

// y[t * yStride + c] = x[t, c]: rows into a wider buffer.  x [rows, columns].
void launchCopyRows(std::span<float> y, std::int64_t yStride, std::span<const float> x,
                    std::int64_t columns, std::int64_t rows, Stream &stream);

} // namespace firesteel::kernels
