// SPDX-License-Identifier: MIT
#include "kernels/common/tensor.h"

#include <bit>

namespace firesteel::kernels {

float elementOf(const Matrix &matrix, std::int64_t index)
{
    if (matrix.dtype == DType::F32)
        return static_cast<const float *>(matrix.data)[index];
    const std::uint16_t bits = static_cast<const std::uint16_t *>(matrix.data)[index];
    if (matrix.dtype == DType::BF16)
        return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
    return static_cast<float>(std::bit_cast<_Float16>(bits));
}

} // namespace firesteel::kernels
