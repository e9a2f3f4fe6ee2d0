// SPDX-License-Identifier: MIT
//
// One KDA linear-attention sublayer: projections, short convolution, gates, delta rule, gated
// output norm.
#pragma once

#include "engine/model/step_tables.h"
#include "engine/model/weight_reader.h"
#include "engine/model/workspace.h"
#include "kernels/common/stream.h"
#include "kernels/kda/kda.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace firesteel::engine {

class KdaLayer
{
public:
    // prefix: "model.language_model.layers.N.self_attn."; stateIndex: of this layer's KdaState in a
    // SequenceState.
    KdaLayer(WeightReader &weights, const std::string &prefix, int stateIndex);

    // y, x [rows, hidden]. Prefill updates the states of the step's sequences; decode leaves the
    // rows recorded in them.
    void forward(std::span<float> y, std::span<const float> x, const StepTables &tables,
                 RowClass rowClass, Workspace &workspace, kernels::Stream &stream) const;

    static kernels::KdaShape kernelShape(const ModelShape &shape);

private:
    int m_stateIndex;
    kernels::KdaShape m_shape;
    float m_normEps;
    std::vector<LinearWeight> m_qkv; // one matrix of 3 * channels outputs, or q, k and v
    LinearWeight m_fA, m_fB, m_gA, m_gB, m_beta, m_output;
    kernels::Buffer<float> m_conv; // [3 * channels, 4]
    kernels::Buffer<float> m_dtBias, m_aLog, m_outputNorm;
};

} // namespace firesteel::engine
