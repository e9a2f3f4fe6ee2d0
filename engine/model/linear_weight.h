// SPDX-License-Identifier: MIT
//
// The weights of one linear layer, y = x W^T, in whichever form they are used: plain where the
// checkpoint maps them, decoded from EXL3 when they were read, or EXL3 all the way. Layers do not
// see the difference.
#pragma once

#include "engine/model/workspace.h"
#include "kernels/common/buffer.h"
#include "kernels/common/stream.h"
#include "kernels/common/tensor.h"
#include "kernels/exl3/exl3.h"

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>

namespace firesteel::engine {

class LinearWeight
{
public:
    LinearWeight() = default; // no rows; what a reader gives after an error
    LinearWeight(std::string module, const kernels::Matrix &plain);
    LinearWeight(std::string module, const kernels::Exl3Matrix &exl3);
    // A float32 matrix of its own; the EXL3 matrix, in host memory, is needed until this returns.
    static LinearWeight decoded(std::string module, const kernels::Exl3Matrix &exl3,
                                kernels::Stream &stream);

    std::int64_t outputs() const;
    std::int64_t inputs() const;

    // Exactly one of these is there: the kernels that multiply with several matrices at once take
    // a table of one kind.
    const kernels::Exl3Matrix *exl3() const { return m_exl3 ? &*m_exl3 : nullptr; }
    const kernels::Matrix *matrix() const { return m_exl3 ? nullptr : &m_matrix; }

    // y[t * yStride + n] = sum_k x[t, k] W[n, k] for n < outputs(); yStride 0 means outputs().
    void forward(std::span<float> y, std::span<const float> x, RowClass rowClass, std::int64_t rows,
                 Workspace &workspace, kernels::Stream &stream, std::int64_t yStride = 0) const;

    // The same for several weights with inputs of their own and the same rows, in one launch where
    // all of them are plain.
    struct Call
    {
        const LinearWeight &weight;
        std::span<float> y;
        std::span<const float> x;
    };
    static void forwardAll(std::initializer_list<Call> calls, RowClass rowClass, std::int64_t rows,
                           Workspace &workspace, kernels::Stream &stream);

    // Shows x, the layer's input, to the workspace's observer; forward() does it itself.
    void observe(std::span<const float> x, std::int64_t rows, const Workspace &workspace) const
    {
        if (workspace.linearObserver && rows > 0)
            workspace.linearObserver(m_module, x.first(static_cast<std::size_t>(rows * inputs())),
                                     rows);
    }

private:
    std::string m_module; // its name, without ".weight"
    kernels::Matrix m_matrix;
    kernels::Buffer<float> m_values; // of a decoded matrix
    std::optional<kernels::Exl3Matrix> m_exl3;
};

} // namespace firesteel::engine
