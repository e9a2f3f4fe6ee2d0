// SPDX-License-Identifier: MIT
//
// Latent attention on the CPU, in the absorbed form for every row count.
#include "kernels/common/simd.h"
#include "kernels/linear/dot_block.h"
#include "kernels/mla/mla_backends.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace firesteel::kernels::reference {

namespace {

// out[:] = sum_i factor[i] row_i[:]: the rows of a matrix, of any stored type, combined in order.
template <typename RowLoad>
FIRESTEEL_INLINE void combineRows(float *out, const float *factor, std::int64_t rows,
                                  std::int64_t cols, const RowLoad &load)
{
    constexpr int kWide = 8; // independent sums
    for (std::int64_t column = 0; column < cols; column += 8 * kWide) {
        const int lanes = static_cast<int>(std::min<std::int64_t>(kWide, (cols - column) / 8));
        Vec8 sums[kWide] = {};
        if (lanes == kWide) {
            for (std::int64_t i = 0; i < rows; ++i)
                for (int n = 0; n < kWide; ++n)
                    sums[n] += splat(factor[i]) * load(i, column + 8 * n);
        } else {
            for (std::int64_t i = 0; i < rows; ++i)
                for (int n = 0; n < lanes; ++n)
                    sums[n] += splat(factor[i]) * load(i, column + 8 * n);
        }
        for (int n = 0; n < lanes; ++n)
            store8(out + column + 8 * n, sums[n]);
    }
}

FIRESTEEL_SIMD_CLONES void combineMatrixRows(float *out, const float *factor, const Matrix &m,
                                             std::int64_t firstRow, std::int64_t rows)
{
    const std::int64_t offset = firstRow * m.cols;
    const auto *half = static_cast<const std::uint16_t *>(m.data) + offset;
    if (m.dtype == DType::F32) {
        const float *full = static_cast<const float *>(m.data) + offset;
        combineRows(out, factor, rows, m.cols,
                    [=](std::int64_t i, std::int64_t c)
                        __attribute__((always_inline)) { return load8(full + i * m.cols + c); });
    } else if (m.dtype == DType::BF16) {
        combineRows(out, factor, rows, m.cols,
                    [=](std::int64_t i, std::int64_t c) __attribute__((always_inline)) {
                        return load8Bf16(half + i * m.cols + c);
                    });
    } else {
        combineRows(out, factor, rows, m.cols,
                    [=](std::int64_t i, std::int64_t c)
                        __attribute__((always_inline)) { return load8F16(half + i * m.cols + c); });
    }
}

// One head of one row: scores, softmax, weighted sum of the selected latents.
FIRESTEEL_SIMD_CLONES void attendHead(float *mixed, const float *query, const float *latents,
                                      const std::int32_t *positions, std::int64_t count,
                                      float *scores, float scale, std::int64_t dim)
{
    float top = -INFINITY;
    for (std::int64_t n = 0; n < count; ++n) {
        const float *latent = latents + positions[n] * dim;
        Vec8 sum = {};
        for (std::int64_t c = 0; c < dim; c += 8)
            sum += load8(query + c) * load8(latent + c);
        scores[n] = sum8(sum) * scale;
        top = std::max(top, scores[n]);
    }
    // Padding to whole vectors with -inf adds exact zeros to the sum.
    const std::int64_t padded = (count + 7) / 8 * 8;
    std::fill(scores + count, scores + padded, -INFINITY);
    Vec8 sums = {};
    for (std::int64_t n = 0; n < padded; n += 8) {
        const Vec8 weight = exp8(load8(scores + n) - splat(top));
        sums += weight;
        store8(scores + n, weight);
    }
    const Vec8 inverse = splat(1.0F / sum8(sums));
    for (std::int64_t n = 0; n < padded; n += 8)
        store8(scores + n, load8(scores + n) * inverse);
    combineRows(mixed, scores, count, dim,
                [=](std::int64_t n, std::int64_t c) __attribute__((always_inline)) {
                    return load8(latents + positions[n] * dim + c);
                });
}

} // namespace

