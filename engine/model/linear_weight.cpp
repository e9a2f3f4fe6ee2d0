// SPDX-License-Identifier: MIT
#include "engine/model/linear_weight.h"

#include "kernels/linear/linear.h"

#include <array>
#include <utility>
#include <vector>

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
                                   kernels::Stream &stream)
{
    LinearWeight weight;
    weight.m_module = std::move(module);
    const auto count = static_cast<std::size_t>(exl3.in) * static_cast<std::size_t>(exl3.out);
    if (stream.backend() == kernels::Backend::Cpu) {
        weight.m_values = kernels::Buffer<float>::uninitialized(count, stream);
        kernels::dequantizeExl3(weight.m_values, exl3, stream.pool());
    } else {
        std::vector<float> values(count);
        kernels::dequantizeExl3(values, exl3, stream.pool());
        weight.m_values = kernels::Buffer<float>::copyOf(values, stream);
    }
    weight.m_matrix = { .data = weight.m_values.data(),
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
        kernels::launchLinear(y, x, m_matrix, rows, rowClass, stream, yStride);
        return;
    }
    const kernels::Exl3Scratch scratch { workspace.scratch };
    if (yStride == 0 || yStride == outputs()) {
        kernels::launchExl3Linear(y, x, *m_exl3, rows, rowClass, scratch, stream);
        return;
    }
    const std::span<float> dense = rowsOf(workspace.exl3Output, outputs(), rows);
    kernels::launchExl3Linear(dense, x, *m_exl3, rows, rowClass, scratch, stream);
    kernels::launchCopyRows(y, yStride, dense, outputs(), rows, stream);
}

void LinearWeight::forwardAll(std::initializer_list<Call> calls, RowClass rowClass,
                              std::int64_t rows, Workspace &workspace, kernels::Stream &stream)
{
    std::array<kernels::LinearPart, kernels::kMaxLinearParts> plain;
    std::size_t count = 0;
    for (const Call &call : calls) {
        if (call.weight.m_exl3) {
            call.weight.forward(call.y, call.x, rowClass, rows, workspace, stream);
            continue;
        }
        call.weight.observe(call.x, rows, workspace);
        plain.at(count++) = { .y = call.y, .x = call.x, .w = call.weight.m_matrix };
    }
    kernels::launchLinears(std::span(plain).first(count), rows, rowClass, stream);
}

} // namespace firesteel::engine
