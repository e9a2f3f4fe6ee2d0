// SPDX-License-Identifier: MIT
#include "engine/model/indexer.h"

#include "kernels/linear/linear.h"
#include "kernels/norm/norm.h"

namespace firesteel::engine {

namespace {

constexpr float kKeyNormEps = 1e-6F; // fixed in the architecture, not a config field

} // namespace

kernels::IndexShape Indexer::kernelShape(const ModelShape &shape)
{
    return { .heads = shape.indexer.heads,
             .headDim = shape.indexer.headDim,
             .pool = shape.indexer.pool,
             .topK = shape.indexer.topK };
}

Indexer::Indexer(WeightReader &weights, const std::string &prefix, int cacheIndex)
    : m_cacheIndex(cacheIndex)
    , m_shape(kernelShape(weights.shape()))
{
    const std::int64_t hidden = weights.shape().hiddenSize;
    m_query = weights.linear(prefix + "wq_b", m_shape.heads * m_shape.headDim,
                             weights.shape().mla.qLoraRank);
    m_key = weights.linear(prefix + "wk", m_shape.headDim, hidden);
    m_keyNorm = weights.values(prefix + "k_norm.weight", { m_shape.headDim });
    m_keyNormBias = weights.values(prefix + "k_norm.bias", { m_shape.headDim });
    m_weights = weights.linear(prefix + "weights_proj", m_shape.heads, hidden);
    const std::string gate = prefix + "index_kpool_compress_gate"; // without a ".weight"
    m_gate = { gate, weights.matrix(gate, { m_shape.headDim, hidden }) };
    m_ape = weights.values(prefix + "index_kpool_compress_ape", { m_shape.pool, m_shape.headDim });
}

void Indexer::forward(std::span<const float> x, std::span<const float> qLatent,
                      const StepTables &tables, RowClass rowClass, Workspace &workspace,
                      kernels::Stream &stream) const
{
    auto &w = workspace.index;
    const std::int64_t rows = tables.rows();
    m_query.forward(w.query, qLatent, rowClass, rows, workspace, stream);
    LinearWeight::forwardAll(
        { { m_key, w.key, x }, { m_gate, w.gate, x }, { m_weights, w.weights, x } }, rowClass, rows,
        workspace, stream);
    kernels::launchLayerNorm(w.key, w.key, m_keyNorm, m_keyNormBias, kKeyNormEps, rows, stream);
    const std::span<const kernels::MlaSlot> slots = tables.mla(m_cacheIndex);
    kernels::launchIndexPool(slots, w.key, w.gate, m_ape, m_shape, tables.step(), stream);
    kernels::launchIndexSelect(selection(workspace, m_shape.maxSelected()), workspace.scratch,
                               w.query, w.weights, slots, m_shape, tables.step(), stream);
}

kernels::Selection Indexer::selection(const Workspace &workspace, std::int64_t maxSelected)
{
    return { .positions = workspace.index.positions,
             .counts = workspace.index.counts,
             .maxSelected = maxSelected };
}

} // namespace firesteel::engine
