// SPDX-License-Identifier: MIT
#include "tests/kernels/exl3_checks.h"

#include "tests/kernels/exl3_expected.h"
#include "tests/kernels/exl3_layer.h"
#include "tests/support/golden.h"
#include "tests/support/random_values.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <doctest/doctest.h>
#include <format>
#include <string>

namespace firesteel::test {

using namespace kernels;

namespace {

constexpr double kDeviations = 8; // as chainTolerance: by chance once in 10^15 values

std::vector<std::uint16_t> reconstructed(const Exl3Host &host, Stream &stream)
{
    const Exl3Placed placed(host, stream);
    const auto count
        = static_cast<std::size_t>(host.shape.in) * static_cast<std::size_t>(host.shape.out);
    const Placed<std::uint16_t> inner(count, stream);
    launchExl3Reconstruct(inner.span(), placed.matrix, stream);
    CHECK(inner.isGuardIntact());
    return inner.read();
}

std::vector<std::uint16_t> rotated(const Exl3Host &host, const std::vector<float> &x,
                                   Stream &stream)
{
    const Exl3Placed placed(host, stream);
    const Placed<float> input(x, stream);
    const Placed<std::uint16_t> output(x.size(), stream);
    launchExl3Rotate(output.span(), input.span(), placed.matrix,
                     static_cast<std::int64_t>(x.size()) / host.shape.in, stream);
    CHECK(output.isGuardIntact());
    return output.read();
}

// Rows alone, in pairs of counts and in company: the same bits.
template <typename Run>
void checkRowsAlone(const std::vector<float> &together, std::size_t rows, std::size_t width,
                    const Run &run)
{
    for (const std::size_t count : { std::size_t { 1 }, std::size_t { 5 }, std::size_t { 9 } })
        for (std::size_t first = 0; first + count <= rows; first += std::max(rows / 3, count)) {
            const std::vector<float> alone = run(first, count);
            CHECK(std::equal(alone.begin(), alone.end(),
                             together.begin() + static_cast<std::ptrdiff_t>(first * width)));
        }
}

void checkLayerVectors(Stream &stream, RowClass rowClass)
{
    const Exl3Vectors vectors("layers");
    constexpr std::size_t kRows = 16;
    for (const Exl3Codebook codebook : kExl3Codebooks)
        for (const int rate : { 2, 3, 4 }) {
            const std::string name = std::format("{}.k{}", codebookName(codebook), rate);
            CAPTURE(name);
            Exl3Host host = vectors.matrix(name, codebook);
            const auto in = static_cast<std::size_t>(host.shape.in);
            std::vector<float> x = vectors.values("x");
            x.resize(kRows * in);
            const std::vector<float> golden = vectors.values(name + ".y_gemm32.m16");
            const std::vector<double> expected(golden.begin(), golden.end());

            // The reference rounds x * suh and its rotation to F16, we the rotation only.
            const std::vector<double> sums { static_cast<double>(in), 128, 1 };
            const double chain = chainTolerance(sums);
            const double roundings = kDeviations * halfRoundings(3);
            const auto y = runExl3Linear(Exl3Placed(host, stream), x, rowClass, stream);
            CHECK(relativeDifference(y, expected) <= chain + roundings);

            // With the rounded product as input and unit scales both multiply the same numbers.
            for (std::size_t i = 0; i < x.size(); ++i)
                x[i] = widened(halfBits(x[i] * widened(host.suh[i % in])));
            std::ranges::fill(host.suh, halfBits(1));
            CHECK(vectors.holds(name + ".xh", rotated(host, x, stream)));
            const auto same = runExl3Linear(Exl3Placed(host, stream), x, rowClass, stream);
            CHECK(relativeDifference(same, expected) <= chain);
        }
}

} // namespace

void checkExl3Reconstruct(Stream &stream)
{
    const Exl3Vectors vectors("reconstruct");
    for (const Exl3Codebook codebook : kExl3Codebooks)
        for (int rate = 1; rate <= kExl3MaxRate; ++rate) {
            const std::string name = std::format("{}.k{}", codebookName(codebook), rate);
            CAPTURE(name);
            Exl3Host host;
            host.trellis = vectors.bits(name + ".trellis");
            const auto &shape = vectors.shape(name + ".trellis");
            host.shape = { .in = static_cast<std::int32_t>(shape[0] * 16),
                           .out = static_cast<std::int32_t>(shape[1] * 16),
                           .rate = static_cast<std::uint8_t>(rate),
                           .codebook = codebook };
            CHECK(vectors.holds(name + ".inner", reconstructed(host, stream)));
        }
}

void checkExl3Rotate(Stream &stream)
{
    const Exl3Vectors vectors("codebook");
    Exl3Host host = randomExl3(1, 256, 128, 1, Exl3Codebook::Mul1);
    const std::vector<float> x = vectors.values("had.x");
    const std::vector<float> scale = vectors.values("had.scale");
    std::ranges::fill(host.suh, halfBits(1));
    CHECK(vectors.holds("had.none", rotated(host, x, stream)));
    std::vector<float> scaled = x; // the reference rounds the product, too
    for (std::size_t i = 0; i < scaled.size(); ++i)
        scaled[i] = widened(halfBits(scaled[i] * scale[i % scale.size()]));
    CHECK(vectors.holds("had.pre", rotated(host, scaled, stream)));

    // Inputs that are no F16, scales that are no powers of two, more blocks.
    RandomValues random(2);
    for (const std::int32_t in : { 128, 384, 1152 }) {
        const Exl3Host wide = randomExl3(3, in, 128, 1, Exl3Codebook::Mul1);
        for (const std::size_t rows : { 1, 7, 75 }) {
            const auto input = random.uniforms(rows * static_cast<std::size_t>(in), -30, 30);
            CHECK(rotated(wide, input, stream) == exl3Rotated(wide, input));
        }
    }
}

void checkExl3Linear(Stream &stream, RowClass rowClass)
{
    checkLayerVectors(stream, rowClass);

    struct Size
    {
        std::int32_t in, out;
        std::size_t rows;
    };
    std::vector<Size> sizes { { 128, 128, 1 }, { 384, 640, 9 }, { 1152, 256, 72 } };
    if (rowClass == RowClass::Prefill)
        sizes = { { 128, 128, 1 }, { 384, 640, 75 }, { 1152, 256, 200 } };
    RandomValues random(4);
    for (const Exl3Codebook codebook : kExl3Codebooks)
        for (int rate = 1; rate <= kExl3MaxRate; ++rate) {
            const Size size = sizes[static_cast<std::size_t>(rate) % sizes.size()];
            CAPTURE(codebookName(codebook));
            CAPTURE(rate);
            CAPTURE(size.rows);
            const Exl3Host host = randomExl3(static_cast<std::uint64_t>(rate), size.in, size.out,
                                             rate, codebook, rate % 2 == 0);
            const Exl3Placed placed(host, stream);
            const auto in = static_cast<std::size_t>(size.in);
            const auto x = random.uniforms(size.rows * in, -3, 3);
            const auto y = runExl3Linear(placed, x, rowClass, stream);
            const std::vector<double> sums { static_cast<double>(in), 128, 2 };
            const double truncation = stream.backend() == Backend::Cuda
                ? truncationTolerance(static_cast<double>(in))
                : 0;
            CHECK(relativeDifference(y, exl3Product(host, exl3Rotated(host, x)))
                  <= chainTolerance(sums) + truncation);
            checkRowsAlone(y, size.rows, static_cast<std::size_t>(size.out),
                           [&](std::size_t first, std::size_t count) {
                               return runExl3Linear(placed,
                                                    std::span(x).subspan(first * in, count * in),
                                                    rowClass, stream);
                           });
        }
}

namespace {

void checkMoeVectors(Stream &stream, RowClass rowClass)
{
    const Exl3Vectors vectors("moe");
    const auto x = vectors.values("x");
    const auto ids = vectors.integers("topk_ids");
    const auto weights = vectors.values("topk_weights");
    int cases = 0;
    for (const char *name : { "mcg.k2", "mul1.k2", "mul1.mixed" }) {
        const std::string prefix(name);
        if (!vectors.contains(prefix + ".y"))
            continue;
        CAPTURE(prefix);
        ++cases;
        const Exl3Codebook codebook
            = prefix.starts_with("mcg") ? Exl3Codebook::Mcg : Exl3Codebook::Mul1;
        std::vector<Exl3HostExpert> experts;
        experts.reserve(6);
        for (std::size_t e = 0; e < 6; ++e)
            experts.push_back({ vectors.matrix(prefix + ".gate", codebook, e),
                                vectors.matrix(prefix + ".up", codebook, e),
                                vectors.matrix(prefix + ".down", codebook, e) });
        float limit = vectors.values(prefix + ".act_limit").front();
        if (limit <= 0)
            limit = 1e30F; // none
        const Exl3ExpertLayer placed(std::move(experts), 6, 2, limit, rowClass, stream);
        const auto model
            = exl3ExpertsExpected(placed.hosts(), x, ids, weights, 2, static_cast<double>(limit));
        // The reference clamps silu(gate), our contract the gate: with no gate above the limit
        // both are the same function.
        CHECK(model.largestGate < static_cast<double>(limit));

        // Between input and gate (or up) the reference rounds to F16 the scaled input, its
        // rotation, the product, its rotation and the scaled result; we the rotation: 6. From
        // there on it rounds silu(gate) twice, the product, the scaled product and its rotation;
        // we the rotation: 6. Errors of the gate arrive amplified, those of up as they are.
        const double amplified = 1 + model.gateAmplification * model.gateAmplification;
        const double deviation
            = std::hypot(halfRoundings(6) * std::sqrt(amplified), halfRoundings(6));
        const auto golden = vectors.values(prefix + ".y");
        const std::vector<double> expected(golden.begin(), golden.end());
        const auto y = placed.run(x, ids, weights);
        CHECK(relativeDifference(y, expected) <= kDeviations * deviation);
    }
    CHECK(cases >= 2);
}

// Tokens choose from `experts` at random, or all of them the same ones.
std::vector<std::int32_t> chosenExperts(std::size_t rows, std::size_t perToken, int experts,
                                        bool same, RandomValues &random)
{
    std::vector<std::int32_t> ids;
    while (ids.size() < rows * perToken) {
        std::vector<std::int32_t> all(static_cast<std::size_t>(experts));
        for (std::size_t e = 0; e < all.size(); ++e)
            all[e] = static_cast<std::int32_t>(e);
        for (std::size_t i = 0; i < perToken; ++i) {
            const int other
                = same ? static_cast<int>(i) : random.integer(static_cast<int>(i), experts - 1);
            std::swap(all[i], all[static_cast<std::size_t>(other)]);
            ids.push_back(all[i]);
        }
    }
    return ids;
}

} // namespace

void checkExl3Experts(Stream &stream, RowClass rowClass)
{
    checkMoeVectors(stream, rowClass);

    struct Case
    {
        std::int32_t hidden, width;
        int gateRate, upRate, downRate;
        Exl3Codebook codebook;
        bool same; // every token chooses the same experts
    };
    constexpr int kExperts = 7;
    constexpr std::size_t kPerToken = 3;
    constexpr float kLimit = 1.5F; // low, so that it matters
    const auto rows = static_cast<std::size_t>(rowClass == RowClass::Decode ? 72 : 150);
    RandomValues random(5);
    for (const Case &c : { Case { 256, 128, 2, 2, 2, Exl3Codebook::Mul1, false },
                           Case { 384, 256, 2, 3, 4, Exl3Codebook::Mul1, true },
                           Case { 128, 384, 5, 6, 3, Exl3Codebook::Mul1, false },
                           Case { 256, 128, 1, 8, 7, Exl3Codebook::Mcg, false },
                           Case { 256, 256, 4, 4, 4, Exl3Codebook::ThreeInst, true } }) {
        std::vector<Exl3HostExpert> experts;
        experts.reserve(kExperts);
        for (std::uint64_t e = 0; e < kExperts; ++e)
            experts.push_back({ randomExl3(e * 3, c.hidden, c.width, c.gateRate, c.codebook),
                                randomExl3(e * 3 + 1, c.hidden, c.width, c.upRate, c.codebook),
                                randomExl3(e * 3 + 2, c.width, c.hidden, c.downRate, c.codebook) });
        const Exl3ExpertLayer placed(std::move(experts), kExperts, kPerToken, kLimit, rowClass,
                                     stream);
        const auto hidden = static_cast<std::size_t>(c.hidden);
        const auto x = random.uniforms(rows * hidden, -2, 2);
        const auto ids = chosenExperts(rows, kPerToken, kExperts, c.same, random);
        const auto weights = random.uniforms(rows * kPerToken, 0.1F, 2);
        const auto y = placed.run(x, ids, weights);
        const auto model = exl3ExpertsExpected(placed.hosts(), x, ids, weights, kPerToken,
                                               static_cast<double>(kLimit));

        // Activations have an error of standard deviation `before` when they are rounded to F16.
        // Where one lies within its error of the middle between two halves, 2 u apart relative to
        // its size, the rounding goes the other way, by 2 u: with probability before / u. One
        // value sees few such flips, at worst an independent rounding on each side; over all
        // values their variance is before / u * (2 u)^2.
        const std::vector<double> upward { static_cast<double>(hidden), 128, 16, 128 };
        const std::vector<double> downward { static_cast<double>(c.width), 128, kPerToken };
        const double before = chainTolerance(upward) / kDeviations * (1 + model.gateAmplification);
        const double after = chainTolerance(downward) / kDeviations;
        CHECK(relativeDifference(y, model.y)
              <= kDeviations * std::hypot(halfRoundings(2), before, after));
        CHECK(relativeNorm(y, model.y)
              <= 2 * std::hypot(2 * std::sqrt(before * kHalfRoundoff), before, after));

        checkRowsAlone(y, rows, hidden, [&](std::size_t first, std::size_t count) {
            return placed.run(std::span(x).subspan(first * hidden, count * hidden),
                              std::span(ids).subspan(first * kPerToken, count * kPerToken),
                              std::span(weights).subspan(first * kPerToken, count * kPerToken));
        });
    }
}

} // namespace firesteel::test
