// SPDX-License-Identifier: MIT
#include "engine/model/kda_layer.h"

#include <algorithm>

namespace firesteel::engine {

using kernels::kKdaConvTaps;

KdaLayer::KdaLayer(WeightReader &weights, const std::string &prefix, int stateIndex)
    : m_stateIndex(stateIndex)
    , m_shape { .heads = weights.shape().kda.heads,
                .headDim = weights.shape().kda.headDim,
                .gateLowerBound = weights.shape().kda.gateLowerBound }
    , m_normEps(weights.shape().rmsNormEps)
{
    const std::int64_t hidden = weights.shape().hiddenSize;
    const std::int64_t channels = m_shape.channels();
    const std::int64_t dim = m_shape.headDim;
    if (weights.has(prefix + "qkv_proj"))
        m_qkv.push_back(weights.linear(prefix + "qkv_proj", 3 * channels, hidden));
    else
        for (const char *name : { "q_proj", "k_proj", "v_proj" })
            m_qkv.push_back(weights.linear(prefix + name, channels, hidden));
    if (weights.has(prefix + "conv1d"))
        m_conv = weights.values(prefix + "conv1d.weight", { 3 * channels, 1, kKdaConvTaps });
    else
        for (const char *name : { "q_conv1d.weight", "k_conv1d.weight", "v_conv1d.weight" }) {
            const std::vector<float> taps
                = weights.values(prefix + name, { channels, 1, kKdaConvTaps });
            m_conv.insert(m_conv.end(), taps.begin(), taps.end());
        }
    m_fA = weights.linear(prefix + "f_a_proj", dim, hidden);
    m_fB = weights.linear(prefix + "f_b_proj", channels, dim);
    m_gA = weights.linear(prefix + "g_a_proj", dim, hidden);
    m_gB = weights.linear(prefix + "g_b_proj", channels, dim);
    m_beta = weights.linear(prefix + "b_proj", m_shape.heads, hidden);
    m_dtBias = weights.values(prefix + "dt_bias", { channels });
    m_aLog = weights.values(prefix + "A_log", { m_shape.heads });
    m_outputNorm = weights.values(prefix + "o_norm.weight", { dim });
    m_output = weights.linear(prefix + "o_proj", hidden, channels);
}

void KdaLayer::forward(std::span<float> y, std::span<const float> x,
                       std::span<const RowGroup> groups, RowClass rowClass, std::int64_t rows,
                       Workspace &workspace, kernels::Stream &stream) const
{
    auto &w = workspace.kda;
    const std::int64_t channels = m_shape.channels();
    const std::int64_t dim = m_shape.headDim;
    std::int64_t column = 0;
    for (const LinearWeight &part : m_qkv) {
        part.forward(std::span(w.z).subspan(static_cast<std::size_t>(column)), x, rowClass, rows,
                     workspace, stream, 3 * channels);
        column += part.outputs();
    }
    m_fA.forward(w.low, x, rowClass, rows, workspace, stream);
    m_fB.forward(w.g, rowsOf(w.low, dim, rows), rowClass, rows, workspace, stream);
    m_beta.forward(w.beta, x, rowClass, rows, workspace, stream);
    kernels::launchKdaGates(w.g, w.beta, m_dtBias, m_aLog, m_shape, rows, stream);
    m_gA.forward(w.low, x, rowClass, rows, workspace, stream);
    m_gB.forward(w.gate, rowsOf(w.low, dim, rows), rowClass, rows, workspace, stream);
    for (const RowGroup &group : groups)
        attend(group, rowClass, workspace, stream);
    kernels::launchKdaOutput(w.o, w.o, w.gate, m_outputNorm, m_normEps, m_shape, rows, stream);
    m_output.forward(y, rowsOf(w.o, channels, rows), rowClass, rows, workspace, stream);
}

void KdaLayer::applyRecords(KdaState &state, kernels::Stream &stream) const
{
    const kernels::KdaRecords accepted { state.recordedU, state.recordedG, state.recordedBeta,
                                         state.recordedRows };
    kernels::launchKdaRecurrent({}, state.state, accepted, {}, m_shape, stream);
}

void KdaLayer::attend(const RowGroup &group, RowClass rowClass, Workspace &workspace,
                      kernels::Stream &stream) const
{
    auto &w = workspace.kda;
    const std::int64_t channels = m_shape.channels();
    KdaState &state = group.sequence->kda(m_stateIndex);
    const std::span<float> z = rowsOf(w.z, 3 * channels, group.rows, group.firstRow);
    const std::span<float> u = rowsOf(w.u, 3 * channels, group.rows, group.firstRow);
    const std::span<float> g = rowsOf(w.g, channels, group.rows, group.firstRow);
    const std::span<float> beta = rowsOf(w.beta, m_shape.heads, group.rows, group.firstRow);
    const std::span<float> o = rowsOf(w.o, channels, group.rows, group.firstRow);

    if (state.recordedRows > 0)
        kernels::launchKdaShiftWindow(state.window, state.recordedInput, 3 * channels,
                                      state.recordedRows);
    kernels::launchKdaConv(u, z, state.window, m_conv, group.rows, stream);
    kernels::launchKdaNormalize(u, m_shape, group.rows, stream);

    if (rowClass == RowClass::Prefill) {
        if (state.recordedRows > 0)
            applyRecords(state, stream);
        state.keepRecords(0);
        kernels::launchKdaChunks(o, state.state, u, g, beta, m_shape, group.rows, stream);
        kernels::launchKdaShiftWindow(state.window, z, 3 * channels, group.rows);
        return;
    }
    const kernels::KdaRecords accepted { state.recordedU, state.recordedG, state.recordedBeta,
                                         state.recordedRows };
    kernels::launchKdaRecurrent(o, state.state, accepted, { u, g, beta, group.rows }, m_shape,
                                stream);
    state.recordedInput.assign(z.begin(), z.end());
    state.recordedU.assign(u.begin(), u.end());
    state.recordedG.assign(g.begin(), g.end());
    state.recordedBeta.assign(beta.begin(), beta.end());
    state.recordedRows = group.rows;
}

} // namespace firesteel::engine
