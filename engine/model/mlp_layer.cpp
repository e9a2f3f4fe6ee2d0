// SPDX-License-Identifier: MIT
#include "engine/model/mlp_layer.h"

#include <algorithm>
#include <stdexcept>

namespace firesteel::engine {

DenseMlp::DenseMlp(WeightReader &weights, const std::string &prefix, std::int64_t width)
    : m_width(width)
    , m_limit(weights.shape().moe.swigluLimit)
{
    const std::int64_t hidden = weights.shape().hiddenSize;
    m_gate = weights.linear(prefix + "gate_proj", width, hidden);
    m_up = weights.linear(prefix + "up_proj", width, hidden);
    m_down = weights.linear(prefix + "down_proj", hidden, width);
}

void DenseMlp::forward(std::span<float> y, std::span<const float> x, RowClass rowClass,
                       std::int64_t rows, Workspace &workspace, kernels::Stream &stream) const
{
    const std::span<float> gate = rowsOf(workspace.mlp.gate, m_width, rows);
    const std::span<float> up = rowsOf(workspace.mlp.up, m_width, rows);
    LinearWeight::forwardAll({ { m_gate, gate, x }, { m_up, up, x } }, rowClass, rows, workspace,
                             stream);
    kernels::launchSwiglu(gate, gate, up, m_limit, stream);
    m_down.forward(y, gate, rowClass, rows, workspace, stream);
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
    m_router = weights.linear(prefix + "gate", m_shape.experts, m_shape.hidden);
    m_routerBias = weights.values(prefix + "gate.e_score_correction_bias", { m_shape.experts });
    m_expertWeights.reserve(static_cast<std::size_t>(m_shape.experts) * 3);
    for (std::int64_t e = 0; e < m_shape.experts; ++e) {
        const std::string expert = prefix + "experts." + std::to_string(e) + ".";
        m_expertWeights.push_back(
            weights.linear(expert + "gate_proj", m_shape.expertWidth, m_shape.hidden));
        m_expertWeights.push_back(
            weights.linear(expert + "up_proj", m_shape.expertWidth, m_shape.hidden));
        m_expertWeights.push_back(
            weights.linear(expert + "down_proj", m_shape.hidden, m_shape.expertWidth));
    }
    if (!weights.error())
        tabulateExperts(weights, prefix);
}

void MoeLayer::tabulateExperts(WeightReader &weights, const std::string &prefix)
{
    const auto isKept = [](const LinearWeight &weight) { return weight.exl3() != nullptr; };
    if (std::ranges::none_of(m_expertWeights, isKept)) {
        std::vector<kernels::ExpertWeights> table;
        for (std::size_t i = 0; i < m_expertWeights.size(); i += 3)
            table.push_back({ .gate = *m_expertWeights[i].matrix(),
                              .up = *m_expertWeights[i + 1].matrix(),
                              .down = *m_expertWeights[i + 2].matrix() });
        m_experts = weights.placed(table);
        weights.notePlainExperts();
        return;
    }
    // One kernel multiplies with all of them, so they must be of one kind.
    for (std::size_t i = 0; i < m_expertWeights.size(); ++i) {
        const kernels::Exl3Matrix *first = m_expertWeights[i % 3].exl3();
        const kernels::Exl3Matrix *other = m_expertWeights[i].exl3();
        if (first == nullptr || other == nullptr || first->rate != other->rate
            || m_expertWeights[0].exl3()->codebook != other->codebook) {
            weights.fail(ErrorCode::UnsupportedModel,
                         prefix
                             + "experts differ in rate or codebook, or some are plain: they can "
                               "only be used decoded, for which memory is short");
            return;
        }
    }
    std::vector<kernels::Exl3Expert> table;
    for (std::size_t i = 0; i < m_expertWeights.size(); i += 3)
        table.push_back({ .gate = *m_expertWeights[i].exl3(),
                          .up = *m_expertWeights[i + 1].exl3(),
                          .down = *m_expertWeights[i + 2].exl3() });
    m_exl3Experts = weights.placed(table);
    const kernels::Exl3Expert &expert = table.front();
    m_exl3Shape = { .hidden = m_shape.hidden,
                    .width = m_shape.expertWidth,
                    .experts = m_shape.experts,
                    .expertsPerToken = m_shape.expertsPerToken,
                    .swigluLimit = m_shape.swigluLimit,
                    .gateRate = expert.gate.rate,
                    .upRate = expert.up.rate,
                    .downRate = expert.down.rate,
                    .codebook = expert.gate.codebook };
    weights.noteKeptExperts(m_exl3Shape);
}

void MoeLayer::observeExperts(std::span<const float> x, std::int64_t rows,
                              const Workspace &workspace) const
{
    if (!m_exl3Experts.empty())
        throw std::logic_error("MoeLayer: experts kept as EXL3 do not show their inputs");
    const auto &w = workspace.mlp;
    const auto width = static_cast<std::size_t>(m_shape.expertWidth);
    const auto slots = static_cast<std::size_t>(rows * m_shape.expertsPerToken);
    const std::span<const std::int32_t> ids = w.experts;
    const std::span<const float> activated = w.expertGate;
    std::vector<float> chosen;
    for (std::size_t e = 0; e < m_experts.size(); ++e) {
        m_expertWeights[3 * e].observe(x, rows, workspace);
        m_expertWeights[3 * e + 1].observe(x, rows, workspace);
        chosen.clear();
        for (std::size_t slot = 0; slot < slots; ++slot)
            if (ids[slot] == static_cast<std::int32_t>(e)) {
                const std::span<const float> row = activated.subspan(slot * width, width);
                chosen.insert(chosen.end(), row.begin(), row.end());
            }
        m_expertWeights[3 * e + 2].observe(chosen, static_cast<std::int64_t>(chosen.size() / width),
                                           workspace);
    }
}

void MoeLayer::forward(std::span<float> y, std::span<const float> x, RowClass rowClass,
                       std::int64_t rows, Workspace &workspace, kernels::Stream &stream) const
{
    auto &w = workspace.mlp;
    m_router.forward(w.logits, x, rowClass, rows, workspace, stream);
    kernels::launchMoeRouter(w.experts, w.weights, w.logits, m_routerBias, m_shape, rows, stream);
    if (!workspace.routing.empty())
        kernels::copyWithin(w.experts.data(), workspace.routing.data(),
                            static_cast<std::size_t>(rows * m_shape.expertsPerToken)
                                * sizeof(std::int32_t),
                            stream);
    if (m_exl3Experts.empty())
        kernels::launchMoeExperts(y, x, w.experts, w.weights, m_experts,
                                  { w.expertGate, w.expertUp, w.expertOutput }, m_shape, rows,
                                  stream);
    else
        kernels::launchExl3Experts(y, x, w.experts, w.weights, m_exl3Experts, m_exl3Shape, rows,
                                   rowClass, { workspace.scratch }, stream);
    if (workspace.linearObserver)
        observeExperts(x, rows, workspace);
    const std::span<float> shared = rowsOf(w.shared, m_shape.hidden, rows);
    m_shared.forward(shared, x, rowClass, rows, workspace, stream);
}

} // namespace firesteel::engine
