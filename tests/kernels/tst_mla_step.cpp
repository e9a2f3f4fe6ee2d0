// SPDX-License-Identifier: MIT
//
// Latent attention over the sequences of a step: caches, projections and attention on either
// backend against double precision; on the GPU also that a row's bits depend on the row alone, and
// that recorded launches follow the tables.
#include "kernels/mla/mla.h"
#include "tests/kernels/mla_caches.h"
#include "tests/support/golden.h"
#include "tests/support/random_values.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <doctest/doctest.h>
#include <numeric>
#include <stdexcept>

using namespace firesteel;
using namespace firesteel::kernels;
using namespace firesteel::test;

namespace {

constexpr std::size_t kLatent = 512;
constexpr std::size_t kHead = 256;

MlaShape shapeOf(std::int64_t heads)
{
    return { .heads = heads, .latentDim = 512, .keyDim = 256, .valueDim = 256 };
}

// Rounding a probability to BF16 is uniform over +-2^-9 relative at worst, once in the sum of the
// latents and once in the divisor. Eight standard deviations, as in chainTolerance().
double probabilityTolerance(const Stream &stream)
{
    return cacheDType(stream) == DType::BF16 ? 8 * std::sqrt(2.0 / 3) * 0x1p-9 : 0;
}

// A multiple of 1/64 up to 1: F16 and BF16 hold it.
std::vector<float> weightsOf(RandomValues &random, std::size_t count)
{
    std::vector<float> values(count);
    for (float &value : values)
        value = static_cast<float>(random.integer(-64, 64)) / 64;
    return values;
}

struct PlacedWeights
{
    PlacedWeights(DType type, std::int64_t heads, std::span<const float> values, Stream &stream)
        : bytes(values.size() * dtypeBytes(type), stream)
        , matrix { bytes.data(), type, heads * 512, 512 }
    {
        bytes.write(storedAs(type, values));
    }
    PlacedBytes bytes;
    Matrix matrix;
};

enum class Side { Absorb, Expand };

std::vector<float> project(Side side, std::span<const float> in, const PlacedWeights &weights,
                           std::int64_t heads, RowClass rowClass, Stream &stream)
{
    const std::size_t from = side == Side::Absorb ? kHead : kLatent;
    const std::size_t to = side == Side::Absorb ? kLatent : kHead;
    const std::size_t vectors = in.size() / from; // rows times heads
    const auto rows = static_cast<std::int64_t>(vectors) / heads;
    const Placed<float> input(std::vector<float>(in.begin(), in.end()), stream);
    const Placed<float> output(vectors * to, stream);
    if (side == Side::Absorb)
        launchMlaAbsorbQuery(output.span(), input.span(), weights.matrix, shapeOf(heads), rows,
                             rowClass, stream);
    else
        launchMlaExpandValue(output.span(), input.span(), weights.matrix, shapeOf(heads), rows,
                             rowClass, stream);
    std::vector<float> result = output.read();
    CHECK(output.isGuardIntact());
    return result;
}

std::vector<float> projected(Side side, std::span<const float> in, std::span<const float> weights,
                             std::size_t heads)
{
    const std::size_t from = side == Side::Absorb ? kHead : kLatent;
    const std::size_t to = side == Side::Absorb ? kLatent : kHead;
    std::vector<float> result(in.size() / from * to);
    for (std::size_t i = 0; i < in.size() / from; ++i) {
        const float *matrix
            = weights.data() + (i % heads * 512 + (side == Side::Absorb ? 0 : 256)) * kLatent;
        for (std::size_t n = 0; n < to; ++n) {
            double sum = 0;
            for (std::size_t k = 0; k < from; ++k)
                sum += static_cast<double>(in[i * from + k])
                    * static_cast<double>(side == Side::Absorb ? matrix[k * kLatent + n]
                                                               : matrix[n * kLatent + k]);
            result[i * to + n] = static_cast<float>(sum);
        }
    }
    return result;
}

bool isPrefix(const std::vector<float> &part, const std::vector<float> &whole)
{
    return part.size() <= whole.size() && std::equal(part.begin(), part.end(), whole.begin());
}

// Sequences with full caches, and rows that attend to some of the positions before them.
struct AttendInputs
{
    std::int64_t heads;
    std::vector<StepRows> rows;
    std::vector<std::vector<float>> latents; // of each sequence [context, 512], exact in BF16
    std::vector<float> absorbed;
    SelectedTokens tokens; // of each row
    std::int64_t maxSelected = 2051;

