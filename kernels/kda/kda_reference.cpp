// SPDX-License-Identifier: MIT
//
// KDA on the CPU: convolution, gates, the recurrent form and the output norm. The chunk form is in
// kda_chunk_reference.cpp.
#include "kernels/kda/kda_reference.h"

#include "kernels/common/simd.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace firesteel::kernels::reference {

namespace {

FIRESTEEL_INLINE Vec8 sigmoid8(Vec8 x) { return splat(1.0F) / (splat(1.0F) + exp8(-x)); }

FIRESTEEL_SIMD_CLONES void convRow(float *u, const float *const *taps, const float *w,
                                   std::int64_t channels)
{
    for (std::int64_t c = 0; c < channels; c += 8) {
        Vec8 sum = {};
        for (int j = 0; j < kKdaConvTaps; ++j) {
            Vec8 weight;
            for (int lane = 0; lane < 8; ++lane)
                weight[lane] = w[(c + lane) * kKdaConvTaps + j];
            sum += weight * load8(taps[j] + c);
        }
        store8(u + c, sum * sigmoid8(sum));
    }
}

FIRESTEEL_SIMD_CLONES void normalizeHead(float *x, std::int64_t dim, float factor)
{
    Vec8 squares = {};
    for (std::int64_t c = 0; c < dim; c += 8)
        squares += load8(x + c) * load8(x + c);
    const float scale = factor / std::sqrt(sum8(squares) + 1e-6F);
    for (std::int64_t c = 0; c < dim; c += 8)
        store8(x + c, load8(x + c) * splat(scale));
}

FIRESTEEL_SIMD_CLONES void gateHead(float *g, const float *bias, float rate, float lowerBound,
                                    std::int64_t dim)
{
    for (std::int64_t c = 0; c < dim; c += 8)
        store8(g + c, splat(lowerBound) * sigmoid8(splat(rate) * (load8(g + c) + load8(bias + c))));
}

// One step of the recurrence on one head's state; kOutput: also o = S^T q. The two forms write the
// same bits to S.
template <bool kOutput>
FIRESTEEL_INLINE void step(float *state, const float *q, const float *k, const float *v,
                           const float *g, float beta, float *o, std::int64_t dim)
{
    std::array<float, kKdaMaxHeadDim>
        decay; // NOLINT(cppcoreguidelines-pro-type-member-init): filled below
    for (std::int64_t c = 0; c < dim; c += 8)
        store8(&decay[static_cast<std::size_t>(c)], exp8(load8(g + c)));
    for (std::int64_t column = 0; column < dim; column += 8) {
        Vec8 projected = {};
        for (std::int64_t c = 0; c < dim; ++c)
            projected += splat(k[c])
                * (splat(decay[static_cast<std::size_t>(c)]) * load8(state + c * dim + column));
        const Vec8 update = splat(beta) * (load8(v + column) - projected);
        Vec8 out = {};
        for (std::int64_t c = 0; c < dim; ++c) {
            float *row = state + c * dim + column;
            const Vec8 next
                = splat(decay[static_cast<std::size_t>(c)]) * load8(row) + splat(k[c]) * update;
            store8(row, next);
            if constexpr (kOutput)
                out += splat(q[c]) * next;
        }
        if constexpr (kOutput)
            store8(o + column, out);
    }
}

FIRESTEEL_SIMD_CLONES void recurrentHead(float *o, float *state, float *scratch,
                                         const KdaRecords &accepted, const KdaRecords &rows,
                                         const KdaShape &shape, std::int64_t head)
{
    const std::int64_t dim = shape.headDim;
    const std::int64_t width = shape.channels();
    const std::int64_t at = head * dim;
    for (std::int64_t t = 0; t < accepted.rows; ++t) {
        const float *u = accepted.u.data() + t * 3 * width + at;
        step<false>(state, nullptr, u + width, u + 2 * width, accepted.g.data() + t * width + at,
                    accepted.beta[static_cast<std::size_t>(t * shape.heads + head)], nullptr, dim);
    }
    if (rows.rows == 0)
        return;
    std::copy(state, state + dim * dim, scratch);
    for (std::int64_t t = 0; t < rows.rows; ++t) {
        const float *u = rows.u.data() + t * 3 * width + at;
        step<true>(scratch, u, u + width, u + 2 * width, rows.g.data() + t * width + at,
                   rows.beta[static_cast<std::size_t>(t * shape.heads + head)], o + t * width + at,
                   dim);
    }
}

FIRESTEEL_SIMD_CLONES void outputHead(float *y, const float *o, const float *gate,
                                      const float *weight, float eps, std::int64_t dim)
{
    Vec8 squares = {};
    for (std::int64_t c = 0; c < dim; c += 8)
        squares += load8(o + c) * load8(o + c);
    const float scale = 1.0F / std::sqrt(sum8(squares) / static_cast<float>(dim) + eps);
    for (std::int64_t c = 0; c < dim; c += 8)
        store8(y + c, load8(o + c) * splat(scale) * load8(weight + c) * sigmoid8(load8(gate + c)));
}

} // namespace

