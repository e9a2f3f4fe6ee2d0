// SPDX-License-Identifier: MIT
#include "kernels/mla/mla_backends.h"
#include "tests/support/golden.h"
#include "tests/support/random_values.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <doctest/doctest.h>
#include <limits>
#include <numbers>
#include <numeric>
#include <vector>

using namespace firesteel::kernels;
using firesteel::test::RandomValues;

namespace {

constexpr IndexShape kIndex { .heads = 2, .headDim = 8, .pool = 4, .topK = 16 };

std::vector<std::int32_t> selected(const std::vector<float> &scores, std::int64_t position)
{
    ThreadPool pool(1);
    std::vector<std::int32_t> positions(static_cast<std::size_t>(kIndex.maxSelected()), -1);
    std::vector<std::int32_t> counts(1);
    reference::selectBest({ positions, counts, kIndex.maxSelected() }, scores, kIndex, position, 1,
                          static_cast<std::int64_t>(scores.size()), pool);
    positions.resize(static_cast<std::size_t>(counts[0]));
    return positions;
}

std::vector<std::int32_t> range(std::int32_t begin, std::int32_t end)
{
    std::vector<std::int32_t> values(static_cast<std::size_t>(end - begin));
    std::iota(values.begin(), values.end(), begin);
    return values;
}

} // namespace

TEST_CASE("everything visible is selected while it fits: up to topK plus an incomplete pool")
{
    CHECK(selected({}, 0) == range(0, 1));
    CHECK(selected({}, 15) == range(0, 16));
    CHECK(selected({}, 18)
          == range(0, 19)); // 4 complete pools and a tail of 3: the last dense position
}

TEST_CASE("the best pools are selected in order of position, ties go to the earlier pool, the tail "
          "always joins")
{
    // Position 19: 5 complete pools, 4 kept, no tail; the query's own pool is dropped when it
    // scores worst.
    CHECK(selected({ 3, 1, 2, 4, 0 }, 19) == range(0, 16));
    // Position 21: 5 complete pools and a tail of 2.
    std::vector<std::int32_t> expected = range(4, 20);
    const std::vector<std::int32_t> tail = range(20, 22);
    expected.insert(expected.end(), tail.begin(), tail.end());
    CHECK(selected({ -1, 1, 2, 4, 0 }, 21) == expected);
    // All equal: the four earliest.
    CHECK(selected(std::vector<float>(6, 0.5F), 23) == range(0, 16));
    // One tie at the border: pool 1 wins over pool 4.
    CHECK(selected({ 9, 1, 9, 9, 1 }, 19) == range(0, 16));
    // NaN ranks with minus infinity, zeros of both signs with each other.
    const float infinity = std::numeric_limits<float>::infinity();
    CHECK(selected({ NAN, 1, 1, 1, -infinity }, 19) == range(0, 16));
    CHECK(selected({ -0.0F, 1, 1, 1, 0 }, 19) == range(0, 16));
}

TEST_CASE("index scores follow the formula and mask incomplete pools")
{
    ThreadPool pool(2);
    RandomValues random(1);
    constexpr std::int64_t kRows = 7;
    constexpr std::int64_t kFirst = 9;
    constexpr std::int64_t kPools = 4;
    const std::vector<float> query = random.uniforms(kRows * 16);
    const std::vector<float> weights = random.uniforms(kRows * 2);
    const std::vector<float> keys = random.uniforms(kPools * 8);
    std::vector<float> scores(kRows * kPools, NAN);
    reference::indexScores(scores, query, weights, keys, kIndex, kFirst, kRows, kPools, pool);
    for (std::size_t t = 0; t < kRows; ++t)
        for (std::size_t p = 0; p < kPools; ++p) {
            if (p >= (static_cast<std::size_t>(kFirst) + t + 1) / 4) {
                CHECK(scores[t * kPools + p] == -std::numeric_limits<float>::infinity());
                continue;
            }
            double expected = 0;
            for (std::size_t h = 0; h < 2; ++h) {
                double dot = 0;
                for (std::size_t c = 0; c < 8; ++c)
                    dot += static_cast<double>(query[t * 16 + h * 8 + c])
                        * static_cast<double>(keys[p * 8 + c]);
                expected += static_cast<double>(weights[t * 2 + h])
                    * std::max(0.0, dot / std::sqrt(8.0)) / std::numbers::sqrt2;
            }
            CHECK(static_cast<double>(scores[t * kPools + p])
                  == doctest::Approx(expected).epsilon(1e-5));
        }
}