    std::size_t rowWidth() const { return static_cast<std::size_t>(heads) * kLatent; }
};

// counts: of the tokens that each row selects, in turn; row i of the step has counts[i % size].
AttendInputs attendInputs(std::uint64_t seed, std::int64_t heads, std::vector<StepRows> rows,
                          const std::vector<int> &counts, float queryScale)
{
    RandomValues random(seed);
    AttendInputs inputs {
        .heads = heads, .rows = std::move(rows), .latents = {}, .absorbed = {}, .tokens = {}
    };
    for (const StepRows &part : inputs.rows) {
        inputs.latents.push_back(nearestBf16(
            random.uniforms(static_cast<std::size_t>(part.firstPosition + part.rows) * kLatent)));
        for (std::int32_t row = 0; row < part.rows; ++row) {
            const int visible = part.firstPosition + row + 1;
            const int count = std::min(visible, counts[inputs.tokens.rows.size() % counts.size()]);
            std::vector<std::int32_t> positions(static_cast<std::size_t>(visible));
            std::iota(positions.begin(), positions.end(), 0);
            while (static_cast<int>(positions.size()) > count)
                positions.erase(positions.begin()
                                + random.integer(0, static_cast<int>(positions.size()) - 1));
            inputs.tokens.rows.push_back(std::move(positions));
        }
    }
    inputs.absorbed
        = random.uniforms(inputs.tokens.rows.size() * inputs.rowWidth(), -queryScale, queryScale);
    return inputs;
}

std::vector<float> attend(const AttendInputs &inputs, RowClass rowClass, Stream &stream,
                          std::int64_t longestContext = 0)
{
    std::vector<MlaCaches> caches;
    std::vector<MlaSlot> slots;
    for (const std::vector<float> &latents : inputs.latents) {
        caches.emplace_back(static_cast<std::int64_t>(latents.size() / kLatent), 512, 0, stream);
        caches.back().setLatents(latents);
        slots.push_back(caches.back().slot());
    }
    const PlacedStep step(inputs.rows, slots, stream, longestContext);
    const PlacedSelection selection(inputs.tokens, inputs.maxSelected, stream);
    const Placed<float> absorbed(inputs.absorbed, stream);
    const Placed<float> mixed(inputs.absorbed.size(), stream);
    const MlaShape shape = shapeOf(inputs.heads);
    const Placed<std::byte> scratch(
        attendScratchBytes(shape, inputs.maxSelected, step.rows(), rowClass, stream), stream);
    launchMlaAttend(mixed.span(), absorbed.span(), step.slots(), selection.selection(),
                    scratch.span(), shape, step.step(), rowClass, stream);
    std::vector<float> result = mixed.read();
    CHECK(mixed.isGuardIntact());
    CHECK(scratch.isGuardIntact());
    return result;
}

std::vector<float> attended(const AttendInputs &inputs)
{
    std::vector<float> result;
    std::size_t t = 0;
    for (std::size_t s = 0; s < inputs.rows.size(); ++s)
        for (std::int32_t row = 0; row < inputs.rows[s].rows; ++row, ++t)
            for (std::size_t h = 0; h < static_cast<std::size_t>(inputs.heads); ++h) {
                const float *query = inputs.absorbed.data() + t * inputs.rowWidth() + h * kLatent;
                const auto latent = [&](std::int32_t position) {
                    return inputs.latents[s].data() + static_cast<std::ptrdiff_t>(position) * 512;
                };
                std::vector<double> scores;
                for (const std::int32_t position : inputs.tokens.rows[t]) {
                    double score = 0;
                    for (std::size_t c = 0; c < kLatent; ++c)
                        score += static_cast<double>(query[c])
                            * static_cast<double>(latent(position)[c]);
                    scores.push_back(score / 16);
                }
                const double top = scores.empty() ? 0 : std::ranges::max(scores);
                double total = 0;
                std::vector<double> sums(kLatent);
                for (std::size_t n = 0; n < scores.size(); ++n) {
                    const double weight = std::exp(scores[n] - top);
                    total += weight;
                    for (std::size_t c = 0; c < kLatent; ++c)
                        sums[c]
                            += weight * static_cast<double>(latent(inputs.tokens.rows[t][n])[c]);
                }
                for (const double sum : sums)
                    result.push_back(static_cast<float>(total > 0 ? sum / total : 0));
            }
    return result;
}

// Row `row` of sequence `sequence` by itself.
AttendInputs alone(const AttendInputs &inputs, std::size_t sequence, std::int32_t row,
                   std::size_t stepRow)
{
    const auto width = static_cast<std::ptrdiff_t>(inputs.rowWidth());
    const auto at = inputs.absorbed.begin() + static_cast<std::ptrdiff_t>(stepRow) * width;
    return { inputs.heads,
             { { inputs.rows[sequence].firstPosition + row, 1 } },
             { inputs.latents[sequence] },
             { at, at + width },
             { { inputs.tokens.rows[stepRow] } },
             inputs.maxSelected };
}

// A step that is recorded at the capacity of a context.
constexpr std::int64_t kContext = 4096;
constexpr std::int64_t kRows = 7;
constexpr IndexShape kIndex { .heads = 4, .headDim = 128, .pool = 4, .topK = 512 };

struct RecordedWork
{
    explicit RecordedWork(Stream &stream)
        : selection(kRows, kIndex.maxSelected(), stream)
        , mixed(kRows * 3 * kLatent, stream)
        , indexScratch(indexScratchBytes(kIndex, kRows, kContext, stream), stream)
        , scratch(
              attendScratchBytes(shapeOf(3), kIndex.maxSelected(), kRows, RowClass::Decode, stream),
              stream)
    {
    }
    PlacedSelection selection;
    Placed<float> mixed;
    Placed<std::byte> indexScratch, scratch;

