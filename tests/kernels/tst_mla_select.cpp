// SPDX-License-Identifier: MIT
//
// The indexer over the sequences of a step: pooled keys on either backend, selections on the GPU
// equal to the CPU's where the arithmetic is exact, and good enough where it is not.
#include "kernels/mla/mla_backends.h"
#include "tests/kernels/mla_caches.h"
#include "tests/support/random_values.h"

#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>
#include <limits>
#include <numeric>

using namespace firesteel;
using namespace firesteel::kernels;
using namespace firesteel::test;

namespace {

constexpr IndexShape kModel { .heads = 32, .headDim = 128, .pool = 4, .topK = 2048 };
constexpr IndexShape kSmall { .heads = 4, .headDim = 128, .pool = 4, .topK = 128 };

std::vector<float> integers(RandomValues &random, std::size_t count, int largest)
{
    std::vector<float> values(count);
    for (float &value : values)
        value = static_cast<float>(random.integer(-largest, largest));
    return values;
}

// The inputs of a step's selection, on the host.
struct IndexInputs
{
    IndexShape shape;
    std::vector<StepRows> rows;
    std::vector<std::vector<float>> pooledKeys; // of each sequence, all that its rows complete
    std::vector<float> query, weights;

    std::size_t rowCount() const
    {
        return std::accumulate(rows.begin(), rows.end(), std::size_t { 0 },
                               [](std::size_t sum, const StepRows &part) {
                                   return sum + static_cast<std::size_t>(part.rows);
                               });
    }
    std::size_t queryWidth() const { return static_cast<std::size_t>(shape.heads * shape.headDim); }
    // Row `row` of sequence `sequence`, by itself.
    IndexInputs alone(std::size_t sequence, std::int32_t row, std::size_t stepRow) const
    {
        const auto heads = static_cast<std::ptrdiff_t>(shape.heads);
        const auto width = static_cast<std::ptrdiff_t>(queryWidth());
        const auto at = static_cast<std::ptrdiff_t>(stepRow);
        return { shape,
                 { { rows[sequence].firstPosition + row, 1 } },
                 { pooledKeys[sequence] },
                 { query.begin() + at * width, query.begin() + (at + 1) * width },
                 { weights.begin() + at * heads, weights.begin() + (at + 1) * heads } };
    }
};

std::size_t keyCount(const StepRows &rows)
{
    return static_cast<std::size_t>((rows.firstPosition + rows.rows) / 4) * 128;
}

// Small whole numbers: every sum is exact in any order, and there are ties everywhere.
IndexInputs exactInputs(std::uint64_t seed, const IndexShape &shape, std::vector<StepRows> rows)
{
    RandomValues random(seed);
    IndexInputs inputs {
        .shape = shape, .rows = std::move(rows), .pooledKeys = {}, .query = {}, .weights = {}
    };
    for (const StepRows &part : inputs.rows)
        inputs.pooledKeys.push_back(integers(random, keyCount(part), 3));
    inputs.query = integers(random, inputs.rowCount() * inputs.queryWidth(), 3);
    inputs.weights = integers(random, inputs.rowCount() * static_cast<std::size_t>(shape.heads), 2);
    return inputs;
}

SelectedTokens select(const IndexInputs &inputs, Stream &stream, std::int64_t longestContext = 0)
{
    std::vector<MlaCaches> caches;
    std::vector<MlaSlot> slots;
    for (std::size_t s = 0; s < inputs.rows.size(); ++s) {
        const StepRows &rows = inputs.rows[s];
        caches.emplace_back(rows.firstPosition + rows.rows, 0, inputs.shape.headDim, stream);
        caches.back().setPooledKeys(std::span(inputs.pooledKeys[s]).first(keyCount(rows)));
        slots.push_back(caches.back().slot());
    }
    const PlacedStep step(inputs.rows, slots, stream, longestContext);
    const PlacedSelection selection(step.rows(), inputs.shape.maxSelected(), stream);
    const Placed<float> query(inputs.query, stream);
    const Placed<float> weights(inputs.weights, stream);
    const Placed<std::byte> scratch(
        indexScratchBytes(inputs.shape, step.rows(), step.step().longestContext, stream), stream);
    launchIndexSelect(selection.selection(), scratch.span(), query.span(), weights.span(),
                      step.slots(), inputs.shape, step.step(), stream);
    SelectedTokens tokens = selection.read();
    CHECK(selection.isGuardIntact());
    CHECK(scratch.isGuardIntact());
    return tokens;
}

Stream &cpuStream() { return *testStreams().front(); }

// Rows that differ.
int differences(const SelectedTokens &a, const SelectedTokens &b)
{
    REQUIRE(a.rows.size() == b.rows.size());
    int count = 0;
    for (std::size_t t = 0; t < a.rows.size(); ++t)
        count += a.rows[t] == b.rows[t] ? 0 : 1;
    return count;
}

void checkPooling(Stream &stream, const std::vector<std::vector<std::int32_t>> &partsOfSequences)
{
    RandomValues random(21);
    const auto ape = random.uniforms(std::size_t { 4 } * 128);
    const Placed<float> placedApe(ape, stream);
    std::vector<std::vector<float>> keys;
    std::vector<std::vector<float>> gates;
    std::vector<MlaCaches> caches;
    std::vector<MlaSlot> slots;
    for (const auto &parts : partsOfSequences) {
        const auto tokens = std::accumulate(parts.begin(), parts.end(), 0);
        keys.push_back(random.uniforms(static_cast<std::size_t>(tokens) * 128));
        gates.push_back(random.uniforms(static_cast<std::size_t>(tokens) * 128, -4, 4));
        caches.emplace_back(tokens, 0, 128, stream);
        slots.push_back(caches.back().slot());
    }
    std::vector<std::int32_t> done(partsOfSequences.size());
    for (std::size_t i = 0; i < partsOfSequences.front().size(); ++i) {
        std::vector<StepRows> rows;
        std::vector<float> key;
        std::vector<float> gate;
        for (std::size_t s = 0; s < partsOfSequences.size(); ++s) {
            const std::int32_t part = partsOfSequences[s][i];
            rows.push_back({ done[s], part });
            const auto first = std::ptrdiff_t { done[s] } * 128;
            const auto last = first + std::ptrdiff_t { part } * 128;
            key.insert(key.end(), keys[s].begin() + first, keys[s].begin() + last);
            gate.insert(gate.end(), gates[s].begin() + first, gates[s].begin() + last);
            done[s] += part;
        }
        const PlacedStep step(rows, slots, stream);
        const Placed<float> placedKey(key, stream);
        const Placed<float> placedGate(gate, stream);
        launchIndexPool(step.slots(), placedKey.span(), placedGate.span(), placedApe.span(), kModel,
                        step.step(), stream);
        CHECK(caches.front().isGuardIntact()); // waits, before the inputs go
    }
    // BF16 on the GPU: half a unit in the last of 8 bits; float32: the exponentials' error.
    const double tolerance = cacheDType(stream) == DType::BF16 ? 0x1p-8 : 1e-5;
    for (std::size_t s = 0; s < caches.size(); ++s) {
        const std::vector<float> pooled = caches[s].pooledKeys();
        double worst = 0;
        for (std::size_t p = 0; p < pooled.size() / 128; ++p)
            for (std::size_t c = 0; c < 128; ++c) {
                double sum = 0;
                double weighted = 0;
                double magnitude = 0;
                for (std::size_t j = 0; j < 4; ++j) {
                    const double e = std::exp(
                        static_cast<double>(gates[s][(p * 4 + j) * 128 + c] + ape[j * 128 + c]));
                    const auto k = static_cast<double>(keys[s][(p * 4 + j) * 128 + c]);
                    sum += e;
                    weighted += e * k;
                    magnitude += e * std::abs(k);
                }
                const double error
                    = std::abs(static_cast<double>(pooled[p * 128 + c]) - weighted / sum)
                    / (magnitude / sum);
                worst = error <= worst ? worst : error; // NaN too
            }
        CHECK(worst <= tolerance);
        CHECK(caches[s].isGuardIntact());
    }
}

} // namespace