TEST_CASE("pooled keys are per-channel softmax averages, whatever the split of the rows")
{
    Stream stream(1);
    RandomValues random(2);
    constexpr std::size_t kRows = 50;
    const std::vector<float> key = random.uniforms(kRows * 8);
    const std::vector<float> gate = random.uniforms(kRows * 8, -4, 4);
    const std::vector<float> ape = random.uniforms(4 * 8);
    const auto pool = [&](const std::vector<std::size_t> &parts) {
        std::vector<float> pooled(kRows / 4 * 8, NAN);
        std::vector<float> tailKey(kIndexTailRows * 8);
        std::vector<float> tailGate(kIndexTailRows * 8);
        std::size_t at = 0;
        for (const std::size_t rows : parts) {
            const MlaSlot slot { nullptr, pooled.data(), tailKey.data(), tailGate.data() };
            const StepSequence sequence { .rows = static_cast<std::int32_t>(rows),
                                          .firstPosition = static_cast<std::int32_t>(at) };
            const std::vector<std::int32_t> sequenceOf(rows);
            launchIndexPool({ &slot, 1 }, std::span(key).subspan(at * 8, rows * 8),
                            std::span(gate).subspan(at * 8, rows * 8), ape, kIndex,
                            { .sequences = { &sequence, 1 },
                              .sequenceOf = sequenceOf,
                              .rows = sequence.rows,
                              .mostRows = sequence.rows,
                              .longestContext = kRows },
                            stream);
            at += rows;
        }
        return pooled;
    };
    const std::vector<float> whole = pool({ kRows });
    for (std::size_t p = 0; p < kRows / 4; ++p)
        for (std::size_t c = 0; c < 8; ++c) {
            double sum = 0;
            double weighted = 0;
            for (std::size_t j = 0; j < 4; ++j) {
                const double e
                    = std::exp(static_cast<double>(gate[(p * 4 + j) * 8 + c] + ape[j * 8 + c]));
                sum += e;
                weighted += e * static_cast<double>(key[(p * 4 + j) * 8 + c]);
            }
            CHECK(static_cast<double>(whole[p * 8 + c])
                  == doctest::Approx(weighted / sum).epsilon(1e-5));
        }
    CHECK(pool({ 1, 1, 1, 1, 1, 45 }) == whole);
    CHECK(pool({ 35, 1, 2, 3, 9 }) == whole);
    CHECK(pool({ 3, 33, 14 }) == whole);
}