    struct Result
    {
        SelectedTokens tokens;
        std::vector<float> mixed;
    };
    Result read() const { return { selection.read(), mixed.read() }; }
};

} // namespace

TEST_CASE("latents of a step go to their sequences' places and nowhere else")
{
    for (Stream *stream : testStreams()) {
        RandomValues random(41);
        const std::vector<StepRows> rows { { 5, 3 }, { 0, 1 }, { 17, 9 } };
        std::vector<MlaCaches> caches;
        std::vector<MlaSlot> slots;
        for (int s = 0; s < 3; ++s) {
            caches.emplace_back(26, 512, 0, *stream);
            slots.push_back(caches.back().slot());
        }
        const auto latent = random.uniforms(13 * kLatent);
        const PlacedStep step(rows, slots, *stream);
        const Placed<float> placed(latent, *stream);
        launchMlaStore(step.slots(), placed.span(), shapeOf(3), step.step(), *stream);
        const bool isRounded = cacheDType(*stream) == DType::BF16;
        std::size_t row = 0;
        for (std::size_t s = 0; s < 3; ++s) {
            const std::vector<float> cached = caches[s].latents();
            int wrong = 0;
            for (int position = 0; position < 26; ++position) {
                const bool isWritten = position >= rows[s].firstPosition
                    && position < rows[s].firstPosition + rows[s].rows;
                for (std::size_t c = 0; c < kLatent; ++c) {
                    const float value = cached[static_cast<std::size_t>(position) * kLatent + c];
                    const float source = latent[row * kLatent + c];
                    wrong += isWritten ? value != (isRounded ? nearestBf16(source) : source)
                                       : !std::isnan(value);
                }
                row += isWritten ? 1 : 0;
            }
            CHECK(wrong == 0);
            CHECK(caches[s].isGuardIntact());
        }
    }
}

