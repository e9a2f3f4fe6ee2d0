// SPDX-License-Identifier: MIT
//
// The inner product block shared by the CPU kernels that read weight matrices (linear, moe, hyper,
// mla).
#pragma once

#include "kernels/common/tensor.h"

#include <cstdint>
#include <span>

namespace firesteel::kernels {

// y[r][n] = sum_k x[r][k] w[n, k] for every row r and firstColumn <= n < lastColumn; y[r] points at
// column 0 of row r. Each (r, n) is summed over k in the same order whatever the block: eight
// lanes, then sum8.
void dotBlock(std::span<float *const> y, std::span<const float *const> x, const Matrix &w,
              std::int64_t firstColumn, std::int64_t lastColumn);

// Rows of a row-major [rows, cols] buffer are addressed by at most this many pointers per dotBlock
// call.
inline constexpr int kDotRows = 64;

} // namespace firesteel::kernels
