// SPDX-License-Identifier: MIT
#include "kernels/common/simd.h"
#include "kernels/hyper/hyper_backends.h"
#include "kernels/linear/dot_block.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace firesteel::kernels::reference {

namespace {

constexpr std::size_t kS = kHyperStreams;

float sigmoid(float x) { return 1.0F / (1.0F + std::exp(-x)); }

// Row softmax, then alternating column and row normalisation. The last step normalises columns:
// rows sum to one only approximately, as in the reference.
void sinkhorn(std::array<float, kS * kS> &c, int iterations, float eps)
{
    for (std::size_t i = 0; i < kS; ++i) {
        float *row = &c[i * kS];
        const float top = *std::max_element(row, row + kS);
        float sum = 0;
        for (std::size_t j = 0; j < kS; ++j)
            sum += row[j] = std::exp(row[j] - top);
        for (std::size_t j = 0; j < kS; ++j)
            row[j] = row[j] / sum + eps;
    }
    const auto normaliseColumns = [&] {
        for (std::size_t j = 0; j < kS; ++j) {
            float sum = 0;
            for (std::size_t i = 0; i < kS; ++i)
                sum += c[i * kS + j];
            for (std::size_t i = 0; i < kS; ++i)
                c[i * kS + j] /= sum + eps;
        }
    };
    normaliseColumns();
    for (int iteration = 1; iteration < iterations; ++iteration) {
        for (std::size_t i = 0; i < kS; ++i) {
            float sum = 0;
            for (std::size_t j = 0; j < kS; ++j)
                sum += c[i * kS + j];
            for (std::size_t j = 0; j < kS; ++j)
                c[i * kS + j] /= sum + eps;
        }
        normaliseColumns();
    }
}

FIRESTEEL_SIMD_CLONES float meanSquare(const float *x, std::int64_t count)
{
    Vec8 sums = {};
    for (std::int64_t k = 0; k < count; k += 8)
        sums += load8(x + k) * load8(x + k);
    return sum8(sums) / static_cast<float>(count);
}

// out[c] = sum_i factor[i] in[i, c]
FIRESTEEL_SIMD_CLONES void weightedSum(float *out, const float *in, const float *factor,
                                       std::int64_t hidden)
{
    for (std::int64_t c = 0; c < hidden; c += 8) {
        Vec8 sum = {};
        for (std::size_t i = 0; i < kS; ++i)
            sum += splat(factor[i]) * load8(in + static_cast<std::int64_t>(i) * hidden + c);
        store8(out + c, sum);
    }
}

// addend may be null.
FIRESTEEL_SIMD_CLONES void updateRow(float *streams, const float *y, const float *addend,
                                     const float *post, const float *combination,
                                     std::int64_t hidden)
{
    for (std::int64_t c = 0; c < hidden; c += 8) {
        Vec8 in[kS];
        for (std::size_t i = 0; i < kS; ++i)
            in[i] = load8(streams + static_cast<std::int64_t>(i) * hidden + c);
        Vec8 update = load8(y + c);
        if (addend != nullptr)
            update += load8(addend + c);
        for (std::size_t j = 0; j < kS; ++j) {
            Vec8 sum = splat(post[j]) * update;
            for (std::size_t i = 0; i < kS; ++i)
                sum += splat(combination[i * kS + j]) * in[i];
            store8(streams + static_cast<std::int64_t>(j) * hidden + c, sum);
        }
    }
}

} // namespace

void hyperMix(const HyperMixing &mixing, std::span<float> collapsed, std::span<const float> streams,
              const HyperWeights &weights, const HyperShape &shape, std::int64_t rows,
              ThreadPool &pool)
{
    const std::int64_t width = kHyperStreams * shape.hidden;
    pool.parallelFor(rows, 4, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t t = first; t < last; ++t) {
            const float *x = streams.data() + t * width;
            std::array<float, kHyperMixes> m {};
            float *out = m.data();
            dotBlock({ &out, 1 }, { &x, 1 }, weights.fn, 0, kHyperMixes);
            const float scale = 1.0F / std::sqrt(meanSquare(x, width) + shape.rmsEps);

            std::array<float, kS> pre {};
            std::array<float, kS * kS> c {};
            for (std::size_t i = 0; i < kS; ++i) {
                pre[i] = sigmoid(m[i] * scale * weights.scale[0] + weights.base[i]) + shape.eps;
                mixing.post[static_cast<std::size_t>(t) * kS + i]
                    = 2.0F * sigmoid(m[kS + i] * scale * weights.scale[1] + weights.base[kS + i]);
            }
            for (std::size_t i = 0; i < kS * kS; ++i)
                c[i] = m[2 * kS + i] * scale * weights.scale[2] + weights.base[2 * kS + i];
            sinkhorn(c, shape.sinkhornIterations, shape.eps);
            std::copy(c.begin(), c.end(),
                      mixing.combination.begin() + t * kHyperStreams * kHyperStreams);
            weightedSum(collapsed.data() + t * shape.hidden, x, pre.data(), shape.hidden);
        }
    });
}

void hyperUpdate(std::span<float> streams, const HyperUpdate &owed, const HyperShape &shape,
                 std::int64_t rows, ThreadPool &pool)
{
    pool.parallelFor(rows, 16, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t t = first; t < last; ++t)
            updateRow(
                streams.data() + t * kHyperStreams * shape.hidden, owed.y.data() + t * shape.hidden,
                owed.addend.empty() ? nullptr : owed.addend.data() + t * shape.hidden,
                owed.mixing.post.data() + t * kHyperStreams,
                owed.mixing.combination.data() + t * kHyperStreams * kHyperStreams, shape.hidden);
    });
}

void hyperMean(std::span<float> mean, std::span<const float> streams, const HyperShape &shape,
               std::int64_t rows, std::int64_t stride)
{
    constexpr std::array<float, kS> kQuarter { 0.25F, 0.25F, 0.25F, 0.25F };
    for (std::int64_t t = 0; t < rows; ++t)
        weightedSum(mean.data() + t * stride, streams.data() + t * kHyperStreams * shape.hidden,
                    kQuarter.data(), shape.hidden);
}

} // namespace firesteel::kernels::reference
