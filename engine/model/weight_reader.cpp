// SPDX-License-Identifier: MIT
#include "engine/model/weight_reader.h"

#include "engine/base/printable.h"
#include "engine/checkpoint/exl3_group.h"
#include "engine/checkpoint/tensor_table.h"

#include <format>
#include <utility>

namespace firesteel::engine {

bool WeightReader::has(const std::string &module) const
{
    return m_folder.contains(module + ".weight") || hasExl3Group(m_folder, module);
}

LinearWeight WeightReader::linear(const std::string &module, std::int64_t out, std::int64_t in)
{
    return read(module, out, in, m_exl3);
}

LinearWeight WeightReader::dense(const std::string &module, std::int64_t out, std::int64_t in)
{
    return read(module, out, in, Exl3Storage::Decoded);
}

LinearWeight WeightReader::table(const std::string &name, std::int64_t rows, std::int64_t cols)
{
    if (m_folder.contains(name))
        return { name, matrix(name, { rows, cols }) };
    return dense(name, rows, cols);
}

LinearWeight WeightReader::read(const std::string &module, std::int64_t out, std::int64_t in,
                                Exl3Storage exl3)
{
    if (m_error)
        return {};
    if (!hasExl3Group(m_folder, module))
        return { module, matrix(module + ".weight", { out, in }) };
    const auto group = m_folder.exl3(module, out, in);
    if (!group) {
        m_error = group.error();
        return {};
    }
    if (group->bias != nullptr) {
        fail(ErrorCode::BadCheckpoint,
             std::format("{}: tensor \"{}.bias\" belongs to a layer that has no bias",
                         printable(m_folder.directory().string()), module));
        return {};
    }
    m_parameterCount += static_cast<std::uint64_t>(out * in);
    if (exl3 == Exl3Storage::Decoded)
        return LinearWeight::decoded(module, *group, m_pool);
    m_keptMatrices.push_back(*group);
    return { module, *group };
}

kernels::Matrix WeightReader::matrix(const std::string &name,
                                     std::initializer_list<std::int64_t> shape)
{
    if (m_error)
        return {};
    Result<kernels::Matrix> result = m_folder.matrix(name, shape);
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

void WeightReader::fail(ErrorCode code, std::string message)
{
    if (!m_error)
        m_error = Error { code, std::move(message) };
}

std::uint64_t decodedExl3Bytes(const Checkpoint &checkpoint)
{
    std::uint64_t bytes = 0;
    for (const ExpectedTensor &tensor : expectedTensors(checkpoint)) {
        const bool isText
            = tensor.component != Component::Vision && tensor.component != Component::Mtp;
        if (isText && tensor.isLinear && hasExl3Group(checkpoint, tensor.module()))
            bytes += static_cast<std::uint64_t>(tensor.shape[0])
                * static_cast<std::uint64_t>(tensor.shape[1]) * sizeof(float);
    }
    return bytes;
}

} // namespace firesteel::engine
