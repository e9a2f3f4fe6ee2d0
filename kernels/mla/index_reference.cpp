// SPDX-License-Identifier: MIT
//
// The indexer on the CPU: pooled keys, scores, selection.
#include "kernels/common/simd.h"
#include "kernels/mla/mla_backends.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace firesteel::kernels::reference {

namespace {

constexpr std::int64_t kScoreRows = 64; // rows scored at a time, which bounds the score buffer

FIRESTEEL_SIMD_CLONES float scorePool(const float *query, const float *weights, const float *key,
                                      std::int64_t heads, std::int64_t dim)
{
    float score = 0;
    for (std::int64_t h = 0; h < heads; ++h) {
        Vec8 sum = {};
        for (std::int64_t c = 0; c < dim; c += 8)
            sum += load8(query + h * dim + c) * load8(key + c);
        score += weights[h] * std::max(0.0F, sum8(sum));
    }
    return score;
}

struct Tail
{
    float *key, *gate; // [kIndexTailRows, dim]
};

// Of one sequence.
void poolRows(float *pooledKeys, const Tail &tail, const float *key, const float *gate,
              std::span<const float> ape, const IndexShape &shape, std::int64_t firstPosition,
              std::int64_t rows)
{
    const std::int64_t dim = shape.headDim;
    const auto row = [&](const float *fresh, const float *kept, std::int64_t position) {
        return position >= firstPosition ? fresh + (position - firstPosition) * dim
                                         : kept + position % kIndexTailRows * dim;
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
            pooledKeys[p * dim + c] = weighted / sum;
        }
    for (std::int64_t position = std::max(firstPosition, end - kIndexTailRows); position < end;
         ++position) {
        const std::int64_t at = position % kIndexTailRows * dim;
        std::copy_n(key + (position - firstPosition) * dim, dim, tail.key + at);
        std::copy_n(gate + (position - firstPosition) * dim, dim, tail.gate + at);
    }
}

} // namespace

void indexPool(std::span<const MlaSlot> slots, std::span<const float> key,
               std::span<const float> gate, std::span<const float> ape, const IndexShape &shape,
               const Step &step)
{
    for (std::size_t s = 0; s < step.sequences.size(); ++s) {
        const StepSequence &sequence = step.sequences[s];
        const std::int64_t offset = sequence.firstRow * shape.headDim;
        poolRows(static_cast<float *>(slots[s].pooledKeys), { slots[s].tailKey, slots[s].tailGate },
                 key.data() + offset, gate.data() + offset, ape, shape, sequence.firstPosition,
                 sequence.rows);
    }
}

std::size_t indexScratchBytes(const IndexShape &shape, std::int64_t rows,
                              std::int64_t longestContext)
{
    const std::int64_t pools = longestContext / shape.pool;
    return pools <= shape.topK / shape.pool
        ? 0
        : static_cast<std::size_t>(std::min(rows, kScoreRows) * pools) * sizeof(float);
}

void indexSelect(const Selection &selection, std::span<std::byte> scratch,
                 std::span<const float> query, std::span<const float> weights,
                 std::span<const MlaSlot> slots, const IndexShape &shape, const Step &step,
                 ThreadPool &pool)
{
    const auto rowsOf = [](auto values, std::int64_t width, std::int64_t row, std::int64_t rows) {
        return values.subspan(static_cast<std::size_t>(row * width),
                              static_cast<std::size_t>(rows * width));
    };
    for (std::size_t s = 0; s < step.sequences.size(); ++s) {
        const StepSequence &sequence = step.sequences[s];
        for (std::int64_t begin = 0; begin < sequence.rows; begin += kScoreRows) {
            const std::int64_t rows = std::min(kScoreRows, sequence.rows - begin);
            const std::int64_t row = sequence.firstRow + begin;
            const std::int64_t position = sequence.firstPosition + begin;
            const std::int64_t pools = (position + rows) / shape.pool;
            // While every visible token is selected anyway, nothing needs a score.
            const bool isScored = pools > shape.topK / shape.pool;
            std::span<float> scores;
            if (isScored) {
                scores = { reinterpret_cast<float *>(scratch.data()),
                           static_cast<std::size_t>(rows * pools) };
                indexScores(scores, rowsOf(query, shape.heads * shape.headDim, row, rows),
                            rowsOf(weights, shape.heads, row, rows),
                            { static_cast<const float *>(slots[s].pooledKeys),
                              static_cast<std::size_t>(pools * shape.headDim) },
                            shape, position, rows, pools, pool);
            }
            selectBest({ rowsOf(selection.positions, selection.maxSelected, row, rows),
                         rowsOf(selection.counts, 1, row, rows), selection.maxSelected },
                       scores, shape, position, rows, pools, pool);
        }
    }
}

