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
        return LinearWeight::decoded(module, *group, m_store.stream());
    kernels::Exl3Matrix placed = *group;
    const auto placeScales = [&](const std::uint16_t *data, std::int32_t count) {
        return static_cast<const std::uint16_t *>(
            m_store.place(data, static_cast<std::size_t>(count), kernels::DType::F16));
    };
    placed.trellis = m_store.placeTrellis(
        group->trellis, kernels::exl3TrellisBytes(*group) / sizeof(std::uint16_t));
    placed.suh = placeScales(group->suh, group->in);
    placed.svh = placeScales(group->svh, group->out);
    m_keptMatrices.push_back(placed);
    return { module, placed };
}

kernels::Matrix WeightReader::matrix(const std::string &name,
                                     std::initializer_list<std::int64_t> shape)
{
    kernels::Matrix m = mapped(name, shape);
    m.data = m_store.place(
        m.data, static_cast<std::size_t>(m.rows) * static_cast<std::size_t>(m.cols), m.dtype);
    return m;
}

kernels::Matrix WeightReader::mapped(const std::string &name,
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

kernels::Buffer<float> WeightReader::values(std::span<const std::string> names,
                                            std::initializer_list<std::int64_t> shape)
{
    std::vector<float> result;
    for (const std::string &name : names) {
        const kernels::Matrix m = mapped(name, shape);
        for (std::int64_t i = 0; i < m.rows * m.cols; ++i)
            result.push_back(m_store.isRandom() ? 1.0F : kernels::elementOf(m, i));
    }
    return kernels::Buffer<float>::copyOf(result, m_store.stream());
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
