// SPDX-License-Identifier: MIT
//
// The factorisation that error feedback needs: H = L D L^T with L unit lower triangular in blocks
// of 16 (the rows that are quantised together). Of a symmetric positive definite matrix, in double.
#pragma once

#include "kernels/common/thread_pool.h"

#include <cstdint>
#include <vector>

namespace firesteel::engine {

// h [size, size] row-major, both triangles; size is a multiple of 16. Where it is not positive
// definite, 5 % of the mean of its diagonal are added to the diagonal, up to ten times. Returns L
// [size, size] in float32; the blocks on and above the diagonal are not used and zero.
// Throws std::runtime_error when ten times are not enough.
std::vector<float> blockLdl(std::vector<double> h, std::int64_t size, kernels::ThreadPool &pool);

} // namespace firesteel::engine
