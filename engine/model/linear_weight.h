// SPDX-License-Identifier: MIT
//
// The weights of one linear layer, y = x W^T, in whichever form they are used: plain where the
// checkpoint maps them, decoded from EXL3 when they were read, or EXL3 all the way. Layers do not
// see the difference.
#pragma once

#include "engine/model/workspace.h"
#include "kernels/common/stream.h"
#include "kernels/common/tensor.h"
#include "kernels/exl3/exl3.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

namespace firesteel::engine {

class LinearWeight
{
public:
    LinearWeight() = default; // no rows; what a reader gives after an error
    explicit LinearWeight(const kernels::Matrix &plain);
    explicit LinearWeight(const kernels::Exl3Matrix &exl3);
    // A float32 matrix of its own; the EXL3 matrix is needed until this returns.
    static LinearWeight decoded(const kernels::Exl3Matrix &exl3, kernels::ThreadPool &pool);

    std::int64_t outputs() const;
    std::int64_t inputs() const;

    // Exactly one of these is there: the kernels that multiply with several matrices at once take
    // a table of one kind.
    const kernels::Exl3Matrix *exl3() const { return m_exl3 ? &*m_exl3 : nullptr; }
    const kernels::Matrix *matrix() const { return m_exl3 ? nullptr : &m_matrix; }

    // y[t * yStride + n] = sum_k x[t, k] W[n, k] for n < outputs(); yStride 0 means outputs().
    void forward(std::span<float> y, std::span<const float> x, RowClass rowClass, std::int64_t rows,
                 Workspace &workspace, kernels::Stream &stream, std::int64_t yStride = 0) const;

private:
    kernels::Matrix m_matrix;
    std::unique_ptr<float[]> m_values; // of a decoded matrix
    std::optional<kernels::Exl3Matrix> m_exl3;
};

} // namespace firesteel::engine
