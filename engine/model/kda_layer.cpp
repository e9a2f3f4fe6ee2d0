// SPDX-License-Identifier: MIT
#include "engine/model/kda_layer.h"

#include <array>

namespace firesteel::engine {

using kernels::kKdaConvTaps;

kernels::KdaShape KdaLayer::kernelShape(const ModelShape &shape)
{
    return { .heads = shape.kda.heads,
             .headDim = shape.kda.headDim,
             .gateLowerBound = shape.kda.gateLowerBound };
}

KdaLayer::KdaLayer(WeightReader &weights, const std::string &prefix, int stateIndex)
    : m_stateIndex(stateIndex)
    , m_shape(kernelShape(weights.shape()))
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
        m_conv = weights.values(std::array { prefix + "q_conv1d.weight", prefix + "k_conv1d.weight",
                                             prefix + "v_conv1d.weight" },
                                { channels, 1, kKdaConvTaps });
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

void KdaLayer::forward(std::span<float> y, std::span<const float> x, const StepTables &tables,
                       RowClass rowClass, Workspace &workspace, kernels::Stream &stream) const
{
    auto &w = workspace.kda;
    const std::int64_t rows = tables.rows();
    const std::int64_t channels = m_shape.channels();
    std::int64_t column = 0;
    for (const LinearWeight &part : m_qkv) {
        part.forward(w.z.span().subspan(static_cast<std::size_t>(column)), x, rowClass, rows,
                     workspace, stream, 3 * channels);
        column += part.outputs();
    }
    LinearWeight::forwardAll({ { m_fA, w.gLow, x }, { m_gA, w.gateLow, x }, { m_beta, w.beta, x } },
                             rowClass, rows, workspace, stream);
    LinearWeight::forwardAll({ { m_fB, w.g, w.gLow }, { m_gB, w.gate, w.gateLow } }, rowClass, rows,
                             workspace, stream);
    const std::span<const kernels::KdaSlot> slots = tables.kda(m_stateIndex);
    const kernels::Step &step = tables.step();
    kernels::launchKdaPrepare(w.u, w.g, w.beta, w.z, m_conv, m_dtBias, m_aLog, slots, step,
                              rowClass, m_shape, stream);
    if (rowClass == RowClass::Prefill)
        kernels::launchKdaPrefill(w.o, w.u, w.g, w.beta, slots, step, m_shape, workspace.scratch,
                                  stream);
    else
        kernels::launchKdaDecode(w.o, w.u, w.g, w.beta, slots, step, m_shape, stream);
    kernels::launchKdaFinish(w.o, w.o, w.gate, m_outputNorm, m_normEps, w.u, w.g, w.beta, slots,
                             step, rowClass, m_shape, stream);
    m_output.forward(y, rowsOf(w.o, channels, rows), rowClass, rows, workspace, stream);
}

} // namespace firesteel::engine
