// SPDX-License-Identifier: MIT
//
// Non-owning views of weights as they lie in a checkpoint. Kernels read BF16, F16 and F32 in place.
#pragma once

#include <cstddef>
#include <cstdint>

namespace firesteel::kernels {

enum class DType : std::uint8_t { F32, F16, BF16 };

constexpr std::size_t dtypeBytes(DType dtype) { return dtype == DType::F32 ? 4 : 2; }

// Row-major [rows, cols]. A vector is [1, cols]. Aligned to its element size only.
struct Matrix
{
    const void *data = nullptr;
    DType dtype = DType::F32;
    std::int64_t rows = 0;
    std::int64_t cols = 0;
};

// One element widened to float32 (exact); index in row-major order. For small tensors, not for
// loops that matter.
float elementOf(const Matrix &matrix, std::int64_t index);

} // namespace firesteel::kernels
