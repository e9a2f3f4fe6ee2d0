// SPDX-License-Identifier: MIT
//
// One mHC site: mixes the residual streams into a sublayer's input and writes its output back into
// them.
#pragma once

#include "engine/model/weight_reader.h"
#include "engine/model/workspace.h"
#include "kernels/common/stream.h"
#include "kernels/hyper/hyper.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace firesteel::engine {

class HyperConnection
{
public:
    // site: "model.language_model.layers.N.hc_attn" or "….hc_ffn"; norm: the sublayer's input norm,
    // by full name.
    HyperConnection(WeightReader &weights, const std::string &site, const std::string &norm);

    // streams <- the site's update of them, where sublayer(y, x) computes y from x, both [rows,
    // hidden].
    template <typename Sublayer>
    void forward(std::int64_t rows, Workspace &workspace, kernels::Stream &stream,
                 const Sublayer &sublayer) const
    {
        enter(rows, workspace, stream);
        sublayer(rowsOf(workspace.output, m_shape.hidden, rows),
                 rowsOf(workspace.input, m_shape.hidden, rows));
        leave(rows, workspace, stream);
    }

private:
    void enter(std::int64_t rows, Workspace &workspace, kernels::Stream &stream) const;
    void leave(std::int64_t rows, Workspace &workspace, kernels::Stream &stream) const;

    kernels::HyperShape m_shape;
    kernels::Matrix m_fn;
    std::vector<float> m_base, m_scale, m_norm;
};

kernels::HyperShape hyperShape(const ModelShape &shape);

} // namespace firesteel::engine
