// SPDX-License-Identifier: MIT
//
// Steps of a KDA layer on the CPU and on the GPU: against double precision, and the exactness that
// docs/architecture.md promises (E1, E2).
#include "kernels/common/device.h"
#include "tests/kernels/kda_layer.h"
#include "tests/support/golden.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <doctest/doctest.h>
#include <stdexcept>
#include <vector>

using namespace firesteel::kernels;
using namespace firesteel::test;

namespace {

constexpr std::size_t kDim = 128;
constexpr std::size_t kHeads = 3;
constexpr std::size_t kChannels = kHeads * kDim;

using Doubles = std::vector<double>;

double tolerance(std::initializer_list<double> lengths)
{
    return chainTolerance(std::vector<double>(lengths));
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

double largestError(std::span<const float> actual, const Doubles &exact)
{
    REQUIRE(actual.size() == exact.size());
    double worst = 0;
    for (std::size_t i = 0; i < actual.size(); ++i) {
        const double error = std::abs(static_cast<double>(actual[i]) - exact[i]);
        worst = error <= worst ? worst : error; // NaN counts
    }
    return worst;
}

// Rows of `width` before a step's first: the window, then the first `recorded` recorded inputs.
std::vector<float> past(const KdaMemory &memory, int recorded)
{
    std::vector<float> rows = memory.window;
    rows.insert(rows.end(), memory.input.begin(),
                memory.input.begin() + recorded * static_cast<std::ptrdiff_t>(3 * kChannels));
    return rows;
}

// u of launchKdaPrepare.
Doubles exactChannels(const KdaWeights &w, std::vector<float> inputs, const KdaInput &x)
{
    constexpr std::size_t kWidth = 3 * kChannels;
    const std::size_t before = inputs.size() / kWidth;
    inputs.insert(inputs.end(), x.z.begin(), x.z.end());
    Doubles u(x.z.size());
    for (std::size_t t = 0; t < static_cast<std::size_t>(x.rows); ++t) {
        for (std::size_t c = 0; c < kWidth; ++c) {
            double sum = 0;
            for (std::size_t j = 0; j < 4; ++j)
                sum += static_cast<double>(w.conv[c * 4 + j])
                    * static_cast<double>(inputs[(before + t + j - 3) * kWidth + c]);
            u[t * kWidth + c] = sum * sigmoid(sum);
        }
        for (std::size_t part = 0; part < 2 * kHeads; ++part) {
            double *head = &u[t * kWidth + part * kDim];
            double squares = 0;
            for (std::size_t c = 0; c < kDim; ++c)
                squares += head[c] * head[c];
            const double factor
                = (part < kHeads ? 1 / std::sqrt(128.0) : 1.0) / std::sqrt(squares + 1e-6);
            for (std::size_t c = 0; c < kDim; ++c)
                head[c] *= factor;
        }
    }
    return u;
}

Doubles exactGates(const KdaWeights &w, const KdaInput &x)
{
    Doubles g(x.f.size());
    for (std::size_t i = 0; i < g.size(); ++i)
        g[i] = -5
            * sigmoid(
                std::exp(static_cast<double>(w.aLog[i / kDim % kHeads]))
                * (static_cast<double>(x.f[i]) + static_cast<double>(w.dtBias[i % kChannels])));
    return g;
}

Doubles exactBetas(const KdaInput &x)
{
    Doubles beta;
    for (const float b : x.b)
        beta.push_back(sigmoid(static_cast<double>(b)));
    return beta;
}

struct Rows
{
    std::span<const float> u, g, beta;
    std::size_t count;
};

Rows rowsOf(const KdaOutput &x) { return { x.u, x.g, x.beta, x.o.size() / kChannels }; }

Rows recordsOf(const KdaMemory &x, int rows) { return { x.u, x.g, x.beta, std::size_t(rows) }; }

struct ExactState
{
    Doubles values;
    double scale = 0; // largest |v_j| + |S_j|_2 of a row and a value column so far
};

// The recurrence of kda.h, on the state; returns o.
Doubles exactRecurrence(ExactState &state, const Rows &x)
{
    Doubles o(x.count * kChannels, 0.0);
    for (std::size_t t = 0; t < x.count; ++t)
        for (std::size_t h = 0; h < kHeads; ++h) {
            double *s = &state.values[h * kDim * kDim];
            const float *q = &x.u[t * 3 * kChannels + h * kDim];
            const float *k = q + kChannels;
            const float *v = q + 2 * kChannels;
            Doubles projected(kDim, 0.0);
            Doubles squares(kDim, 0.0);
            for (std::size_t c = 0; c < kDim; ++c) {
                const double decay
                    = std::exp(static_cast<double>(x.g[t * kChannels + h * kDim + c]));
                for (std::size_t j = 0; j < kDim; ++j) {
                    squares[j] += s[c * kDim + j] * s[c * kDim + j];
                    s[c * kDim + j] *= decay;
                    projected[j] += s[c * kDim + j] * static_cast<double>(k[c]);
                }
            }
            const auto beta = static_cast<double>(x.beta[t * kHeads + h]);
            for (std::size_t j = 0; j < kDim; ++j)
                state.scale = std::max(state.scale,
                                       std::abs(static_cast<double>(v[j])) + std::sqrt(squares[j]));
            for (std::size_t c = 0; c < kDim; ++c)
                for (std::size_t j = 0; j < kDim; ++j) {
                    s[c * kDim + j] += static_cast<double>(k[c]) * beta
                        * (static_cast<double>(v[j]) - projected[j]);
                    o[t * kChannels + h * kDim + j] += static_cast<double>(q[c]) * s[c * kDim + j];
                }
        }
    return o;
}

Doubles exactOutput(const KdaWeights &w, std::span<const float> o, const KdaInput &x)
{
    Doubles y(o.size());
    for (std::size_t head = 0; head < o.size() / kDim; ++head) {
        double squares = 0;
        for (std::size_t c = 0; c < kDim; ++c)
            squares += std::pow(static_cast<double>(o[head * kDim + c]), 2);
        for (std::size_t c = 0; c < kDim; ++c) {
            const std::size_t i = head * kDim + c;
            y[i] = static_cast<double>(o[i])
                / std::sqrt(squares / 128 + static_cast<double>(kKdaTestEps))
                * static_cast<double>(w.norm[c]) * sigmoid(static_cast<double>(x.gate[i]));
        }
    }
    return y;
}

// Bound on the error of a value column S_j in the 2-norm. |k| = 1 and decays below 1 make a row a
// contraction of the state, so the errors of the rows add up at most, independent of each other; a
// row's is that of 128 products relative to |v_j| + |S_j| and of the decays and the update.
double stateTolerance(std::size_t rows, const ExactState &state)
{
    return tolerance({ static_cast<double>(rows) * (128 + 16 + 16) }) * state.scale;
}

// Runs a step and compares all of its results with double precision.
void checkStep(const KdaTestLayer &layer, RowClass rowClass, KdaSequence &sequence,
               const KdaInput &input)
{
    const KdaMemory before = sequence.read();
    const int recorded = sequence.recordedRows;
    const KdaOutput output = layer.run(rowClass, sequence, input);
    const KdaMemory after = sequence.read();

    const KdaWeights &w = layer.weights();
    const std::vector<float> inputs = past(before, recorded);
    // Elements are at most 2 before the norm and at most 1 behind it.
    CHECK(largestError(output.u, exactChannels(w, inputs, input)) <= 2 * tolerance({ 16, 128 }));
    CHECK(largestError(output.g, exactGates(w, input)) <= 5 * tolerance({ 16, 16, 16 }));
    CHECK(largestError(output.beta, exactBetas(input)) <= tolerance({ 16 }));

    ExactState state { .values = Doubles(before.state.begin(), before.state.end()) };
    exactRecurrence(state, recordsOf(before, recorded));
    const Doubles applied = state.values;
    const Doubles o = exactRecurrence(state, rowsOf(output));
    const std::size_t rows = static_cast<std::size_t>(recorded) + rowsOf(output).count;
    const double bound = stateTolerance(rows, state);
    CHECK(largestError(after.state, rowClass == RowClass::Decode ? applied : state.values)
          <= bound);
    // |q| = 128^-1/2, and 128 products more.
    CHECK(largestError(output.o, o)
          <= (bound + tolerance({ 128 }) * state.scale) / std::sqrt(128.0));
    if (rowClass == RowClass::Decode && recorded == 0)
        CHECK(after.state == before.state);
    // Normed values are at most sqrt(128), weights 1.5.
    CHECK(largestError(output.y, exactOutput(w, output.o, input))
          <= std::sqrt(128.0) * 1.5 * tolerance({ 128, 16, 16 }));

    // The window is moved on by the recorded rows, and by those of a prefill.
    std::vector<float> all = inputs;
    if (rowClass == RowClass::Prefill)
        all.insert(all.end(), input.z.begin(), input.z.end());
    CHECK(std::equal(after.window.begin(), after.window.end(),
                     all.end() - static_cast<std::ptrdiff_t>(3 * 3 * kChannels)));
    if (rowClass == RowClass::Decode) {
        CHECK(std::equal(input.z.begin(), input.z.end(), after.input.begin()));
        CHECK(std::equal(output.u.begin(), output.u.end(), after.u.begin()));
        CHECK(std::equal(output.g.begin(), output.g.end(), after.g.begin()));
        CHECK(std::equal(output.beta.begin(), output.beta.end(), after.beta.begin()));
    }
}

// State and window once the recorded rows are in, as the next step would find them.
std::array<std::vector<float>, 2> settled(const KdaTestLayer &layer, KdaSequence &sequence)
{
    layer.run(RowClass::Decode, sequence, KdaInput::random(1, 999));
    const KdaMemory memory = sequence.read();
    return { memory.state, memory.window };
}

} // namespace

TEST_CASE("a decode step of KDA equals double precision, whatever was recorded before")
{
    for (Stream *stream : testStreams()) {
        const KdaTestLayer layer(*stream);
        for (const int recorded : { 0, 1, 2, 3, 8, 9 })
            for (const std::int64_t rows : { 1, 2, 9 }) {
                CAPTURE(recorded);
                CAPTURE(rows);
                KdaSequence sequence(10, *stream);
                if (recorded > 0)
                    layer.run(RowClass::Decode, sequence, KdaInput::random(recorded, 11));
                checkStep(layer, RowClass::Decode, sequence, KdaInput::random(rows, 12));
            }
    }
}

TEST_CASE("a prefill step of KDA equals double precision at every kind of length")
{
    for (Stream *stream : testStreams()) {
        const KdaTestLayer layer(*stream);
        for (const std::int64_t rows : { 1, 2, 3, 4, 5, 17, 63, 64, 65, 130, 200 }) {
            CAPTURE(rows);
            KdaSequence sequence(20, *stream);
            checkStep(layer, RowClass::Prefill, sequence, KdaInput::random(rows, 21));
        }
        // Behind a decode step.
        for (const int recorded : { 1, 9 }) {
            KdaSequence sequence(20, *stream);
            layer.run(RowClass::Decode, sequence, KdaInput::random(recorded, 22));
            checkStep(layer, RowClass::Prefill, sequence, KdaInput::random(70, 23));
        }
    }
}

TEST_CASE("decays at the lower bound over a whole chunk neither overflow nor lose the newest rows")
{
    for (Stream *stream : testStreams()) {
        const KdaTestLayer layer(*stream);
        KdaInput input = KdaInput::random(128, 30);
        std::ranges::fill(input.f, 100.0F);
        KdaSequence sequence(31, *stream);
        checkStep(layer, RowClass::Prefill, sequence, input);
        std::ranges::fill(input.f, -100.0F); // and none at all
        checkStep(layer, RowClass::Prefill, sequence, input);
    }
}

TEST_CASE("prefill of any multiples of 64 rows leaves the same bits (E2)")
{
    for (Stream *stream : testStreams()) {
        const KdaTestLayer layer(*stream);
        const KdaInput input = KdaInput::random(300, 40);
        KdaSequence whole(41, *stream);
        const KdaOutput expected = layer.run(RowClass::Prefill, whole, input);
        for (const std::int64_t size : { 64, 128, 192 }) {
            CAPTURE(size);
            KdaSequence parts(41, *stream);
            for (std::int64_t first = 0; first < 300; first += size) {
                const std::int64_t rows = std::min<std::int64_t>(size, 300 - first);
                const KdaOutput output
                    = layer.run(RowClass::Prefill, parts, input.part(first, rows));
                CHECK(std::equal(output.y.begin(), output.y.end(),
                                 expected.y.begin()
                                     + first * static_cast<std::ptrdiff_t>(kChannels)));
            }
            CHECK(parts.read().state == whole.read().state);
            CHECK(parts.read().window == whole.read().window);
        }
    }
}

TEST_CASE("prefill of several sequences in one step leaves the bits of each alone")
{
    for (Stream *stream : testStreams()) {
        const KdaTestLayer layer(*stream);
        std::vector<KdaSequence> together;
        std::vector<KdaPart> parts;
        together.reserve(3);
        for (const std::int64_t rows : { 65, 3, 140 }) {
            const auto seed = static_cast<std::uint64_t>(50 + rows);
            together.emplace_back(seed, *stream);
            parts.push_back({ &together.back(), KdaInput::random(rows, seed) });
        }
        const std::vector<KdaOutput> outputs = layer.run(RowClass::Prefill, parts);
        for (std::size_t i = 0; i < parts.size(); ++i) {
            KdaSequence alone(static_cast<std::uint64_t>(50 + parts[i].input.rows), *stream);
            CHECK(layer.run(RowClass::Prefill, alone, parts[i].input) == outputs[i]);
            CHECK(alone.read().state == together[i].read().state);
        }
    }
}

TEST_CASE("rows verified together equal rows decoded one by one (E1)")
{
    for (Stream *stream : testStreams()) {
        const KdaTestLayer layer(*stream);
        const KdaInput input = KdaInput::random(9, 60);
        KdaSequence together(61, *stream);
        const KdaOutput expected = layer.run(RowClass::Decode, together, input);
        KdaSequence single(61, *stream);
        for (std::int64_t t = 0; t < 9; ++t) {
            const KdaOutput output = layer.run(RowClass::Decode, single, input.part(t, 1));
            CHECK(std::equal(output.y.begin(), output.y.end(),
                             expected.y.begin() + t * static_cast<std::ptrdiff_t>(kChannels)));
        }
        CHECK(settled(layer, single) == settled(layer, together));
    }
}

TEST_CASE("rejected rows leave nothing behind")
{
    for (Stream *stream : testStreams()) {
        const KdaTestLayer layer(*stream);
        const KdaInput input = KdaInput::random(9, 70);
        const KdaInput next = KdaInput::random(4, 71);
        for (int accepted = 0; accepted <= 9; ++accepted) {
            CAPTURE(accepted);
            KdaSequence drafted(72, *stream);
            layer.run(RowClass::Decode, drafted, input);
            drafted.recordedRows = accepted;
            KdaSequence known(72, *stream);
            if (accepted > 0)
                layer.run(RowClass::Decode, known, input.part(0, accepted));
            CHECK(layer.run(RowClass::Decode, drafted, next)
                  == layer.run(RowClass::Decode, known, next));
            CHECK(settled(layer, drafted) == settled(layer, known));
        }
    }
}

TEST_CASE("a batch of eight sequences of unlike rows leaves the bits of each alone (E1)")
{
    for (Stream *stream : testStreams()) {
        const KdaTestLayer layer(*stream);
        constexpr std::array<std::int64_t, 8> kRows { 9, 1, 2, 5, 1, 9, 3, 6 };
        constexpr std::array<int, 8> kAccepted { 0, 1, 9, 4, 2, 5, 0, 3 };
        std::vector<KdaSequence> together;
        std::vector<KdaSequence> alone;
        std::vector<KdaPart> parts;
        together.reserve(8);
        alone.reserve(8);
        for (std::size_t i = 0; i < 8; ++i) {
            const std::uint64_t seed = 80 + 10 * i;
            for (std::vector<KdaSequence> *set : { &together, &alone }) {
                set->emplace_back(seed, *stream);
                layer.run(RowClass::Decode, set->back(), KdaInput::random(9, seed + 1));
                set->back().recordedRows = kAccepted[i];
            }
            parts.push_back({ &together.back(), KdaInput::random(kRows[i], seed + 2) });
        }
        const std::vector<KdaOutput> outputs = layer.run(RowClass::Decode, parts, 4);
        for (std::size_t i = 0; i < 8; ++i) {
            CAPTURE(i);
            CHECK(layer.run(RowClass::Decode, alone[i], parts[i].input) == outputs[i]);
            CHECK(settled(layer, alone[i]) == settled(layer, together[i]));
        }
    }
}

TEST_CASE("a recorded decode step of KDA takes other sequences, rows and acceptances at replay")
{
    Stream *gpu = gpuStream();
    if (gpu == nullptr)
        return;
    const KdaTestLayer layer(*gpu);
    const auto prepared = [&](std::uint64_t seed, int accepted) {
        KdaSequence sequence(seed, *gpu);
        layer.run(RowClass::Decode, sequence, KdaInput::random(9, seed + 1));
        sequence.recordedRows = accepted;
        return sequence;
    };
    KdaSequence recorded = prepared(200, 9);
    KdaSequence other = prepared(210, 0);
    KdaStep step(layer, RowClass::Decode,
                 { { &recorded, KdaInput::random(6, 201) }, { &other, KdaInput::random(2, 211) } },
                 1);
    const DeviceGraph graph(gpu->cuda(), [&] { step.launch(); });
    for (const auto &[first, second] : { std::array { 3, 5 }, std::array { 0, 9 } }) {
        std::vector<KdaSequence> replayed;
        std::vector<KdaSequence> direct;
        for (std::vector<KdaSequence> *set : { &replayed, &direct }) {
            set->push_back(prepared(220, first));
            set->push_back(prepared(230, second));
        }
        const KdaInput a = KdaInput::random(3, 221);
        const KdaInput b = KdaInput::random(5, 231);
        step.assign({ { &replayed[0], a }, { &replayed[1], b } });
        graph.launch(gpu->cuda());
        CHECK(step.read() == layer.run(RowClass::Decode, { { &direct[0], a }, { &direct[1], b } }));
        for (std::size_t i = 0; i < 2; ++i) {
            replayed[i].recordedRows = direct[i].recordedRows;
            CHECK(settled(layer, replayed[i]) == settled(layer, direct[i]));
        }
    }
}

TEST_CASE("KDA refuses steps and shapes that it has no kernels for")
{
    Stream stream(1);
    const std::vector<KdaSlot> slots(1);
    const std::vector<StepSequence> sequences { { .firstRow = 0, .rows = 10 } };
    const std::vector<std::int32_t> sequenceOf(10, 0);
    const Step step {
        .sequences = sequences, .sequenceOf = sequenceOf, .rows = 10, .mostRows = 10
    };
    std::vector<float> u(10 * 3 * kChannels);
    std::vector<float> g(10 * kChannels);
    std::vector<float> o(10 * kChannels);
    std::vector<float> beta(10 * kHeads);
    CHECK_THROWS_AS(launchKdaDecode(o, u, g, beta, slots, step, kKdaTestShape, stream),
                    std::logic_error);
    o.pop_back();
    CHECK_THROWS_AS(launchKdaPrefill(o, u, g, beta, slots, step, kKdaTestShape, {}, stream),
                    std::logic_error);
    Stream *gpu = gpuStream();
    if (gpu == nullptr)
        return;
    CHECK_THROWS_AS(kdaScratchBytes({ .heads = 3, .headDim = 64, .gateLowerBound = -5 }, 64,
                                    RowClass::Prefill, *gpu),
                    std::invalid_argument);
}
