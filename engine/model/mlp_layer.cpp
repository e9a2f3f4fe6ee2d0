// SPDX-License-Identifier: MIT
#include "engine/model/mlp_layer.h"

#include "kernels/linear/linear.h"

namespace firesteel::engine {

DenseMlp::DenseMlp(WeightReader &weights, const std::string &prefix, std::int64_t width)
    : m_width(width)
    , m_limit(weights.shape().moe.swigluLimit)
{
    const std::int64_t hidden = weights.shape().hiddenSize;
    m_gate = weights.matrix(prefix + "gate_proj.weight", { width, hidden });
    m_up = weights.matrix(prefix + "up_proj.weight", { width, hidden });
    m_down = weights.matrix(prefix + "down_proj.weight", { hidden, width });
}

void DenseMlp::forward(std::span<float> y, std::span<const float> x, std::int64_t rows,
                       Workspace &workspace, kernels::Stream &stream) const
{
    const std::span<float> gate = rowsOf(workspace.mlp.gate, m_width, rows);
    const std::span<float> up = rowsOf(workspace.mlp.up, m_width, rows);
    kernels::launchLinear(gate, x, m_gate, rows, stream);
    kernels::launchLinear(up, x, m_up, rows, stream);
    kernels::launchSwiglu(gate, gate, up, m_limit, stream);
    kernels::launchLinear(y, gate, m_down, rows, stream);
}

MoeLayer::MoeLayer(WeightReader &weights, const std::string &prefix)
    : m_shape { .hidden = weights.shape().hiddenSize,
                .experts = weights.shape().moe.experts,
                .expertsPerToken = weights.shape().moe.expertsPerToken,
                .expertWidth = weights.shape().moe.expertWidth,
                .routedScaling = weights.shape().moe.routedScaling,
                .swigluLimit = weights.shape().moe.swigluLimit }
    , m_shared(weights, prefix + "shared_experts.",
               static_cast<std::int64_t>(weights.shape().moe.sharedExperts)
                   * weights.shape().moe.expertWidth)
{
    m_router = weights.matrix(prefix + "gate.weight", { m_shape.experts, m_shape.hidden });
    m_routerBias = weights.values(prefix + "gate.e_score_correction_bias", { m_shape.experts });
    m_experts.reserve(static_cast<std::size_t>(m_shape.experts));
    for (std::int64_t e = 0; e < m_shape.experts; ++e) {
        const std::string expert = prefix + "experts." + std::to_string(e) + ".";
        m_experts.push_back({ .gate = weights.matrix(expert + "gate_proj.weight",
                                                     { m_shape.expertWidth, m_shape.hidden }),
                              .up = weights.matrix(expert + "up_proj.weight",
                                                   { m_shape.expertWidth, m_shape.hidden }),
                              .down = weights.matrix(expert + "down_proj.weight",
                                                     { m_shape.hidden, m_shape.expertWidth }) });
    }
}

void MoeLayer::forward(std::span<float> y, std::span<const float> x, std::int64_t rows,
                       Workspace &workspace, kernels::Stream &stream) const
{
    auto &w = workspace.mlp;
    kernels::launchLinear(w.logits, x, m_router, rows, stream);
    kernels::launchMoeRouter(w.experts, w.weights, w.logits, m_routerBias, m_shape, rows, stream);
    kernels::launchMoeExperts(y, x, w.experts, w.weights, m_experts,
                              { w.expertGate, w.expertUp, w.expertOutput }, m_shape, rows, stream);
    const std::span<float> shared = rowsOf(w.shared, m_shape.hidden, rows);
    m_shared.forward(shared, x, rows, workspace, stream);
    for (std::size_t i = 0; i < shared.size(); ++i)
        y[i] += shared[i];
}

} // namespace firesteel::engine