void indexScores(std::span<float> scores, std::span<const float> query,
                 std::span<const float> weights, std::span<const float> pooledKeys,
                 const IndexShape &shape, std::int64_t firstPosition, std::int64_t rows,
                 std::int64_t pools, ThreadPool &pool)
{
    const float scale = 1.0F / std::sqrt(static_cast<float>(shape.heads * shape.headDim));
    pool.parallelFor(rows, 4, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t t = first; t < last; ++t) {
            const std::int64_t complete = std::min(pools, (firstPosition + t + 1) / shape.pool);
            float *out = scores.data() + t * pools;
            for (std::int64_t p = 0; p < complete; ++p)
                out[p] = scale
                    * scorePool(query.data() + t * shape.heads * shape.headDim,
                                weights.data() + t * shape.heads,
                                pooledKeys.data() + p * shape.headDim, shape.heads, shape.headDim);
            std::fill(out + complete, out + pools, -std::numeric_limits<float>::infinity());
        }
    });
}

void selectBest(const Selection &selection, std::span<const float> scores, const IndexShape &shape,
                std::int64_t firstPosition, std::int64_t rows, std::int64_t pools, ThreadPool &pool)
{
    const std::int64_t keep = shape.topK / shape.pool;
    pool.parallelFor(rows, 16, [&](std::int64_t first, std::int64_t last) {
        std::vector<std::int32_t> order;
        for (std::int64_t t = first; t < last; ++t) {
            std::int32_t *out = selection.positions.data() + t * selection.maxSelected;
            const std::int64_t visible = firstPosition + t + 1;
            const std::int64_t complete = visible / shape.pool;
            if (complete <= keep) {
                std::iota(out, out + visible, 0);
                selection.counts[static_cast<std::size_t>(t)] = static_cast<std::int32_t>(visible);
                continue;
            }
            const auto score = [&](std::int32_t p) {
                const float value = scores[static_cast<std::size_t>(t * pools + p)];
                return std::isnan(value) ? -std::numeric_limits<float>::infinity() : value;
            };
            order.resize(static_cast<std::size_t>(complete));
            std::iota(order.begin(), order.end(), 0);
            std::nth_element(order.begin(), order.begin() + keep, order.end(),
                             [&](std::int32_t a, std::int32_t b) {
                                 return score(a) != score(b) ? score(a) > score(b) : a < b;
                             });
            std::sort(order.begin(), order.begin() + keep);
            for (std::int64_t i = 0; i < keep; ++i)
                for (std::int64_t j = 0; j < shape.pool; ++j)
                    *out++ = static_cast<std::int32_t>(
                        order[static_cast<std::size_t>(i)] * shape.pool + j);
            for (std::int64_t position = complete * shape.pool; position < visible; ++position)
                *out++ = static_cast<std::int32_t>(position);
            selection.counts[static_cast<std::size_t>(t)] = static_cast<std::int32_t>(
                out - (selection.positions.data() + t * selection.maxSelected));
        }
    });
}

} // namespace firesteel::kernels::reference