TEST_CASE("pooled keys of several sequences, whatever the rows of a step")
{
    for (Stream *stream : testStreams()) {
        checkPooling(*stream, { { 1, 3, 9, 2, 1, 5 }, { 2, 2, 9, 1, 4, 7 }, { 4, 1, 1, 8, 9, 1 } });
        // More rows than the tail holds, beside fewer; 29 is the last number that fits beside it.
        checkPooling(*stream, { { 7, 64, 3, 29, 30, 6 }, { 3, 2, 31, 29, 2, 130 } });
    }
}

TEST_CASE("selections on the GPU equal the CPU's around the first dropped token")
{
    Stream *gpu = gpuStream();
    if (gpu == nullptr)
        return;
    // 2051 visible tokens are the last that all fit; 2052 are the first of which one pool goes.
    const IndexInputs inputs = exactInputs(
        31, kModel,
        { { 495, 9 }, { 2043, 9 }, { 2047, 9 }, { 0, 1 }, { 2050, 1 }, { 2051, 1 }, { 5000, 7 } });
    const SelectedTokens expected = select(inputs, cpuStream());
    CHECK(expected.rows[8].size() == 504);
    CHECK(expected.rows[8 + 9].size() == 2048);
    CHECK(expected.rows[7 + 9].size() == 2051);
    CHECK(differences(select(inputs, *gpu), expected) == 0);
    // The capacity of a recorded step.
    CHECK(differences(select(inputs, *gpu, 1 << 17), expected) == 0);
}

