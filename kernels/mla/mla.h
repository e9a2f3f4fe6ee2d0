// SPDX-License-Identifier: MIT
//
// Multi-head latent attention without position encoding, over a cache of latents, and the indexer
// that chooses which tokens a query attends to (docs/model.md, sections MLA and indexer). A call
// serves the rows of one step, of any number of sequences.
//
// A launch depends on the spans' places, on step.rows, step.sequences.size(), step.mostRows and
// step.longestContext; everything else is read where the stream runs, so that a recorded launch
// can be replayed with other tables. Buffers that are too small and shapes that a backend lacks
// are reported by std::logic_error.
//
// On CUDA: latentDim 512, keyDim and valueDim 256, any number of heads; indexHeadDim 128, pool 4,
// at most 32 index heads, topK at most 2048; kvB 16-byte aligned.
#pragma once

#include "kernels/common/row_class.h"
#include "kernels/common/step.h"
#include "kernels/common/stream.h"
#include "kernels/common/tensor.h"

#include <cstddef>
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

// The caches of one sequence in one layer, where the stream runs; 16-byte aligned. Without an
// indexer the last three are null.
struct MlaSlot
{
    void *latents = nullptr; // [context, latentDim] of cacheDType()
    void *pooledKeys = nullptr; // [context / pool, headDim] of cacheDType()
    float *tailKey = nullptr; // [kIndexTailRows, headDim]
    float *tailGate = nullptr; // [kIndexTailRows, headDim]
};

// F32 on the CPU, BF16 (rounded to nearest even) on the GPU.
DType cacheDType(const Stream &stream);

// Token positions attended by each row, ascending: row t's are positions[t * maxSelected .. +
// counts[t]).
struct Selection
{
    std::span<std::int32_t> positions; // [rows, maxSelected]
    std::span<std::int32_t> counts; // [rows]
    std::int64_t maxSelected = 0;
};

// In all of the following, slots[i] belongs to step.sequences[i], and rows are the step's.

// latent [rows, latentDim]: into the caches, at the rows' positions.
void launchMlaStore(std::span<const MlaSlot> slots, std::span<const float> latent,
                    const MlaShape &shape, const Step &step, Stream &stream);

// Pooled keys of the pools that the rows complete, into the caches: K_p = sum_j softmax_j(
// gate[4p + j] + ape[j]) k[4p + j], the softmax per channel. Also records the rows in the tails.
// key, gate [rows, headDim]; ape [pool, headDim].
void launchIndexPool(std::span<const MlaSlot> slots, std::span<const float> key,
                     std::span<const float> gate, std::span<const float> ape,
                     const IndexShape &shape, const Step &step, Stream &stream);

// What launchIndexSelect needs for so many rows of so long contexts; bounded: many rows are scored
// in slices.
std::size_t indexScratchBytes(const IndexShape &shape, std::int64_t rows,
                              std::int64_t longestContext, const Stream &stream);

// Scores I[t, p] = (heads * headDim)^-0.5 sum_h w[t, h] relu(q[t, h] . K_p) of the pools p that are
// complete at row t, and of these the topK / pool best (ties: the earlier pool; NaN counts as
// -inf), then the tail of unpooled tokens; every visible token while there are at most maxSelected
// of them. query [rows, heads, headDim]; weights [rows, heads]. scratch: 256-byte aligned.
void launchIndexSelect(const Selection &selection, std::span<std::byte> scratch,
                       std::span<const float> query, std::span<const float> weights,
                       std::span<const MlaSlot> slots, const IndexShape &shape, const Step &step,
                       Stream &stream);

// The query in latent space: absorbed[t, h] = W_k[h]^T q[t, h]. kvB [heads * (keyDim + valueDim),
// latentDim], per head the key rows before the value rows. absorbed [rows, heads, latentDim]; query
// [rows, heads, keyDim].
void launchMlaAbsorbQuery(std::span<float> absorbed, std::span<const float> query,
                          const Matrix &kvB, const MlaShape &shape, std::int64_t rows,
                          RowClass rowClass, Stream &stream);

// What launchMlaAttend needs, whatever the contexts. selection.maxSelected at most maxSelected.
std::size_t attendScratchBytes(const MlaShape &shape, std::int64_t maxSelected, std::int64_t rows,
                               RowClass rowClass, const Stream &stream);

// mixed[t, h] = sum_n softmax_n(absorbed[t, h] . latents[n] / sqrt(keyDim)) latents[n] over the
// selected n; zeros for a row that selects none. mixed, absorbed [rows, heads, latentDim]. scratch:
// 256-byte aligned.
void launchMlaAttend(std::span<float> mixed, std::span<const float> absorbed,
                     std::span<const MlaSlot> slots, const Selection &selection,
                     std::span<std::byte> scratch, const MlaShape &shape, const Step &step,
                     RowClass rowClass, Stream &stream);

// out[t, h] = W_v[h] mixed[t, h].  out [rows, heads, valueDim].
void launchMlaExpandValue(std::span<float> out, std::span<const float> mixed, const Matrix &kvB,
                          const MlaShape &shape, std::int64_t rows, RowClass rowClass,
                          Stream &stream);

} // namespace firesteel::kernels
