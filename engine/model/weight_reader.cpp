// SPDX-License-Identifier: MIT
#include "engine/model/weight_reader.h"

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
    for (std::size_t i = 0; i < result.size(); ++i)
        result[i] = kernels::elementOf(m, static_cast<std::int64_t>(i));
    return result;
}

} // namespace firesteel::engine