TEST_CASE("query absorption and value expansion of either class")
{
    RandomValues random(42);
    constexpr std::int64_t kHeads = 3;
    const auto weights = weightsOf(random, std::size_t { kHeads } * 512 * kLatent);
    for (Stream *stream : testStreams())
        for (const DType type : { DType::F16, DType::BF16, DType::F32 }) {
            CAPTURE(static_cast<int>(type));
            const PlacedWeights placed(type, kHeads, weights, *stream);
            for (const Side side : { Side::Absorb, Side::Expand }) {
                CAPTURE(static_cast<int>(side));
                const std::size_t from = side == Side::Absorb ? kHead : kLatent;
                const std::size_t to = side == Side::Absorb ? kLatent : kHead;
                const auto in = random.uniforms(131 * kHeads * from, -2, 2);
                const std::vector<float> expected = projected(side, in, weights, kHeads);
                // Rounding goes with a sum's own partial sums, which are up to five times the root
                // mean square of its row among the 200 thousand sums here.
                const std::array<double, 1> sums { static_cast<double>(from) };
                const double tolerance = 5 * chainTolerance(sums);
                for (const std::size_t rows : { 1, 3, 4, 5, 9, 131 })
                    for (const RowClass rowClass : { RowClass::Decode, RowClass::Prefill }) {
                        CAPTURE(rows);
                        CAPTURE(static_cast<int>(rowClass));
                        CHECK(rowError(project(side, std::span(in).first(rows * kHeads * from),
                                               placed, kHeads, rowClass, *stream),
                                       std::span(expected).first(rows * kHeads * to), to)
                              <= tolerance);
                    }
            }
        }
}

TEST_CASE("a projected row has the same bits at every number of rows")
{
    Stream *gpu = gpuStream();
    if (gpu == nullptr)
        return;
    RandomValues random(43);
    constexpr std::int64_t kHeads = 5;
    const PlacedWeights weights(DType::F16, kHeads,
                                weightsOf(random, std::size_t { kHeads } * 512 * kLatent), *gpu);
    for (const Side side : { Side::Absorb, Side::Expand }) {
        const std::size_t width = (side == Side::Absorb ? kHead : kLatent) * kHeads;
        const auto in = random.uniforms(700 * width, -2, 2);
        for (const RowClass rowClass : { RowClass::Decode, RowClass::Prefill }) {
            const std::size_t most = rowClass == RowClass::Decode ? kMaxDecodeStepRows : 700;
            const std::size_t step = rowClass == RowClass::Decode ? 1 : 64;
            const std::vector<float> all
                = project(side, std::span(in).first(most * width), weights, kHeads, rowClass, *gpu);
            int wrong = 0;
            for (std::size_t rows = 1; rows < most; rows += step)
                wrong += isPrefix(project(side, std::span(in).first(rows * width), weights, kHeads,
                                          rowClass, *gpu),
                                  all)
                    ? 0
                    : 1;
            CHECK(wrong == 0);
        }
    }
}

