// SPDX-License-Identifier: MIT
//
// Multi-head latent attention without position encoding, over a cache of latents, and the indexer
// that chooses which tokens a query attends to (docs/model.md, sections MLA and indexer). Stateful
// calls serve the rows of one sequence.
#pragma once

#include "kernels/common/stream.h"
#include "kernels/common/tensor.h"

#include <cstdint>
#include <span>

namespace firesteel::kernels {

struct MlaShape
{
    std::int64_t heads = 0;
    std::int64_t latentDim = 0; // kv_lora_rank
    std::int64_t keyDim = 0; // per head
    std::int64_t valueDim = 0; // per head
};

struct IndexShape
{
    std::int64_t heads = 0;
    std::int64_t headDim = 0;
    std::int64_t pool = 0; // tokens per pooled key
    std::int64_t topK = 0; // tokens; a multiple of pool
    std::int64_t maxSelected() const { return topK + pool - 1; } // best pools and the unpooled tail
};

// Raw index keys and gates of the newest tokens, kept so that a pool can be closed, or closed again
// after a roll-back. Token p lies in row p % kIndexTailRows.
inline constexpr std::int64_t kIndexTailRows = 32;
struct IndexTailView
{
    std::span<float> key; // [kIndexTailRows, headDim]
    std::span<float> gate; // [kIndexTailRows, headDim]
};

// Token positions attended by each row, ascending: row t's are positions[t * maxSelected .. +
// counts[t]).
struct Selection
{
    std::span<std::int32_t> positions; // [rows, maxSelected]
    std::span<std::int32_t> counts; // [rows]
};

// Pooled keys of the pools that rows firstPosition .. firstPosition + rows - 1 complete:
// K_p = sum_j softmax_j(gate[4p + j] + ape[j]) k[4p + j], the softmax per channel. Also records the
// rows in the tail. pooledKeys [context / pool, headDim]; key, gate [rows, headDim]; ape [pool,
// headDim].
void launchIndexPool(std::span<float> pooledKeys, const IndexTailView &tail,
                     std::span<const float> key, std::span<const float> gate,
                     std::span<const float> ape, const IndexShape &shape,
                     std::int64_t firstPosition, std::int64_t rows, Stream &stream);

// I[t, p] = sum_h w[t, h] relu(q[t, h] . K_p / sqrt(headDim)) for the complete pools p of row t;
// -inf for others. scores [rows, pools]; query [rows, heads, headDim]; weights [rows, heads].
void launchIndexScores(std::span<float> scores, std::span<const float> query,
                       std::span<const float> weights, std::span<const float> pooledKeys,
                       const IndexShape &shape, std::int64_t firstPosition, std::int64_t rows,
                       std::int64_t pools, Stream &stream);

// The topK / pool best pools (ties: the earlier pool) and the tail of unpooled tokens; every
// visible token while there are at most maxSelected of them (`scores` may then be empty).
void launchIndexSelect(const Selection &selection, std::span<const float> scores,
                       const IndexShape &shape, std::int64_t firstPosition, std::int64_t rows,
                       std::int64_t pools, Stream &stream);

// The query in latent space: absorbed[t, h] = W_k[h]^T q[t, h]. kvB [heads * (keyDim + valueDim),
// latentDim], per head the key rows before the value rows. absorbed [rows, heads, latentDim]; query
// [rows, heads, keyDim].
void launchMlaAbsorbQuery(std::span<float> absorbed, std::span<const float> query,
                          const Matrix &kvB, const MlaShape &shape, std::int64_t rows,
                          Stream &stream);

// mixed[t, h] = sum_n softmax_n(absorbed[t, h] . latents[n] / sqrt(keyDim)) latents[n] over the
// selected n. mixed [rows, heads, latentDim]; latents [context, latentDim].
void launchMlaAttend(std::span<float> mixed, std::span<const float> absorbed,
                     std::span<const float> latents, const Selection &selection,
                     std::int64_t maxSelected, const MlaShape &shape, std::int64_t rows,
                     Stream &stream);

// out[t, h] = W_v[h] mixed[t, h].  out [rows, heads, valueDim].
void launchMlaExpandValue(std::span<float> out, std::span<const float> mixed, const Matrix &kvB,
                          const MlaShape &shape, std::int64_t rows, Stream &stream);

} // namespace firesteel::kernels
