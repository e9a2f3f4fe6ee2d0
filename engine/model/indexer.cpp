// SPDX-License-Identifier: MIT
#include "engine/model/indexer.h"

#include "kernels/linear/linear.h"
#include "kernels/norm/norm.h"

#include <algorithm>
#include <cmath>

namespace firesteel::engine {

namespace {

constexpr float kKeyNormEps = 1e-6F; // fixed in the architecture, not a config field
constexpr std::int64_t kScoreRows = 64; // rows scored at a time, which bounds the score buffer

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
    m_gate = weights.matrix(prefix + "index_kpool_compress_gate", { m_shape.headDim, hidden });
    m_ape = weights.values(prefix + "index_kpool_compress_ape", { m_shape.pool, m_shape.headDim });
}

void Indexer::forward(std::span<const float> x, std::span<const float> qLatent,
                      std::span<const RowGroup> groups, RowClass rowClass, std::int64_t rows,
                      Workspace &workspace, kernels::Stream &stream) const
{
    auto &w = workspace.index;
    m_query.forward(w.query, qLatent, rowClass, rows, workspace, stream);
    m_key.forward(w.key, x, rowClass, rows, workspace, stream);
    kernels::launchLayerNorm(w.key, w.key, m_keyNorm, m_keyNormBias, kKeyNormEps, rows, stream);
    kernels::launchLinear(w.gate, x, m_gate, rows, stream);
    m_weights.forward(w.weights, x, rowClass, rows, workspace, stream);
    const float scale = 1.0F / std::sqrt(static_cast<float>(m_shape.heads));
    for (float &weight : rowsOf(w.weights, m_shape.heads, rows))
        weight *= scale;
    for (const RowGroup &group : groups)
        select(group, workspace, stream);
}

void Indexer::select(const RowGroup &group, Workspace &workspace, kernels::Stream &stream) const
{
    auto &w = workspace.index;
    KvCache &cache = group.sequence->mla(m_cacheIndex);
    kernels::launchIndexPool(cache.pooledKeys(), { cache.tail().key, cache.tail().gate },
                             rowsOf(w.key, m_shape.headDim, group.rows, group.firstRow),
                             rowsOf(w.gate, m_shape.headDim, group.rows, group.firstRow), m_ape,
                             m_shape, group.firstPosition, group.rows, stream);
    for (std::int64_t begin = 0; begin < group.rows; begin += kScoreRows) {
        const std::int64_t rows = std::min(kScoreRows, group.rows - begin);
        const std::int64_t row = group.firstRow + begin;
        const std::int64_t position = group.firstPosition + begin;
        const std::int64_t pools = (position + rows) / m_shape.pool;
        // While every visible token is selected anyway, nothing needs a score.
        const bool scored = pools > m_shape.topK / m_shape.pool;
        if (scored) {
            w.scores.resize(
                std::max(w.scores.size(), static_cast<std::size_t>(kScoreRows * pools)));
            kernels::launchIndexScores(w.scores,
                                       rowsOf(w.query, m_shape.heads * m_shape.headDim, rows, row),
                                       rowsOf(w.weights, m_shape.heads, rows, row),
                                       cache.pooledKeys(), m_shape, position, rows, pools, stream);
        }
        kernels::launchIndexSelect({ rowsOf(w.positions, m_shape.maxSelected(), rows, row),
                                     rowsOf(w.counts, 1, rows, row) },
                                   w.scores, m_shape, position, rows, pools, stream);
    }
}

} // namespace firesteel::engine