TEST_CASE("attention over selected positions of several sequences")
{
    // Around tiles of 32 positions and parts of 288; heads around groups of 16.
    const std::vector<int> counts { 1, 31, 32, 33, 287, 288, 289, 577, 2051, 0 };
    for (Stream *stream : testStreams())
        for (const std::int64_t heads : { 3, 17, 64 }) {
            CAPTURE(heads);
            for (const float scale : { 1.0F, 24.0F }) { // even weights, and a few that stand out
                CAPTURE(scale);
                const AttendInputs inputs = attendInputs(
                    44, heads, { { 2100, 6 }, { 40, 1 }, { 3000, 4 } }, counts, scale);
                const std::vector<float> expected = attended(inputs);
                const std::array<double, 5> chain { 512, 512, 16, 2051, 2051 };
                // Scores are as large as 24 * 512 / 16 terms' sums: their errors count so often.
                const double tolerance
                    = probabilityTolerance(*stream) + chainTolerance(chain) * std::max(1.0F, scale);
                for (const RowClass rowClass : { RowClass::Decode, RowClass::Prefill }) {
                    CAPTURE(static_cast<int>(rowClass));
                    const std::vector<float> mixed = attend(inputs, rowClass, *stream);
                    // The last count is none: zeros, for which there is no relative error.
                    const std::size_t none = 9 * inputs.rowWidth();
                    CHECK(std::all_of(mixed.begin() + static_cast<std::ptrdiff_t>(none),
                                      mixed.begin()
                                          + static_cast<std::ptrdiff_t>(none + inputs.rowWidth()),
                                      [](float value) { return value == 0; }));
                    CHECK(rowError(std::span(mixed).first(none), std::span(expected).first(none),
                                   kLatent)
                          <= tolerance);
                    CHECK(rowError(std::span(mixed).subspan(none + inputs.rowWidth()),
                                   std::span(expected).subspan(none + inputs.rowWidth()), kLatent)
                          <= tolerance);
                }
            }
        }
}

TEST_CASE("an attending row has the same bits alone and in company")
{
    Stream *gpu = gpuStream();
    if (gpu == nullptr)
        return;
    const std::vector<int> counts { 2051, 700, 33, 288, 1 };
    for (const std::int64_t heads : { 3, 64 }) {
        CAPTURE(heads);
        std::vector<StepRows> rows(8, { 2100, 9 });
        const AttendInputs inputs = attendInputs(45, heads, rows, counts, 4);
        for (const RowClass rowClass : { RowClass::Decode, RowClass::Prefill }) {
            const std::vector<float> together = attend(inputs, rowClass, *gpu);
            CHECK(attend(inputs, rowClass, *gpu, 1 << 20) == together);
            int wrong = 0;
            std::size_t t = 0;
            for (std::size_t s = 0; s < rows.size(); ++s)
                for (std::int32_t row = 0; row < rows[s].rows; ++row, ++t) {
                    const std::vector<float> single
                        = attend(alone(inputs, s, row, t), rowClass, *gpu);
                    wrong += std::equal(single.begin(), single.end(),
                                        together.begin()
                                            + static_cast<std::ptrdiff_t>(t * single.size()))
                        ? 0
                        : 1;
                }
            CHECK(wrong == 0);
        }
    }
}

TEST_CASE("what does not fit together is refused by name")
{
    RandomValues random(47);
    for (Stream *stream : testStreams()) {
        MlaCaches cache(8, 512, 128, *stream);
        const std::array<MlaSlot, 1> slots { cache.slot() };
        const PlacedStep step({ { 0, 4 } }, slots, *stream);
        const Placed<float> few(std::size_t { 3 } * 512, *stream);
        CHECK_THROWS_WITH_AS(
            launchMlaStore(step.slots(), few.span(), shapeOf(1), step.step(), *stream),
            "launchMlaStore: latent has 1536 values of 2048", std::logic_error);
        const Placed<float> rows(std::size_t { 4 } * 512, *stream);
        CHECK_THROWS_WITH_AS(launchMlaStore({}, rows.span(), shapeOf(1), step.step(), *stream),
                             "launchMlaStore: slots has 0 values of 1", std::logic_error);
        const PlacedWeights weights(DType::F16, 1, weightsOf(random, 512 * kLatent), *stream);
        CHECK_THROWS_WITH_AS(launchMlaExpandValue(rows.span(), rows.span(), weights.matrix,
                                                  shapeOf(2), 2, RowClass::Decode, *stream),
                             "launchMlaExpandValue: kv_b is [512, 512] and not of this shape",
                             std::logic_error);
        if (stream->backend() == Backend::Cuda) {
            IndexShape shape = kIndex;
            shape.pool = 8;
            CHECK_THROWS_AS(indexScratchBytes(shape, 1, 8, *stream), std::logic_error);
            CHECK_THROWS_AS(
                attendScratchBytes({ 3, 256, 256, 256 }, 131, 1, RowClass::Decode, *stream),
                std::logic_error);
        }
    }
}

