// SPDX-License-Identifier: MIT
//
// Feed-forward sublayers: the dense clamped-SwiGLU MLP, and the mixture of experts with its shared
// expert.
#pragma once

#include "engine/model/weight_reader.h"
#include "engine/model/workspace.h"
#include "kernels/common/stream.h"
#include "kernels/moe/moe.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace firesteel::engine {

// y = down(silu(min(gate x, limit)) * clamp(up x, -limit, limit))
class DenseMlp
{
public:
    // prefix: "….mlp." or "….mlp.shared_experts."
    DenseMlp(WeightReader &weights, const std::string &prefix, std::int64_t width);

    // y, x [rows, hidden].
    void forward(std::span<float> y, std::span<const float> x, RowClass rowClass, std::int64_t rows,
                 Workspace &workspace, kernels::Stream &stream) const;

private:
    std::int64_t m_width;
    float m_limit;
    LinearWeight m_gate, m_up, m_down;
};

class MoeLayer
{
public:
    // prefix: "model.language_model.layers.N.mlp."
    MoeLayer(WeightReader &weights, const std::string &prefix);

    // y, x [rows, hidden]: y <- the routed experts' weighted sum; the shared expert's output, which
    // is to be added, stays in workspace.mlp.shared.
    void forward(std::span<float> y, std::span<const float> x, RowClass rowClass, std::int64_t rows,
                 Workspace &workspace, kernels::Stream &stream) const;

private:
    // Fills one of the tables below from m_expertWeights.
    void tabulateExperts(WeightReader &weights, const std::string &prefix);
    // After the experts ran: their inputs are x and what is left in the workspace.
    void observeExperts(std::span<const float> x, std::int64_t rows,
                        const Workspace &workspace) const;

    kernels::MoeShape m_shape;
    LinearWeight m_router;
    kernels::Buffer<float> m_routerBias;
    std::vector<LinearWeight> m_expertWeights; // gate, up and down of each expert
    kernels::Buffer<kernels::ExpertWeights> m_experts; // where they are plain or decoded
    kernels::Buffer<kernels::Exl3Expert> m_exl3Experts; // where they are kept as EXL3
    kernels::Exl3MoeShape m_exl3Shape;
    DenseMlp m_shared;
};

} // namespace firesteel::engine