void mlaStore(std::span<const MlaSlot> slots, std::span<const float> latent, const MlaShape &shape,
              const Step &step)
{
    for (std::size_t s = 0; s < step.sequences.size(); ++s) {
        const StepSequence &sequence = step.sequences[s];
        std::copy_n(
            latent.data() + sequence.firstRow * shape.latentDim, sequence.rows * shape.latentDim,
            static_cast<float *>(slots[s].latents) + sequence.firstPosition * shape.latentDim);
    }
}

void mlaAbsorbQuery(std::span<float> absorbed, std::span<const float> query, const Matrix &kvB,
                    const MlaShape &shape, std::int64_t rows, ThreadPool &pool)
{
    const std::int64_t grain
        = std::max<std::int64_t>(1, kPartWork / (shape.keyDim * shape.latentDim));
    pool.parallelFor(rows * shape.heads, grain, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t i = first; i < last; ++i)
            combineMatrixRows(absorbed.data() + i * shape.latentDim,
                              query.data() + i * shape.keyDim, kvB,
                              i % shape.heads * (shape.keyDim + shape.valueDim), shape.keyDim);
    });
}

void mlaAttend(std::span<float> mixed, std::span<const float> absorbed,
               std::span<const MlaSlot> slots, const Selection &selection, const MlaShape &shape,
               const Step &step, ThreadPool &pool)
{
    const float scale = 1.0F / std::sqrt(static_cast<float>(shape.keyDim));
    const std::int64_t longest = step.rows == 0
        ? 0
        : *std::max_element(selection.counts.begin(), selection.counts.begin() + step.rows);
    const std::int64_t grain = std::max<std::int64_t>(
        1, kPartWork / (std::max<std::int64_t>(1, longest) * shape.latentDim));
    pool.parallelFor(step.rows * shape.heads, grain, [&](std::int64_t first, std::int64_t last) {
        std::vector<float> scores(static_cast<std::size_t>((longest + 7) / 8 * 8));
        for (std::int64_t i = first; i < last; ++i) {
            const std::int64_t t = i / shape.heads;
            const std::int32_t count = selection.counts[static_cast<std::size_t>(t)];
            float *out = mixed.data() + i * shape.latentDim;
            if (count == 0) {
                std::fill_n(out, shape.latentDim, 0.0F);
                continue;
            }
            const auto sequence
                = static_cast<std::size_t>(step.sequenceOf[static_cast<std::size_t>(t)]);
            attendHead(out, absorbed.data() + i * shape.latentDim,
                       static_cast<const float *>(slots[sequence].latents),
                       selection.positions.data() + t * selection.maxSelected, count, scores.data(),
                       scale, shape.latentDim);
        }
    });
}

void mlaExpandValue(std::span<float> out, std::span<const float> mixed, const Matrix &kvB,
                    const MlaShape &shape, std::int64_t rows, ThreadPool &pool)
{
    pool.parallelFor(shape.heads, 1, [&](std::int64_t first, std::int64_t last) {
        std::array<const float *, kDotRows> in {};
        std::array<float *, kDotRows> result {};
        for (std::int64_t head = first; head < last; ++head) {
            const std::int64_t valueRow = head * (shape.keyDim + shape.valueDim) + shape.keyDim;
            for (std::int64_t begin = 0; begin < rows; begin += kDotRows) {
                const auto count
                    = static_cast<std::size_t>(std::min<std::int64_t>(kDotRows, rows - begin));
                for (std::size_t r = 0; r < count; ++r) {
                    const std::int64_t t
                        = (begin + static_cast<std::int64_t>(r)) * shape.heads + head;
                    in[r] = mixed.data() + t * shape.latentDim;
                    // dotBlock writes column n of the matrix to y[n].
                    result[r] = out.data() + t * shape.valueDim - valueRow;
                }
                dotBlock(std::span(result).first(count), std::span(in).first(count), kvB, valueRow,
                         valueRow + shape.valueDim);
            }
        }
    });
}

} // namespace firesteel::kernels::reference
