// SPDX-License-Identifier: MIT
//
// The pieces of KDA on the CPU.
#include "kernels/kda/kda_reference.h"
#include "tests/support/golden.h"
#include "tests/support/random_values.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <doctest/doctest.h>
#include <vector>

using namespace firesteel::kernels;
using namespace firesteel::kernels::reference;
using firesteel::test::RandomValues;

namespace {

constexpr KdaShape kShape { .heads = 3, .headDim = 16, .gateLowerBound = -5.0F };
constexpr std::size_t kWidth = 48;
constexpr std::size_t kStateSize = 3 * 16 * 16;

// Normalised q|k|v rows, log decays in (-5, 0) and betas in (0, 1).
struct Rows
{
    Rows(std::int64_t count, std::uint64_t seed)
        : rows(count)
    {
        RandomValues random(seed);
        ThreadPool pool(1);
        u = random.uniforms(static_cast<std::size_t>(count) * 3 * kWidth);
        kdaNormalize(u, kShape, count, pool);
        g = random.uniforms(static_cast<std::size_t>(count) * kWidth, -4.99F, -0.01F);
        beta = random.uniforms(static_cast<std::size_t>(count) * 3, 0.01F, 0.99F);
    }
    KdaRecords records(std::int64_t first, std::int64_t count) const
    {
        const auto at = [&](const std::vector<float> &values, std::size_t width) {
            return std::span(values).subspan(static_cast<std::size_t>(first) * width,
                                             static_cast<std::size_t>(count) * width);
        };
        return { at(u, 3 * kWidth), at(g, kWidth), at(beta, 3), count };
    }
    std::int64_t rows;
    std::vector<float> u, g, beta;
};

// The recurrence of the header comment, in double precision.
void exactRecurrence(std::vector<double> &o, std::vector<double> &state, const Rows &x)
{
    constexpr std::size_t kDim = 16;
    o.assign(static_cast<std::size_t>(x.rows) * kWidth, 0);
    for (std::size_t t = 0; t < static_cast<std::size_t>(x.rows); ++t)
        for (std::size_t h = 0; h < 3; ++h) {
            double *s = &state[h * kDim * kDim];
            const float *q = &x.u[t * 3 * kWidth + h * kDim];
            const float *k = q + kWidth;
            const float *v = q + 2 * kWidth;
            for (std::size_t c = 0; c < kDim; ++c)
                for (std::size_t j = 0; j < kDim; ++j)
                    s[c * kDim + j]
                        *= std::exp(static_cast<double>(x.g[t * kWidth + h * kDim + c]));
            for (std::size_t j = 0; j < kDim; ++j) {
                double projected = 0;
                for (std::size_t c = 0; c < kDim; ++c)
                    projected += s[c * kDim + j] * static_cast<double>(k[c]);
                const double update = static_cast<double>(x.beta[t * 3 + h])
                    * (static_cast<double>(v[j]) - projected);
                for (std::size_t c = 0; c < kDim; ++c) {
                    s[c * kDim + j] += static_cast<double>(k[c]) * update;
                    o[t * kWidth + h * kDim + j] += static_cast<double>(q[c]) * s[c * kDim + j];
                }
            }
        }
}

// |k| = 1 and decay < 1 make every step a contraction of the state, so errors of the steps add up
// at most: each step sums d products twice (projection, output) and updates once; values stay below
// max|v| <= 1 times sqrt(d).
double stateTolerance(std::int64_t rows)
{
    const std::array<double, 3> step { 16, 16, 16 };
    return firesteel::test::chainTolerance(step) * static_cast<double>(rows) * std::sqrt(16.0);
}

double largestError(std::span<const float> actual, const std::vector<double> &exact)
{
    double worst = 0;
    for (std::size_t i = 0; i < actual.size(); ++i)
        worst = std::max(worst, std::abs(static_cast<double>(actual[i]) - exact[i]));
    return worst;
}

} // namespace

