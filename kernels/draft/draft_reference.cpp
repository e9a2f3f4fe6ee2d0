// SPDX-License-Identifier: MIT
//
// The drafter's block kernels on the CPU.
#include "kernels/draft/draft.h"

#include "kernels/common/simd.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

namespace firesteel::kernels {

namespace {

FIRESTEEL_INLINE float dot(const float *a, const float *b, std::int64_t size)
{
    Vec8 sum = {};
    for (std::int64_t i = 0; i < size; i += 8)
        sum += load8(a + i) * load8(b + i);
    return sum8(sum);
}

// The keys or values that a row sees, in order: visible context, then its block.
struct Rows
{
    const float *context;
    const float *block;
    std::int64_t first; // visible context position
    std::int64_t count; // of them
    std::int64_t window;
    std::int64_t stride;

    FIRESTEEL_INLINE const float *operator[](std::int64_t i) const
    {
        return i < count ? context + (first + i) % window * stride : block + (i - count) * stride;
    }
};

// One head of one row: scores, softmax, weighted sum of `total` values.
FIRESTEEL_SIMD_CLONES void attendHead(float *y, const float *query, const Rows &keys,
                                      const Rows &values, std::int64_t total, float *scores,
                                      float scale, std::int64_t dim)
{
    float top = -INFINITY;
    for (std::int64_t i = 0; i < total; ++i) {
        scores[i] = dot(query, keys[i], dim) * scale;
        top = std::max(top, scores[i]);
    }
    // Padding to whole vectors with -inf adds exact zeros to the sum.
    const std::int64_t padded = (total + 7) / 8 * 8;
    std::fill(scores + total, scores + padded, -INFINITY);
    Vec8 sums = {};
    for (std::int64_t i = 0; i < padded; i += 8) {
        const Vec8 weight = exp8(load8(scores + i) - splat(top));
        sums += weight;
        store8(scores + i, weight);
    }
    const float inverse = 1.0F / sum8(sums);
    std::fill(y, y + dim, 0.0F);
    for (std::int64_t i = 0; i < total; ++i) {
        const Vec8 weight = splat(scores[i] * inverse);
        const float *value = values[i];
        for (std::int64_t c = 0; c < dim; c += 8)
            store8(y + c, load8(y + c) + weight * load8(value + c));
    }
}

} // namespace

void launchDraftConv(std::span<float> y, std::span<const float> x, std::span<const float> base,
                     std::span<const float> dynamic, const DraftConvShape &shape, std::int64_t rows,
                     Stream & /*stream*/)
{
    const std::int64_t channels = shape.channels;
    const std::int64_t groups = channels / shape.group;
    for (std::int64_t t = 0; t < rows; ++t) {
        const float *own = dynamic.data() + t * shape.dynamicStride;
        const float *before = own + groups;
        const bool isFirst = t % shape.blockRows == 0;
        for (std::int64_t c = 0; c < channels; ++c) {
            const std::int64_t i = t * channels + c;
            const std::int64_t g = c / shape.group;
            float sum
                = (base[static_cast<std::size_t>(c)] + own[g]) * x[static_cast<std::size_t>(i)];
            if (!isFirst)
                sum += (base[static_cast<std::size_t>(channels + c)] + before[g])
                    * x[static_cast<std::size_t>(i - channels)];
            y[static_cast<std::size_t>(i)] = sum;
        }
    }
}

void launchDraftNormRope(std::span<float> x, std::span<const float> weight, float eps, double theta,
                         std::int64_t firstPosition, std::int64_t heads, std::int64_t rows,
                         Stream & /*stream*/)
{
    const std::size_t dim = weight.size();
    const std::size_t half = dim / 2;
    std::vector<float> cosine(half);
    std::vector<float> sine(half);
    for (std::int64_t t = 0; t < rows; ++t) {
        for (std::size_t d = 0; d < half; ++d) {
            const double angle = static_cast<double>(firstPosition + t)
                * std::pow(theta, -2.0 * static_cast<double>(d) / static_cast<double>(dim));
            cosine[d] = static_cast<float>(std::cos(angle));
            sine[d] = static_cast<float>(std::sin(angle));
        }
        for (std::int64_t head = 0; head < heads; ++head) {
            const std::span<float> row
                = x.subspan(static_cast<std::size_t>(t * heads + head) * dim, dim);
            double squares = 0;
            for (const float value : row)
                squares += static_cast<double>(value) * static_cast<double>(value);
            const auto scale = static_cast<float>(
                1.0 / std::sqrt(squares / static_cast<double>(dim) + static_cast<double>(eps)));
            for (std::size_t d = 0; d < half; ++d) {
                const float a = row[d] * scale * weight[d];
                const float b = row[d + half] * scale * weight[d + half];
                row[d] = a * cosine[d] - b * sine[d];
                row[d + half] = b * cosine[d] + a * sine[d];
            }
        }
    }
}

void launchDraftAttend(std::span<float> y, std::span<const float> query,
                       std::span<const float> keys, std::span<const float> values,
                       const DraftContextView &context, const DraftAttentionShape &shape,
                       std::int64_t rows, Stream &stream)
{
    if (context.end - context.first > shape.window)
        throw std::logic_error("launchDraftAttend: more context than a window");
    const float scale = 1.0F / std::sqrt(static_cast<float>(shape.headDim));
    const std::int64_t perKey = shape.heads / shape.kvHeads;
    const std::int64_t longest = context.end - context.first + rows;
    const std::int64_t grain = std::max<std::int64_t>(1, kPartWork / (2 * longest * shape.headDim));
    stream.pool().parallelFor(rows * shape.heads, grain, [&](std::int64_t begin, std::int64_t end) {
        std::vector<float> scores(static_cast<std::size_t>((longest + 7) / 8 * 8));
        for (std::int64_t i = begin; i < end; ++i) {
            const std::int64_t t = i / shape.heads;
            const std::int64_t offset = i % shape.heads / perKey * shape.headDim;
            const std::int64_t first = std::max(context.first, context.end + t - shape.window + 1);
            const std::int64_t count = std::max<std::int64_t>(0, context.end - first);
            const Rows keyRows { .context = context.keys.data() + offset,
                                 .block = keys.data() + offset,
                                 .first = first,
                                 .count = count,
                                 .window = shape.window,
                                 .stride = shape.keyWidth() };
            Rows valueRows = keyRows;
            valueRows.context = context.values.data() + offset;
            valueRows.block = values.data() + offset;
            attendHead(y.data() + i * shape.headDim, query.data() + i * shape.headDim, keyRows,
                       valueRows, count + rows, scores.data(), scale, shape.headDim);
        }
    });
}

} // namespace firesteel::kernels
