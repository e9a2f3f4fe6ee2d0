// SPDX-License-Identifier: MIT
#include "engine/model/weight_reader.h"

#include <bit>
#include <cstring>

namespace firesteel::engine {

kernels::Matrix WeightReader::matrix(const std::string &name,
                                     std::initializer_list<std::int64_t> shape)
{
    if (m_error)
        return {};
    Result<kernels::Matrix> result = m_checkpoint.matrix(name, shape);
    if (!result) {
        m_error = result.error();
        return {};
    }
    m_parameterCount += static_cast<std::uint64_t>(result->rows * result->cols);
    return *result;
}

std::vector<float> WeightReader::values(const std::string &name,
                                        std::initializer_list<std::int64_t> shape)
{
    const kernels::Matrix m = matrix(name, shape);
    std::vector<float> result(static_cast<std::size_t>(m.rows * m.cols));
    if (m.dtype == kernels::DType::F32) {
        if (!result.empty())
            std::memcpy(result.data(), m.data, result.size() * sizeof(float));
        return result;
    }
    const auto *bits = static_cast<const std::uint16_t *>(m.data);
    for (std::size_t i = 0; i < result.size(); ++i)
        result[i] = m.dtype == kernels::DType::BF16
            ? std::bit_cast<float>(static_cast<std::uint32_t>(bits[i]) << 16)
            : static_cast<float>(std::bit_cast<_Float16>(bits[i]));
    return result;
}

} // namespace firesteel::engine
