// SPDX-License-Identifier: MIT
#include "engine/model/mla_layer.h"

#include "kernels/norm/norm.h"

#include <algorithm>

namespace firesteel::engine {

MlaLayer::MlaLayer(WeightReader &weights, const std::string &prefix, int cacheIndex,
                   bool hasIndexer)
    : m_cacheIndex(cacheIndex)
    , m_shape { .heads = weights.shape().mla.heads,
                .latentDim = weights.shape().mla.kvLoraRank,
                .keyDim = weights.shape().mla.qkHeadDim,
                .valueDim = weights.shape().mla.vHeadDim }
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

void MlaLayer::forward(std::span<float> y, std::span<const float> x,
                       std::span<const RowGroup> groups, RowClass rowClass, std::int64_t rows,
                       Workspace &workspace, kernels::Stream &stream) const
{
    auto &w = workspace.mla;
    const auto qRank = static_cast<std::int64_t>(m_queryNorm.size());
    m_queryA.forward(w.qLatent, x, rowClass, rows, workspace, stream);
    kernels::launchRmsNorm(w.qLatent, w.qLatent, m_queryNorm, m_normEps, rows, stream);
    m_queryB.forward(w.query, rowsOf(w.qLatent, qRank, rows), rowClass, rows, workspace, stream);
    m_kvA.forward(w.latent, x, rowClass, rows, workspace, stream);
    kernels::launchRmsNorm(w.latent, w.latent, m_kvNorm, m_normEps, rows, stream);
    if (m_indexer)
        m_indexer->forward(x, rowsOf(w.qLatent, qRank, rows), groups, rowClass, rows, workspace,
                           stream);

    m_kvB.observe(w.latent, rows, workspace); // its parts multiply what others read of the cache
    kernels::launchMlaAbsorbQuery(w.absorbed, w.query, *m_kvB.matrix(), m_shape, rows, stream);
    const std::int64_t latentWidth = m_shape.heads * m_shape.latentDim;
    for (const RowGroup &group : groups) {
        KvCache &cache = group.sequence->mla(m_cacheIndex);
        const std::span<float> fresh
            = rowsOf(w.latent, m_shape.latentDim, group.rows, group.firstRow);
        std::ranges::copy(fresh, cache.latents().begin() + group.firstPosition * m_shape.latentDim);
        const kernels::Selection selection {
            rowsOf(workspace.index.positions, m_maxSelected, group.rows, group.firstRow),
            rowsOf(workspace.index.counts, 1, group.rows, group.firstRow)
        };
        kernels::launchMlaAttend(rowsOf(w.mixed, latentWidth, group.rows, group.firstRow),
                                 rowsOf(w.absorbed, latentWidth, group.rows, group.firstRow),
                                 cache.latents(), selection, m_maxSelected, m_shape, group.rows,
                                 stream);
    }
    kernels::launchMlaExpandValue(w.value, w.mixed, *m_kvB.matrix(), m_shape, rows, stream);
    m_output.forward(y, rowsOf(w.value, m_shape.heads * m_shape.valueDim, rows), rowClass, rows,
                     workspace, stream);
}

} // namespace firesteel::engine