TEST_CASE("recurrent and chunk form of KDA equal the double-precision recurrence")
{
    ThreadPool pool(2);
    for (const std::int64_t rows : { 1, 2, 15, 16, 17, 63, 64, 65, 150 }) {
        const Rows x(rows, static_cast<std::uint64_t>(rows));
        const std::vector<float> start = RandomValues(99).uniforms(kStateSize, -0.5F, 0.5F);
        std::vector<double> exactState(start.begin(), start.end());
        std::vector<double> exactOutput;
        exactRecurrence(exactOutput, exactState, x);

        std::vector<float> chunkState = start;
        std::vector<float> output(static_cast<std::size_t>(rows) * kWidth, NAN);
        kdaChunks(output, chunkState, x.u, x.g, x.beta, kShape, rows, pool);
        CHECK(largestError(output, exactOutput) <= stateTolerance(rows));
        CHECK(largestError(chunkState, exactState) <= stateTolerance(rows));

        std::vector<float> state = start;
        std::fill(output.begin(), output.end(), NAN);
        kdaRecurrent(output, state, {}, x.records(0, rows), kShape, pool);
        CHECK(largestError(output, exactOutput) <= stateTolerance(rows));
        CHECK(state == start); // only accepted rows change the state
        kdaRecurrent({}, state, x.records(0, rows), {}, kShape, pool);
        CHECK(largestError(state, exactState) <= stateTolerance(rows));
    }
}

TEST_CASE("decays at the lower bound over many rows neither overflow nor lose the newest rows")
{
    ThreadPool pool(1);
    Rows x(64, 5);
    std::fill(x.g.begin(), x.g.end(), -5.0F);
    std::vector<double> exactState(kStateSize, 0.0);
    std::vector<double> exactOutput;
    exactRecurrence(exactOutput, exactState, x);
    std::vector<float> state(kStateSize, 0.0F);
    std::vector<float> output(64 * kWidth);
    kdaChunks(output, state, x.u, x.g, x.beta, kShape, 64, pool);
    CHECK(largestError(output, exactOutput) <= stateTolerance(64));
    CHECK(largestError(state, exactState) <= stateTolerance(64));
}

TEST_CASE("chunks of any multiple of 64 rows give the same bits (E2)")
{
    ThreadPool pool(2);
    const Rows x(200, 7);
    std::vector<float> whole(200 * kWidth);
    std::vector<float> wholeState(kStateSize, 0.0F);
    kdaChunks(whole, wholeState, x.u, x.g, x.beta, kShape, 200, pool);
    for (const std::int64_t chunk : { 64, 128 }) {
        std::vector<float> parts(200 * kWidth);
        std::vector<float> state(kStateSize, 0.0F);
        for (std::int64_t begin = 0; begin < 200; begin += chunk) {
            const std::int64_t rows = std::min<std::int64_t>(chunk, 200 - begin);
            const KdaRecords part = x.records(begin, rows);
            kdaChunks(std::span(parts).subspan(static_cast<std::size_t>(begin) * kWidth), state,
                      part.u, part.g, part.beta, kShape, rows, pool);
        }
        CHECK(parts == whole);
        CHECK(state == wholeState);
    }
}

TEST_CASE("rows verified together equal rows decoded one by one, bit for bit (E1)")
{
    ThreadPool pool(3);
    const Rows x(9, 11);
    std::vector<float> together(9 * kWidth);
    std::vector<float> start = RandomValues(3).uniforms(kStateSize);
    kdaRecurrent(together, start, {}, x.records(0, 9), kShape, pool);
    std::vector<float> state = start;
    for (std::int64_t t = 0; t < 9; ++t) {
        std::vector<float> alone(kWidth);
        kdaRecurrent(alone, state, t > 0 ? x.records(t - 1, 1) : KdaRecords {}, x.records(t, 1),
                     kShape, pool);
        CHECK(std::equal(alone.begin(), alone.end(),
                         together.begin() + t * static_cast<std::int64_t>(kWidth)));
    }
}

