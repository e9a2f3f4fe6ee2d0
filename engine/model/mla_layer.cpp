// SPDX-License-Identifier: MIT
#include "engine/model/mla_layer.h"

#include "kernels/norm/norm.h"

namespace firesteel::engine {

kernels::MlaShape MlaLayer::kernelShape(const ModelShape &shape)
{
    return { .heads = shape.mla.heads,
             .latentDim = shape.mla.kvLoraRank,
             .keyDim = shape.mla.qkHeadDim,
             .valueDim = shape.mla.vHeadDim };
}

MlaLayer::MlaLayer(WeightReader &weights, const std::string &prefix, int cacheIndex,
                   bool hasIndexer)
    : m_cacheIndex(cacheIndex)
    , m_shape(kernelShape(weights.shape()))
    , m_maxSelected(Indexer::kernelShape(weights.shape()).maxSelected())
    , m_normEps(weights.shape().rmsNormEps)
{
    const std::int64_t hidden = weights.shape().hiddenSize;
    const std::int64_t qRank = weights.shape().mla.qLoraRank;
    m_queryA = weights.linear(prefix + "q_a_proj", qRank, hidden);
    m_queryNorm = weights.values(prefix + "q_a_layernorm.weight", { qRank });
    m_queryB = weights.linear(prefix + "q_b_proj", m_shape.heads * m_shape.keyDim, qRank);
    m_kvA = weights.linear(prefix + "kv_a_proj_with_mqa", m_shape.latentDim, hidden);
    m_kvNorm = weights.values(prefix + "kv_a_layernorm.weight", { m_shape.latentDim });
    m_kvB = weights.dense(prefix + "kv_b_proj", m_shape.heads * (m_shape.keyDim + m_shape.valueDim),
                          m_shape.latentDim);
    m_output = weights.linear(prefix + "o_proj", hidden, m_shape.heads * m_shape.valueDim);
    if (hasIndexer)
        m_indexer.emplace(weights, prefix + "indexer.", cacheIndex);
}

void MlaLayer::forward(std::span<float> y, std::span<const float> x, const StepTables &tables,
                       RowClass rowClass, Workspace &workspace, kernels::Stream &stream) const
{
    auto &w = workspace.mla;
    const std::int64_t rows = tables.rows();
    const auto qRank = static_cast<std::int64_t>(m_queryNorm.size());
    m_queryA.forward(w.qLatent, x, rowClass, rows, workspace, stream);
    kernels::launchRmsNorm(w.qLatent, w.qLatent, m_queryNorm, m_normEps, rows, stream);
    m_queryB.forward(w.query, rowsOf(w.qLatent, qRank, rows), rowClass, rows, workspace, stream);
    m_kvA.forward(w.latent, x, rowClass, rows, workspace, stream);
    kernels::launchRmsNorm(w.latent, w.latent, m_kvNorm, m_normEps, rows, stream);
    const std::span<const kernels::MlaSlot> slots = tables.mla(m_cacheIndex);
    const kernels::Step &step = tables.step();
    kernels::launchMlaStore(slots, w.latent, m_shape, step, stream);
    if (m_indexer)
        m_indexer->forward(x, rowsOf(w.qLatent, qRank, rows), tables, rowClass, workspace, stream);

    m_kvB.observe(w.latent, rows, workspace); // its parts multiply what others read of the cache
    kernels::launchMlaAbsorbQuery(w.absorbed, w.query, *m_kvB.matrix(), m_shape, rows, rowClass,
                                  stream);
    kernels::launchMlaAttend(w.mixed, w.absorbed, slots,
                             Indexer::selection(workspace, m_maxSelected), workspace.scratch,
                             m_shape, step, rowClass, stream);
    kernels::launchMlaExpandValue(w.value, w.mixed, *m_kvB.matrix(), m_shape, rows, rowClass,
                                  stream);
    m_output.forward(y, rowsOf(w.value, m_shape.heads * m_shape.valueDim, rows), rowClass, rows,
                     workspace, stream);
}

} // namespace firesteel::engine
