// SPDX-License-Identifier: MIT
//
// The indexer on the CPU: pooled keys, scores, selection.
#include "kernels/common/simd.h"
#include "kernels/mla/mla.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace firesteel::kernels {

namespace {

FIRESTEEL_SIMD_CLONES float scorePool(const float *query, const float *weights, const float *key,
                                      std::int64_t heads, std::int64_t dim, float scale)
{
    float score = 0;
    for (std::int64_t h = 0; h < heads; ++h) {
        Vec8 sum = {};
        for (std::int64_t c = 0; c < dim; c += 8)
            sum += load8(query + h * dim + c) * load8(key + c);
        score += weights[h] * std::max(0.0F, sum8(sum) * scale);
    }
    return score;
}

} // namespace

void launchIndexPool(std::span<float> pooledKeys, const IndexTailView &tail,
                     std::span<const float> key, std::span<const float> gate,
                     std::span<const float> ape, const IndexShape &shape,
                     std::int64_t firstPosition, std::int64_t rows, Stream & /*stream*/)
{
    const std::int64_t dim = shape.headDim;
    const auto row
        = [&](std::span<const float> fresh, std::span<float> kept, std::int64_t position) {
              return position >= firstPosition ? fresh.data() + (position - firstPosition) * dim
                                               : kept.data() + position % kIndexTailRows * dim;
          };
    const std::int64_t end = firstPosition + rows;
    for (std::int64_t p = firstPosition / shape.pool; (p + 1) * shape.pool <= end; ++p)
        for (std::int64_t c = 0; c < dim; ++c) {
            float top = -std::numeric_limits<float>::infinity();
            for (std::int64_t j = 0; j < shape.pool; ++j)
                top = std::max(top,
                               row(gate, tail.gate, p * shape.pool + j)[c]
                                   + ape[static_cast<std::size_t>(j * dim + c)]);
            float sum = 0;
            float weighted = 0;
            for (std::int64_t j = 0; j < shape.pool; ++j) {
                const std::int64_t position = p * shape.pool + j;
                const float weight = std::exp(row(gate, tail.gate, position)[c]
                                              + ape[static_cast<std::size_t>(j * dim + c)] - top);
                sum += weight;
                weighted += weight * row(key, tail.key, position)[c];
            }
            pooledKeys[static_cast<std::size_t>(p * dim + c)] = weighted / sum;
        }
    for (std::int64_t position = std::max(firstPosition, end - kIndexTailRows); position < end;
         ++position) {
        const std::int64_t at = position % kIndexTailRows * dim;
        std::copy_n(key.data() + (position - firstPosition) * dim, dim, tail.key.data() + at);
        std::copy_n(gate.data() + (position - firstPosition) * dim, dim, tail.gate.data() + at);
    }
}

void launchIndexScores(std::span<float> scores, std::span<const float> query,
                       std::span<const float> weights, std::span<const float> pooledKeys,
                       const IndexShape &shape, std::int64_t firstPosition, std::int64_t rows,
                       std::int64_t pools, Stream &stream)
{
    const float scale = 1.0F / std::sqrt(static_cast<float>(shape.headDim));
    stream.pool().parallelFor(rows, 4, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t t = first; t < last; ++t) {
            const std::int64_t complete = std::min(pools, (firstPosition + t + 1) / shape.pool);
            float *out = scores.data() + t * pools;
            for (std::int64_t p = 0; p < complete; ++p)
                out[p] = scorePool(query.data() + t * shape.heads * shape.headDim,
                                   weights.data() + t * shape.heads,
                                   pooledKeys.data() + p * shape.headDim, shape.heads,
                                   shape.headDim, scale);
            std::fill(out + complete, out + pools, -std::numeric_limits<float>::infinity());
        }
    });
}

void launchIndexSelect(const Selection &selection, std::span<const float> scores,
                       const IndexShape &shape, std::int64_t firstPosition, std::int64_t rows,
                       std::int64_t pools, Stream &stream)
{
    const std::int64_t keep = shape.topK / shape.pool;
    stream.pool().parallelFor(rows, 16, [&](std::int64_t first, std::int64_t last) {
        std::vector<std::int32_t> order;
        for (std::int64_t t = first; t < last; ++t) {
            std::int32_t *out = selection.positions.data() + t * shape.maxSelected();
            const std::int64_t visible = firstPosition + t + 1;
            const std::int64_t complete = visible / shape.pool;
            if (complete <= keep) {
                std::iota(out, out + visible, 0);
                selection.counts[static_cast<std::size_t>(t)] = static_cast<std::int32_t>(visible);
                continue;
            }
            const float *score = scores.data() + t * pools;
            order.resize(static_cast<std::size_t>(complete));
            std::iota(order.begin(), order.end(), 0);
            std::nth_element(order.begin(), order.begin() + keep, order.end(),
                             [&](std::int32_t a, std::int32_t b) {
                                 return score[a] != score[b] ? score[a] > score[b] : a < b;
                             });
            std::sort(order.begin(), order.begin() + keep);
            for (std::int64_t i = 0; i < keep; ++i)
                for (std::int64_t j = 0; j < shape.pool; ++j)
                    *out++ = static_cast<std::int32_t>(
                        order[static_cast<std::size_t>(i)] * shape.pool + j);
            for (std::int64_t position = complete * shape.pool; position < visible; ++position)
                *out++ = static_cast<std::int32_t>(position);
            selection.counts[static_cast<std::size_t>(t)] = static_cast<std::int32_t>(
                out - (selection.positions.data() + t * shape.maxSelected()));
        }
    });
}

} // namespace firesteel::kernels