TEST_CASE("absorbed attention equals attention with expanded keys and values")
{
    constexpr MlaShape kShape { .heads = 2, .latentDim = 24, .keyDim = 8, .valueDim = 16 };
    constexpr std::size_t kTokens = 21;
    constexpr std::size_t kRows = 3;
    Stream stream(2);
    RandomValues random(3);
    const std::vector<float> kvB = random.uniforms(2 * 24 * 24);
    const Matrix matrix { kvB.data(), DType::F32, 48, 24 };
    const std::vector<float> latents = random.uniforms(kTokens * 24);
    const std::vector<float> query = random.uniforms(kRows * 16);
    std::vector<std::int32_t> positions(kRows * 32, -1);
    std::vector<std::int32_t> counts { 1, 5, 21 };
    for (std::size_t t = 0; t < kRows; ++t)
        for (std::int32_t n = 0; n < counts[t]; ++n)
            positions[t * 32 + static_cast<std::size_t>(n)] = counts[t] == 5 ? 4 * n : n;

    std::vector<float> absorbed(kRows * 2 * 24);
    std::vector<float> mixed(kRows * 2 * 24);
    std::vector<float> out(kRows * 2 * 16, NAN);
    std::vector<float> cache(kTokens * 24, NAN);
    const MlaSlot slot { .latents = cache.data() };
    const StepSequence sequence { .rows = kTokens };
    const std::vector<std::int32_t> sequenceOf(kTokens);
    Step step { .sequences = { &sequence, 1 },
                .sequenceOf = sequenceOf,
                .rows = kTokens,
                .mostRows = kTokens,
                .longestContext = kTokens };
    launchMlaStore({ &slot, 1 }, latents, kShape, step, stream);
    CHECK(cache == latents);
    step.rows = kRows;
    launchMlaAbsorbQuery(absorbed, query, matrix, kShape, kRows, RowClass::Prefill, stream);
    launchMlaAttend(mixed, absorbed, { &slot, 1 }, { positions, counts, 32 }, {}, kShape, step,
                    RowClass::Prefill, stream);
    launchMlaExpandValue(out, mixed, matrix, kShape, kRows, RowClass::Prefill, stream);

    const auto expand
        = [&](std::size_t head, std::size_t row, std::size_t token) { // row of kv_b times a latent
              double sum = 0;
              for (std::size_t c = 0; c < 24; ++c)
                  sum += static_cast<double>(kvB[(head * 24 + row) * 24 + c])
                      * static_cast<double>(latents[token * 24 + c]);
              return sum;
          };
    // Chain: query absorption (8), score (24), exponentials (16 for the function, 21 for the sum),
    // mixing (21), expansion (24).
    const std::array<double, 6> chain { 8, 24, 16, 21, 21, 24 };
    const double tolerance
        = firesteel::test::chainTolerance(chain) * 24; // inputs up to 1, sums of 24 products
    for (std::size_t t = 0; t < kRows; ++t)
        for (std::size_t h = 0; h < 2; ++h) {
            std::vector<double> weight;
            double total = 0;
            for (std::int32_t n = 0; n < counts[t]; ++n) {
                const auto token
                    = static_cast<std::size_t>(positions[t * 32 + static_cast<std::size_t>(n)]);
                double score = 0;
                for (std::size_t i = 0; i < 8; ++i)
                    score += static_cast<double>(query[t * 16 + h * 8 + i]) * expand(h, i, token);
                weight.push_back(std::exp(score / std::sqrt(8.0)));
                total += weight.back();
            }
            for (std::size_t v = 0; v < 16; ++v) {
                double expected = 0;
                for (std::size_t n = 0; n < weight.size(); ++n)
                    expected += weight[n] / total
                        * expand(h, 8 + v, static_cast<std::size_t>(positions[t * 32 + n]));
                CHECK(std::abs(static_cast<double>(out[(t * 2 + h) * 16 + v]) - expected)
                      <= tolerance);
            }
        }
}

TEST_CASE("absorption reads every stored type")
{
    constexpr MlaShape kShape { .heads = 1, .latentDim = 72, .keyDim = 8, .valueDim = 8 };
    Stream stream(1);
    std::vector<std::uint16_t> brain(16 * 72);
    std::vector<std::uint16_t> half(16 * 72);
    std::vector<float> full(16 * 72);
    RandomValues random(4);
    for (std::size_t i = 0; i < full.size(); ++i) {
        full[i] = static_cast<float>(random.integer(-64, 64)) / 64; // exact in all three types
        brain[i] = static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(full[i]) >> 16);
        half[i] = std::bit_cast<std::uint16_t>(static_cast<_Float16>(full[i]));
    }
    const std::vector<float> query = random.uniforms(8);
    std::array<std::vector<float>, 3> results;
    const std::array<Matrix, 3> matrices { Matrix { full.data(), DType::F32, 16, 72 },
                                           { brain.data(), DType::BF16, 16, 72 },
                                           { half.data(), DType::F16, 16, 72 } };
    for (std::size_t i = 0; i < 3; ++i) {
        results[i].resize(72);
        launchMlaAbsorbQuery(results[i], query, matrices[i], kShape, 1, RowClass::Decode, stream);
    }
    CHECK(results[0] == results[1]);
    CHECK(results[0] == results[2]);
}