void kdaConv(std::span<float> u, std::span<const float> z, std::span<const float> window,
             std::span<const float> w, std::int64_t rows, ThreadPool &pool)
{
    const auto channels = static_cast<std::int64_t>(w.size()) / kKdaConvTaps;
    pool.parallelFor(rows, 16, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t t = first; t < last; ++t) {
            std::array<const float *, kKdaConvTaps> taps {};
            for (std::int64_t j = 0; j < kKdaConvTaps; ++j) {
                const std::int64_t source = t - kKdaWindow + j;
                taps[static_cast<std::size_t>(j)] = source >= 0
                    ? z.data() + source * channels
                    : window.data() + (source + kKdaWindow) * channels;
            }
            convRow(u.data() + t * channels, taps.data(), w.data(), channels);
        }
    });
}

void kdaShiftWindow(std::span<float> window, std::span<const float> z, std::int64_t channels,
                    std::int64_t rows)
{
    if (rows >= kKdaWindow) {
        std::copy_n(z.data() + (rows - kKdaWindow) * channels, kKdaWindow * channels,
                    window.data());
        return;
    }
    std::copy(window.data() + rows * channels, window.data() + kKdaWindow * channels,
              window.data());
    std::copy_n(z.data(), rows * channels, window.data() + (kKdaWindow - rows) * channels);
}

void kdaNormalize(std::span<float> u, const KdaShape &shape, std::int64_t rows, ThreadPool &pool)
{
    const float queryFactor = 1.0F / std::sqrt(static_cast<float>(shape.headDim));
    pool.parallelFor(rows, 32, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t t = first; t < last; ++t)
            for (std::int64_t head = 0; head < 2 * shape.heads; ++head)
                normalizeHead(u.data() + t * 3 * shape.channels() + head * shape.headDim,
                              shape.headDim, head < shape.heads ? queryFactor : 1.0F);
    });
}

void kdaGates(std::span<float> g, std::span<float> beta, std::span<const float> dtBias,
              std::span<const float> aLog, const KdaShape &shape, std::int64_t rows,
              ThreadPool &pool)
{
    pool.parallelFor(rows, 32, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t t = first; t < last; ++t)
            for (std::int64_t head = 0; head < shape.heads; ++head) {
                gateHead(g.data() + t * shape.channels() + head * shape.headDim,
                         dtBias.data() + head * shape.headDim,
                         std::exp(aLog[static_cast<std::size_t>(head)]), shape.gateLowerBound,
                         shape.headDim);
                float &b = beta[static_cast<std::size_t>(t * shape.heads + head)];
                b = 1.0F / (1.0F + std::exp(-b));
            }
    });
}

void kdaRecurrent(std::span<float> o, std::span<float> state, const KdaRecords &accepted,
                  const KdaRecords &rows, const KdaShape &shape, ThreadPool &pool)
{
    pool.parallelFor(shape.heads, 1, [&](std::int64_t first, std::int64_t last) {
        std::array<float, static_cast<std::size_t>(kKdaMaxHeadDim * kKdaMaxHeadDim)>
            scratch; // copy of one head's state
        for (std::int64_t head = first; head < last; ++head)
            recurrentHead(o.data(), state.data() + head * shape.headDim * shape.headDim,
                          scratch.data(), accepted, rows, shape, head);
    });
}

void kdaOutput(std::span<float> y, std::span<const float> o, std::span<const float> gate,
               std::span<const float> weight, float eps, const KdaShape &shape, std::int64_t rows,
               ThreadPool &pool)
{
    pool.parallelFor(rows, 32, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t t = first; t < last; ++t)
            for (std::int64_t head = 0; head < shape.heads; ++head) {
                const std::int64_t at = t * shape.channels() + head * shape.headDim;
                outputHead(y.data() + at, o.data() + at, gate.data() + at, weight.data(), eps,
                           shape.headDim);
            }
    });
}

} // namespace firesteel::kernels::reference
