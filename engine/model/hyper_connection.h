// SPDX-License-Identifier: MIT
//
// One mHC site: mixes the residual streams into a sublayer's input and says how its output is to be
// written back into them, which the next site does.
#pragma once

#include "engine/model/weight_reader.h"
#include "engine/model/workspace.h"
#include "kernels/common/stream.h"
#include "kernels/hyper/hyper.h"

#include <cstdint>
#include <span>
#include <string>

namespace firesteel::engine {

class HyperConnection
{
public:
    // site: "model.language_model.layers.N.hc_attn" or "….hc_ffn"; norm: the sublayer's input norm,
    // by full name.
    HyperConnection(WeightReader &weights, const std::string &site, const std::string &norm);

    // Applies what is owed to the streams, then workspace.input <- the sublayer's input.
    void enter(const kernels::HyperUpdate &owed, std::int64_t rows, Workspace &workspace,
               kernels::Stream &stream) const;

    // What the streams are owed once the sublayer has written workspace.output; a sublayer may
    // leave a second part elsewhere.
    static kernels::HyperUpdate owed(const Workspace &workspace,
                                     std::span<const float> addend = {});

private:
    kernels::HyperShape m_shape;
    kernels::Matrix m_fn;
    kernels::Buffer<float> m_base, m_scale, m_norm;
};

kernels::HyperShape hyperShape(const ModelShape &shape);

} // namespace firesteel::engine