TEST_CASE("selections on the GPU: other numbers of heads, and few kept pools")
{
    Stream *gpu = gpuStream();
    if (gpu == nullptr)
        return;
    for (const std::int64_t heads : { 1, 3, 4, 8, 13, 32 }) {
        CAPTURE(heads);
        IndexShape shape = kSmall;
        shape.heads = heads;
        const IndexInputs inputs
            = exactInputs(32, shape, { { 120, 9 }, { 127, 9 }, { 1000, 5 }, { 130, 1 } });
        CHECK(differences(select(inputs, *gpu), select(inputs, cpuStream())) == 0);
    }
}

TEST_CASE("selections on the GPU at 300 thousand and a million tokens")
{
    Stream *gpu = gpuStream();
    if (gpu == nullptr)
        return;
    const IndexInputs inputs
        = exactInputs(33, kModel, { { 300'000, 3 }, { (1 << 20) - 4, 4 }, { 131'070, 2 } });
    CHECK(differences(select(inputs, *gpu), select(inputs, cpuStream())) == 0);
}

TEST_CASE("selections on the GPU: a prefill step in slices of rows")
{
    Stream *gpu = gpuStream();
    if (gpu == nullptr)
        return;
    // Slices of 32 rows by the capacity, which cut both sequences.
    const IndexInputs inputs = exactInputs(34, kSmall, { { 64, 70 }, { 6000, 63 } });
    CHECK(differences(select(inputs, *gpu, 1 << 20), select(inputs, cpuStream())) == 0);
    CHECK(differences(select(inputs, *gpu), select(inputs, cpuStream())) == 0);
    // More rows than a slice ever has.
    const IndexInputs many = exactInputs(35, kSmall, { { 0, 600 } });
    CHECK(differences(select(many, *gpu), select(many, cpuStream())) == 0);
}

TEST_CASE("ties on the GPU go to the earlier pool, wherever they lie")
{
    Stream *gpu = gpuStream();
    if (gpu == nullptr)
        return;
    constexpr std::int32_t kPools = 9000;
    IndexInputs inputs = exactInputs(36, kModel, { { 4 * kPools - 1, 6 } });
    const auto heads = static_cast<std::size_t>(kModel.heads);
    // Row 0: every score zero. Row 1: none a number. Row 2: minus infinity wherever a head fires.
    std::fill_n(inputs.query.begin(), inputs.queryWidth(), 0.0F);
    inputs.weights[heads] = NAN;
    inputs.weights[2 * heads] = -std::numeric_limits<float>::infinity();
    // Row 3: one channel, which a few pools have: 300 of them better, all others equal; row 4: a
    // hundred worse. Row 5: the better ones last.
    for (std::size_t t = 3; t < 6; ++t) {
        std::fill_n(inputs.query.begin() + static_cast<std::ptrdiff_t>(t * inputs.queryWidth()),
                    inputs.queryWidth(), 0.0F);
        inputs.query[t * inputs.queryWidth() + (t - 3)] = 1;
        std::fill_n(inputs.weights.begin() + static_cast<std::ptrdiff_t>(t * heads), heads, 0.0F);
        inputs.weights[t * heads] = t == 4 ? -1.0F : 1.0F;
    }
    for (std::int32_t p = 0; p <= kPools; ++p) {
        float *key = inputs.pooledKeys[0].data() + std::ptrdiff_t { p } * 128;
        key[0] = p % 30 == 7 ? 2.0F : 1.0F;
        key[1] = p % 90 == 3 ? 2.0F : 1.0F;
        key[2] = p > kPools - 500 ? 2.0F : 1.0F;
    }
    const SelectedTokens expected = select(inputs, cpuStream());
    std::vector<std::int32_t> earliest(2048);
    std::iota(earliest.begin(), earliest.end(), 0);
    CHECK(expected.rows[0] == earliest);
    CHECK(std::equal(earliest.begin(), earliest.end(), expected.rows[1].begin()));
    CHECK(expected.rows[5][std::size_t { 12 } * 4] == (kPools - 499) * 4);
    CHECK(differences(select(inputs, *gpu), expected) == 0);
}