TEST_CASE("the convolution sees the window before the first row and shifts it after the last")
{
    ThreadPool pool(2);
    constexpr std::size_t kChannels = 16;
    const std::vector<float> z = RandomValues(21).uniforms(10 * kChannels);
    const std::vector<float> w = RandomValues(22).uniforms(kChannels * 4);
    const std::vector<float> zeros(3 * kChannels, 0.0F);
    std::vector<float> u(10 * kChannels);
    kdaConv(u, z, zeros, w, 10, pool);
    for (std::size_t t = 0; t < 10; ++t)
        for (std::size_t c = 0; c < kChannels; ++c) {
            double sum = 0;
            for (std::size_t j = 0; j < 4; ++j)
                if (t + j >= 3)
                    sum += static_cast<double>(w[c * 4 + j])
                        * static_cast<double>(z[(t + j - 3) * kChannels + c]);
            CHECK(u[t * kChannels + c]
                  == doctest::Approx(sum / (1 + std::exp(-sum))).epsilon(1e-5));
        }
    // Any split gives the same bits, also one with parts shorter than the window.
    for (const std::vector<std::int64_t> &parts :
         { std::vector<std::int64_t> { 1, 1, 1, 7 }, { 2, 8 }, { 4, 3, 3 } }) {
        std::vector<float> window = zeros;
        std::vector<float> split(10 * kChannels);
        std::size_t at = 0;
        for (const std::int64_t rows : parts) {
            const auto count = static_cast<std::size_t>(rows) * kChannels;
            kdaConv(std::span(split).subspan(at, count), std::span(z).subspan(at, count), window, w,
                    rows, pool);
            kdaShiftWindow(window, std::span(z).subspan(at, count), kChannels, rows);
            at += count;
        }
        CHECK(split == u);
        CHECK(std::equal(window.begin(), window.end(), z.begin() + 7 * kChannels));
    }
}

TEST_CASE("gates lie between the lower bound and zero, betas between zero and one")
{
    ThreadPool pool(1);
    std::vector<float> g = RandomValues(31).uniforms(4 * kWidth, -30.0F, 30.0F);
    std::vector<float> beta { -2, 0, 2, -200, 200, 1, 0, 0, 0, 0, 0, 0 };
    const std::vector<float> raw = g;
    const std::vector<float> bias = RandomValues(32).uniforms(kWidth);
    const std::vector<float> aLog { -1.0F, 0.0F, 0.7F };
    kdaGates(g, beta, bias, aLog, kShape, 4, pool);
    for (std::size_t i = 0; i < g.size(); ++i) {
        const double rate = std::exp(static_cast<double>(aLog[i / 16 % 3]));
        const double x
            = rate * (static_cast<double>(raw[i]) + static_cast<double>(bias[i % kWidth]));
        CHECK(static_cast<double>(g[i]) == doctest::Approx(-5 / (1 + std::exp(-x))).epsilon(1e-5));
        CHECK(g[i] <= 0.0F);
        CHECK(g[i] >= -5.0F);
    }
    CHECK(beta[1] == 0.5F);
    CHECK(beta[3] == 0.0F);
    CHECK(beta[4] == 1.0F);
    CHECK(beta[0] == doctest::Approx(1 / (1 + std::exp(2.0))));
}

TEST_CASE("the output norm normalises each head and multiplies by a sigmoid gate")
{
    ThreadPool pool(1);
    const std::vector<float> o = RandomValues(41).uniforms(2 * kWidth);
    const std::vector<float> gate = RandomValues(42).uniforms(2 * kWidth, -3, 3);
    const std::vector<float> weight = RandomValues(43).uniforms(16);
    std::vector<float> y(2 * kWidth);
    kdaOutput(y, o, gate, weight, 1e-5F, kShape, 2, pool);
    for (std::size_t head = 0; head < 6; ++head) {
        double squares = 0;
        for (std::size_t c = 0; c < 16; ++c)
            squares += std::pow(static_cast<double>(o[head * 16 + c]), 2);
        for (std::size_t c = 0; c < 16; ++c) {
            const std::size_t i = head * 16 + c;
            const double expected = static_cast<double>(o[i]) / std::sqrt(squares / 16 + 1e-5)
                * static_cast<double>(weight[c]) / (1 + std::exp(-static_cast<double>(gate[i])));
            CHECK(static_cast<double>(y[i]) == doctest::Approx(expected).epsilon(1e-5));
        }
    }
}
