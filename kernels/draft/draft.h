// SPDX-License-Identifier: MIT
//
// What a DFlash2 drafter (docs/speculation.md) computes that no other family does: convolutions
// over the rows of a block, attention of a block to itself and to a window of context, and the
// selector that walks through each row's likeliest tokens. A block is the pending token followed by
// mask tokens; blocks of several sequences lie one after another, all of the same number of rows.
#pragma once

#include "kernels/common/stream.h"
#include "kernels/common/tensor.h"

#include <cstdint>
#include <span>

namespace firesteel::kernels {

// Convolution with two taps, the row itself and the one before it in its block, whose coefficients
// are a static part per channel and a dynamic one per row and group of channels:
//   y[t, c] = (base[0, c] + dynamic[t, 0, c / group]) x[t, c]
//           + (base[1, c] + dynamic[t, 1, c / group]) x[t - 1, c]   where t is not a block's first.
// y, x [rows, channels], not the same buffer; base [2, channels]; dynamic: row t's two runs of
// channels / group values begin at t * dynamicStride.
struct DraftConvShape
{
    std::int64_t channels = 0;
    std::int64_t group = 0;
    std::int64_t blockRows = 0;
    std::int64_t dynamicStride = 0;
};
void launchDraftConv(std::span<float> y, std::span<const float> x, std::span<const float> base,
                     std::span<const float> dynamic, const DraftConvShape &shape, std::int64_t rows,
                     Stream &stream);

struct DraftAttentionShape
{
    std::int64_t heads = 0;
    std::int64_t kvHeads = 0; // divides heads
    std::int64_t headDim = 0; // a multiple of 8
    // A row at position p sees the context position j if p - j < window, and its whole block.
    std::int64_t window = 0;
    std::int64_t queryWidth() const { return heads * headDim; }
    std::int64_t keyWidth() const { return kvHeads * headDim; }
};

// Each head of x [rows, heads, headDim] in place: RMS norm, then the rotation of the pairs
// (d, d + headDim / 2) by position * theta^(-2d / headDim), computed in double precision.
void launchDraftNormRope(std::span<float> x, std::span<const float> weight, float eps, double theta,
                         std::int64_t firstPosition, std::int64_t heads, std::int64_t rows,
                         Stream &stream);

// The context of one sequence in one layer: rows at positions first..end-1, position p in slot
// p mod window.
struct DraftContextView
{
    std::span<const float> keys; // [window, keyWidth]
    std::span<const float> values; // [window, keyWidth]
    std::int64_t first = 0;
    std::int64_t end = 0;
};

// y[t] = attention of query row t, at position context.end + t, scaled by headDim^-1/2, over the
// visible context and every row of the block. y, query [rows, queryWidth]; keys, values
// [rows, keyWidth] of the block.
void launchDraftAttend(std::span<float> y, std::span<const float> query,
                       std::span<const float> keys, std::span<const float> values,
                       const DraftContextView &context, const DraftAttentionShape &shape,
                       std::int64_t rows, Stream &stream);

// The `count` largest of each row of logits [rows, width], falling; the lower id first among
// equals. ids, values [rows, count].
void launchTopLogits(std::span<std::int32_t> ids, std::span<float> values,
                     std::span<const float> logits, std::int64_t width, std::int64_t count,
                     std::int64_t rows, Stream &stream);

// The selector: from the token before the first row on, chooses of each row's candidates c with
//   score(c) = logit(c) + sum_r predecessors[previous, r] * hidden[t, r] * successors[c, r],
// the best one at temperature 0, else the candidate at the quantile uniforms[t] of
// softmax(score / temperature), ids ascending, so that a sampler with the same number agrees often.
struct DraftSelection
{
    std::span<const std::int32_t> ids; // [rows, candidates]
    std::span<const float> logits; // [rows, candidates]
    std::span<const float> hidden; // [rows, rank]
    Matrix predecessors; // [vocabulary, rank]
    Matrix successors; // [vocabulary, rank]
    std::int32_t previous = 0;
    float temperature = 0;
    std::span<const double> uniforms; // [rows], in [0, 1); not read at temperature 0
};
// scores [rows, candidates]: of the rows' candidates, as they were walked.
void launchDraftSelect(std::span<std::int32_t> drafts, std::span<float> scores,
                       const DraftSelection &selection, Stream &stream);

} // namespace firesteel::kernels