TEST_CASE("recorded launches follow the tables of the step")
{
    Stream *gpu = gpuStream();
    if (gpu == nullptr)
        return;
    const MlaShape shape = shapeOf(3);
    RandomValues random(46);
    std::vector<MlaCaches> caches;
    std::vector<MlaSlot> slots;
    for (int s = 0; s < 3; ++s) {
        caches.emplace_back(kContext, 512, 128, *gpu);
        caches.back().setLatents(nearestBf16(random.uniforms(kContext * kLatent)));
        caches.back().setPooledKeys(nearestBf16(random.uniforms(kContext / 4 * 128)));
        slots.push_back(caches.back().slot());
    }
    const Placed<float> latent(random.uniforms(kRows * kLatent), *gpu);
    const Placed<float> absorbed(random.uniforms(kRows * 3 * kLatent), *gpu);
    const Placed<float> key(random.uniforms(kRows * 128), *gpu);
    const Placed<float> gate(random.uniforms(kRows * 128), *gpu);
    const Placed<float> ape(random.uniforms(std::size_t { 4 } * 128), *gpu);
    const Placed<float> query(random.uniforms(kRows * 512), *gpu);
    const Placed<float> weights(random.uniforms(kRows * 4), *gpu);

    const auto enqueue = [&](const RecordedWork &work, const PlacedStep &step) {
        launchMlaStore(step.slots(), latent.span(), shape, step.step(), *gpu);
        launchIndexPool(step.slots(), key.span(), gate.span(), ape.span(), kIndex, step.step(),
                        *gpu);
        launchIndexSelect(work.selection.selection(), work.indexScratch.span(), query.span(),
                          weights.span(), step.slots(), kIndex, step.step(), *gpu);
        launchMlaAttend(work.mixed.span(), absorbed.span(), step.slots(),
                        work.selection.selection(), work.scratch.span(), shape, step.step(),
                        RowClass::Decode, *gpu);
    };
    // Tails are read by pools that a step closes, so positions go up, as they do in a sequence.
    const std::vector<std::vector<StepRows>> tables { { { 100, 3 }, { 300, 4 } },
                                                      { { 3000, 4 }, { 700, 3 } },
                                                      { { 4089, 6 }, { 516, 1 } } };
    PlacedStep recorded(tables[0], { slots.data(), 2 }, *gpu, kContext, kMaxSequenceRows);
    const RecordedWork work(*gpu);
    const DeviceGraph graph(gpu->cuda(), [&] { enqueue(work, recorded); });
    for (std::size_t i = 0; i < tables.size(); ++i) {
        CAPTURE(i);
        const std::array<MlaSlot, 2> used { slots[i % 3], slots[(i + 1) % 3] };
        recorded.assign(tables[i], used, *gpu);
        graph.launch(gpu->cuda());
        const RecordedWork::Result replayed = work.read();
        // The same rows again write the same caches.
        const PlacedStep step(tables[i], used, *gpu);
        const RecordedWork direct(*gpu);
        enqueue(direct, step);
        const RecordedWork::Result expected = direct.read();
        CHECK(replayed.tokens == expected.tokens);
        CHECK(replayed.mixed == expected.mixed);
        CHECK(std::ranges::none_of(replayed.mixed, [](float v) { return std::isnan(v); }));
    }
    for (const MlaCaches &cache : caches)
        CHECK(cache.isGuardIntact());
}
