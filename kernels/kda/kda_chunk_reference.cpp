// SPDX-License-Identifier: MIT
//
// The chunk form of KDA (prefill): the recurrence over up to 64 rows as matrix products. With G the
// running sum of g inside the chunk (spec of the architecture, section 4.5b):
//
//   A_ij = beta_i sum_c k_i k_j exp(G_i - G_j), j < i          P_ij = sum_c q_i k_j exp(G_i - G_j),
//   j <= i N    = (I + A)^-1 (beta (V - (K exp(G)) S))                (forward substitution, row by
//   row) O    = (Q exp(G)) S + P N S'   = diag(exp(G_last)) S + (K exp(G_last - G))^T N
//
// exp(G_i - G_j) is split over blocks of 16 rows at a reference row, exp(G_i - G_ref) exp(G_ref -
// G_j) with both exponents
// <= 0, and taken directly inside a block.
#include "kernels/common/simd.h"
#include "kernels/kda/kda_reference.h"

#include <algorithm>
#include <vector>

namespace firesteel::kernels::reference {

namespace {

constexpr std::int64_t kBlock = 16;

// Scratch of one head, allocated once per part of the work.
struct ChunkScratch
{
    explicit ChunkScratch(std::int64_t dim)
        : g(static_cast<std::size_t>(kKdaChunk * dim))
        , kDecayed(g.size())
        , qDecayed(g.size())
        , kRaised(g.size())
        , n(g.size())
        , a(static_cast<std::size_t>(kKdaChunk * kKdaChunk))
        , p(a.size())
    {
    }
    std::vector<float> g; // [C, d] running sum of g
    std::vector<float> kDecayed; // [C, d] k exp(G - reference)
    std::vector<float> qDecayed; // [C, d] q exp(G - reference)
    std::vector<float> kRaised; // [C, d] k exp(reference - G) of the rows before a block
    std::vector<float> n; // [C, d] the corrected values N
    std::vector<float> a; // [C, C]
    std::vector<float> p; // [C, C]
};

struct ChunkRows
{
    const float *q, *k, *v; // row t at + t * 3 * width
    const float *g; // row t at + t * width
    const float *beta; // row t at + t * heads
    float *o; // row t at + t * width
    std::int64_t rows, width, heads;
};

FIRESTEEL_INLINE float dot(const float *x, const float *y, std::int64_t dim)
{
    Vec8 sum = {};
    for (std::int64_t c = 0; c < dim; c += 8)
        sum += load8(x + c) * load8(y + c);
    return sum8(sum);
}

// out[:] = sum_c x[c] m[c, :] for a [dim, dim] matrix.
FIRESTEEL_INLINE void rowTimesMatrix(float *out, const float *x, const float *m, std::int64_t dim)
{
    for (std::int64_t column = 0; column < dim; column += 8) {
        Vec8 sum = {};
        for (std::int64_t c = 0; c < dim; ++c)
            sum += splat(x[c]) * load8(m + c * dim + column);
        store8(out + column, sum);
    }
}

// y[c] = x[c] exp(sign * (G[c] - reference[c]))
FIRESTEEL_INLINE void scaleByDecay(float *y, const float *x, const float *from, const float *to,
                                   std::int64_t dim)
{
    for (std::int64_t c = 0; c < dim; c += 8)
        store8(y + c, load8(x + c) * exp8(load8(from + c) - load8(to + c)));
}

// A and P of the rows [begin, end) of one block of 16.
FIRESTEEL_INLINE void pairScores(ChunkScratch &s, const ChunkRows &x, std::int64_t dim,
                                 std::int64_t begin, std::int64_t end)
{
    const float *reference = s.g.data() + begin * dim;
    for (std::int64_t i = begin; i < end; ++i) {
        scaleByDecay(s.kDecayed.data() + i * dim, x.k + i * 3 * x.width, s.g.data() + i * dim,
                     reference, dim);
        scaleByDecay(s.qDecayed.data() + i * dim, x.q + i * 3 * x.width, s.g.data() + i * dim,
                     reference, dim);
    }
    for (std::int64_t j = 0; j < begin; ++j) {
        float *raised = s.kRaised.data() + j * dim;
        scaleByDecay(raised, x.k + j * 3 * x.width, reference, s.g.data() + j * dim, dim);
        for (std::int64_t i = begin; i < end; ++i) {
            s.a[static_cast<std::size_t>(i * kKdaChunk + j)]
                = x.beta[i * x.heads] * dot(s.kDecayed.data() + i * dim, raised, dim);
            s.p[static_cast<std::size_t>(i * kKdaChunk + j)]
                = dot(s.qDecayed.data() + i * dim, raised, dim);
        }
    }
    for (std::int64_t i = begin; i < end; ++i) {
        const float *ki = x.k + i * 3 * x.width;
        const float *qi = x.q + i * 3 * x.width;
        for (std::int64_t j = begin; j <= i; ++j) {
            const float *kj = x.k + j * 3 * x.width;
            Vec8 keySum = {};
            Vec8 querySum = {};
            for (std::int64_t c = 0; c < dim; c += 8) {
                const Vec8 decayed = load8(kj + c)
                    * exp8(load8(s.g.data() + i * dim + c) - load8(s.g.data() + j * dim + c));
                keySum += load8(ki + c) * decayed;
                querySum += load8(qi + c) * decayed;
            }
            s.p[static_cast<std::size_t>(i * kKdaChunk + j)] = sum8(querySum);
            s.a[static_cast<std::size_t>(i * kKdaChunk + j)] = x.beta[i * x.heads] * sum8(keySum);
        }
    }
}

FIRESTEEL_SIMD_CLONES void chunkHead(ChunkScratch &s, float *state, const ChunkRows &x,
                                     std::int64_t dim)
{
    for (std::int64_t i = 0; i < x.rows; ++i)
        for (std::int64_t c = 0; c < dim; c += 8)
            store8(s.g.data() + i * dim + c,
                   load8(x.g + i * x.width + c)
                       + (i > 0 ? load8(s.g.data() + (i - 1) * dim + c) : Vec8 {}));
    for (std::int64_t begin = 0; begin < x.rows; begin += kBlock)
        pairScores(s, x, dim, begin, std::min(begin + kBlock, x.rows));

    // From here on kDecayed and qDecayed are relative to the chunk's start.
    for (std::int64_t i = 0; i < x.rows; ++i)
        for (std::int64_t c = 0; c < dim; c += 8) {
            const Vec8 decay = exp8(load8(s.g.data() + i * dim + c));
            store8(s.kDecayed.data() + i * dim + c, load8(x.k + i * 3 * x.width + c) * decay);
            store8(s.qDecayed.data() + i * dim + c, load8(x.q + i * 3 * x.width + c) * decay);
        }
    for (std::int64_t i = 0; i < x.rows; ++i) {
        float *n = s.n.data() + i * dim;
        rowTimesMatrix(n, s.kDecayed.data() + i * dim, state, dim);
        const Vec8 beta = splat(x.beta[i * x.heads]);
        for (std::int64_t c = 0; c < dim; c += 8)
            store8(n + c, beta * (load8(x.v + i * 3 * x.width + c) - load8(n + c)));
        for (std::int64_t c = 0; c < dim; c += 8) {
            Vec8 sum = load8(n + c);
            for (std::int64_t j = 0; j < i; ++j)
                sum -= splat(s.a[static_cast<std::size_t>(i * kKdaChunk + j)])
                    * load8(s.n.data() + j * dim + c);
            store8(n + c, sum);
        }
        float *o = x.o + i * x.width;
        rowTimesMatrix(o, s.qDecayed.data() + i * dim, state, dim);
        for (std::int64_t c = 0; c < dim; c += 8) {
            Vec8 sum = load8(o + c);
            for (std::int64_t j = 0; j <= i; ++j)
                sum += splat(s.p[static_cast<std::size_t>(i * kKdaChunk + j)])
                    * load8(s.n.data() + j * dim + c);
            store8(o + c, sum);
        }
    }
    const float *last = s.g.data() + (x.rows - 1) * dim;
    for (std::int64_t i = 0; i < x.rows; ++i)
        scaleByDecay(s.kRaised.data() + i * dim, x.k + i * 3 * x.width, last, s.g.data() + i * dim,
                     dim);
    // exp(G_last) scales the rows of the state: kept in the first row of qDecayed, which is free
    // now.
    for (std::int64_t c = 0; c < dim; c += 8)
        store8(s.qDecayed.data() + c, exp8(load8(last + c)));
    for (std::int64_t c = 0; c < dim; ++c)
        for (std::int64_t column = 0; column < dim; column += 8) {
            Vec8 sum
                = splat(s.qDecayed[static_cast<std::size_t>(c)]) * load8(state + c * dim + column);
            for (std::int64_t i = 0; i < x.rows; ++i)
                sum += splat(s.kRaised[static_cast<std::size_t>(i * dim + c)])
                    * load8(s.n.data() + i * dim + column);
            store8(state + c * dim + column, sum);
        }
}

} // namespace

void kdaChunks(std::span<float> o, std::span<float> state, std::span<const float> u,
               std::span<const float> g, std::span<const float> beta, const KdaShape &shape,
               std::int64_t rows, ThreadPool &pool)
{
    const std::int64_t dim = shape.headDim;
    const std::int64_t width = shape.channels();
    pool.parallelFor(shape.heads, 1, [&](std::int64_t first, std::int64_t last) {
        ChunkScratch scratch(dim);
        for (std::int64_t head = first; head < last; ++head)
            for (std::int64_t begin = 0; begin < rows; begin += kKdaChunk) {
                const float *row = u.data() + begin * 3 * width + head * dim;
                const ChunkRows chunk { .q = row,
                                        .k = row + width,
                                        .v = row + 2 * width,
                                        .g = g.data() + begin * width + head * dim,
                                        .beta = beta.data() + begin * shape.heads + head,
                                        .o = o.data() + begin * width + head * dim,
                                        .rows = std::min(kKdaChunk, rows - begin),
                                        .width = width,
                                        .heads = shape.heads };
                chunkHead(scratch, state.data() + head * dim * dim, chunk, dim);
            }
    });
}

} // namespace firesteel::kernels::reference