TEST_CASE("a row's selection on the GPU is the same alone and in company")
{
    Stream *gpu = gpuStream();
    if (gpu == nullptr)
        return;
    RandomValues random(37);
    IndexInputs inputs
        = exactInputs(38, kModel, { { 2100, 9 }, { 9000, 9 }, { 40'000, 1 }, { 3000, 4 } });
    for (auto &keys : inputs.pooledKeys)
        keys = nearestBf16(random.uniforms(keys.size()));
    inputs.query = random.uniforms(inputs.query.size());
    inputs.weights = random.uniforms(inputs.weights.size());
    const SelectedTokens together = select(inputs, *gpu);
    int wrong = 0;
    std::size_t stepRow = 0;
    for (std::size_t s = 0; s < inputs.rows.size(); ++s)
        for (std::int32_t row = 0; row < inputs.rows[s].rows; ++row, ++stepRow)
            wrong += select(inputs.alone(s, row, stepRow), *gpu).rows[0] == together.rows[stepRow]
                ? 0
                : 1;
    CHECK(wrong == 0);

    // No pool that was left out scores better than one that was kept, but for rounding: a query of
    // 16 bits (2^-18 of each product) and float32 sums of 128 products (2^-17), twice.
    constexpr double kRounding = 0x1p-15;
    stepRow = 0;
    for (std::size_t s = 0; s < inputs.rows.size(); ++s)
        for (std::int32_t row = 0; row < inputs.rows[s].rows; ++row, ++stepRow) {
            const auto pools
                = static_cast<std::size_t>((inputs.rows[s].firstPosition + row + 1) / 4);
            std::vector<bool> isKept(pools);
            for (const std::int32_t position : together.rows[stepRow])
                if (static_cast<std::size_t>(position) / 4 < pools)
                    isKept[static_cast<std::size_t>(position) / 4] = true;
            double worstKept = INFINITY;
            double bestDropped = -INFINITY;
            double largestMagnitude = 0;
            for (std::size_t p = 0; p < pools; ++p) {
                double score = 0;
                double magnitude = 0;
                for (std::size_t h = 0; h < static_cast<std::size_t>(kModel.heads); ++h) {
                    double dot = 0;
                    double products = 0;
                    for (std::size_t c = 0; c < 128; ++c) {
                        const double product
                            = static_cast<double>(
                                  inputs.query[stepRow * inputs.queryWidth() + h * 128 + c])
                            * static_cast<double>(inputs.pooledKeys[s][p * 128 + c]);
                        dot += product;
                        products += std::abs(product);
                    }
                    const auto weight = static_cast<double>(
                        inputs.weights[stepRow * static_cast<std::size_t>(kModel.heads) + h]);
                    score += weight * std::max(0.0, dot);
                    magnitude += std::abs(weight) * products;
                }
                largestMagnitude = std::max(largestMagnitude, magnitude);
                if (isKept[p])
                    worstKept = std::min(worstKept, score);
                else
                    bestDropped = std::max(bestDropped, score);
            }
            CHECK(bestDropped <= worstKept + kRounding * largestMagnitude);
        }
}
