// SPDX-License-Identifier: MIT
#include "engine/model/linear_weight.h"

#include "kernels/linear/linear.h"

#include <algorithm>
#include <utility>

namespace firesteel::engine {

LinearWeight::LinearWeight(std::string module, const kernels::Matrix &plain)
    : m_module(std::move(module))
    , m_matrix(plain)
{
}

LinearWeight::LinearWeight(std::string module, const kernels::Exl3Matrix &exl3)
    : m_module(std::move(module))
    , m_exl3(exl3)
{
}

LinearWeight LinearWeight::decoded(std::string module, const kernels::Exl3Matrix &exl3,
                                   kernels::ThreadPool &pool)
{
    LinearWeight weight;
    weight.m_module = std::move(module);
    const auto count = static_cast<std::size_t>(exl3.in) * static_cast<std::size_t>(exl3.out);
    weight.m_values = std::make_unique_for_overwrite<float[]>(count);
    kernels::dequantizeExl3({ weight.m_values.get(), count }, exl3, pool);
    weight.m_matrix = { .data = weight.m_values.get(),
                        .dtype = kernels::DType::F32,
                        .rows = exl3.out,
                        .cols = exl3.in };
    return weight;
}

std::int64_t LinearWeight::outputs() const { return m_exl3 ? m_exl3->out : m_matrix.rows; }

std::int64_t LinearWeight::inputs() const { return m_exl3 ? m_exl3->in : m_matrix.cols; }

void LinearWeight::forward(std::span<float> y, std::span<const float> x, RowClass rowClass,
                           std::int64_t rows, Workspace &workspace, kernels::Stream &stream,
                           std::int64_t yStride) const
{
    observe(x, rows, workspace);
    if (!m_exl3) {
        kernels::launchLinear(y, x, m_matrix, rows, stream, yStride);
        return;
    }
    const kernels::Exl3Scratch scratch { workspace.exl3.scratch };
    if (yStride == 0 || yStride == outputs()) {
        kernels::launchExl3Linear(y, x, *m_exl3, rows, rowClass, scratch, stream);
        return;
    }
    const std::span<float> dense = rowsOf(workspace.exl3.output, outputs(), rows);
    kernels::launchExl3Linear(dense, x, *m_exl3, rows, rowClass, scratch, stream);
    for (std::int64_t t = 0; t < rows; ++t)
        std::ranges::copy(rowsOf(workspace.exl3.output, outputs(), 1, t), y.begin() + t * yStride);
}

} // namespace firesteel::engine
