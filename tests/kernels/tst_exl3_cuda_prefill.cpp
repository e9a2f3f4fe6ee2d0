// SPDX-License-Identifier: MIT
//
// The prefill class on the GPU: what exl3_checks.h asks of any stream, then what is particular to
// these kernels: numbers of rows around the tile's and the warps' shares, rows that begin anywhere
// in a segment, the model's depths, extremes of routing, work cut into several launches, recorded
// launches.
#include "kernels/common/device.h"
#include "tests/kernels/exl3_checks.h"
#include "tests/kernels/exl3_expected.h"
#include "tests/kernels/exl3_layer.h"
#include "tests/support/golden.h"
#include "tests/support/random_values.h"
#include "tests/support/test_paths.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <doctest/doctest.h>
#include <format>
#include <numeric>
#include <string>

using namespace firesteel;
using namespace firesteel::kernels;
using namespace firesteel::test;

namespace {

constexpr double kDeviations = 8; // as chainTolerance

std::vector<float> linear(const Exl3Placed &m, std::span<const float> x, Stream &stream)
{
    return runExl3Linear(m, x, RowClass::Prefill, stream);
}

// Whether `part` are the rows of `whole` from `first` on, bit for bit.
bool isPart(const std::vector<float> &part, const std::vector<float> &whole, std::size_t first,
            std::size_t width)
{
    return first * width + part.size() <= whole.size()
        && std::equal(part.begin(), part.end(),
                      whole.begin() + static_cast<std::ptrdiff_t>(first * width));
}

// Its experts are drawn from three.
Exl3ExpertLayer layerOf(std::int32_t hidden, std::int32_t width, std::array<int, 3> rates,
                        std::size_t experts, std::size_t perToken, Stream &stream)
{
    constexpr float kLimit = 1.5F; // low, so that it matters
    return { randomExl3Experts(3, hidden, width, rates),
             experts,
             perToken,
             kLimit,
             RowClass::Prefill,
             stream };
}

// Whether rows `first`.. of a run have the same bits alone.
bool isSameAlone(const Exl3ExpertLayer &layer, const std::vector<float> &y,
                 std::span<const float> x, std::span<const std::int32_t> ids,
                 std::span<const float> weights, std::size_t first, std::size_t count)
{
    const auto hidden = static_cast<std::size_t>(layer.hosts().front().gate.shape.in);
    const std::size_t perToken = ids.size() / (x.size() / hidden);
    return isPart(layer.run(x.subspan(first * hidden, count * hidden),
                            ids.subspan(first * perToken, count * perToken),
                            weights.subspan(first * perToken, count * perToken)),
                  y, first, hidden);
}

std::vector<std::int32_t> independentChoices(std::size_t rows, std::int32_t experts,
                                             std::size_t perToken, RandomValues &random)
{
    std::vector<std::int32_t> ids;
    std::vector<std::int32_t> all(static_cast<std::size_t>(experts));
    std::iota(all.begin(), all.end(), 0);
    for (std::size_t t = 0; t < rows; ++t)
        for (std::size_t i = 0; i < perToken; ++i) {
            std::swap(
                all[i],
                all[static_cast<std::size_t>(random.integer(static_cast<int>(i), experts - 1))]);
            ids.push_back(all[i]);
        }
    return ids;
}

} // namespace

TEST_CASE("prefill linears on the GPU agree with the reference")
{
    if (Stream *gpu = gpuStream())
        checkExl3Linear(*gpu, RowClass::Prefill);
}

TEST_CASE("prefill experts on the GPU agree with the reference")
{
    if (Stream *gpu = gpuStream())
        checkExl3Experts(*gpu, RowClass::Prefill);
}

TEST_CASE("prefill linears agree with the reference's own prefill where the full vectors are")
{
    Stream *gpu = gpuStream();
    if (gpu == nullptr)
        return;
    const Exl3Vectors vectors("layers");
    if (!vectors.contains("mul1.k2.y_prefill64"))
        return reportSkip("the full set of EXL3 vectors does not lie beside the goldens");
    for (const Exl3Codebook codebook : kExl3Codebooks)
        for (const int rate : { 2, 3, 4 }) {
            const std::string name = std::format("{}.k{}", codebookName(codebook), rate);
            CAPTURE(name);
            const auto y = linear(Exl3Placed(vectors.matrix(name, codebook), *gpu),
                                  vectors.values("x"), *gpu);
            const std::vector<float> golden = vectors.values(name + ".y_prefill64");
            // The reference rounds the scaled input, its rotation, the product, its rotation and
            // the scaled result to F16; we the input's rotation.
            CHECK(relativeDifference(y, std::vector<double>(golden.begin(), golden.end()))
                  <= kDeviations * halfRoundings(6));
        }
}

TEST_CASE("a row of a prefill linear has the same bits at every number of rows and in every place")
{
    Stream *gpu = gpuStream();
    if (gpu == nullptr)
        return;
    struct Case
    {
        std::int32_t in, out;
        int rate;
        Exl3Codebook codebook;
    };
    constexpr std::size_t kRows = 2048;
    RandomValues random(21);
    for (const Case &c :
         { Case { 512, 384, 2, Exl3Codebook::Mul1 }, Case { 128, 256, 3, Exl3Codebook::Mul1 },
           Case { 384, 128, 4, Exl3Codebook::Mul1 }, Case { 256, 640, 5, Exl3Codebook::Mul1 },
           Case { 256, 128, 6, Exl3Codebook::Mul1 }, Case { 128, 128, 8, Exl3Codebook::Mcg } }) {
        CAPTURE(c.rate);
        const Exl3Placed placed(randomExl3(22, c.in, c.out, c.rate, c.codebook, true), *gpu);
        const auto in = static_cast<std::size_t>(c.in);
        const auto out = static_cast<std::size_t>(c.out);
        const auto x = random.uniforms(kRows * in, -3, 3);
        const std::vector<float> all = linear(placed, x, *gpu);
        int wrong = 0;
        for (const std::size_t rows : { 1,  2,  15, 16,  17,  31,  32,  33,  63,  64,  65,
                                        95, 96, 97, 127, 128, 129, 191, 257, 300, 1000 }) {
            wrong
                += isPart(linear(placed, std::span(x).first(rows * in), *gpu), all, 0, out) ? 0 : 1;
            const std::size_t first = 37 + rows;
            wrong += isPart(linear(placed, std::span(x).subspan(first * in, rows * in), *gpu), all,
                            first, out)
                ? 0
                : 1;
        }
        CHECK(wrong == 0);
    }
}

TEST_CASE("prefill linears of the model's depths agree with double precision")
{
    Stream *gpu = gpuStream();
    if (gpu == nullptr)
        return;
    RandomValues random(23);
    for (const auto &[in, out, rate, rows] :
         { std::array { 4096, 256, 2, 129 }, std::array { 12288, 128, 3, 33 },
           std::array { 16384, 128, 4, 64 }, std::array { 4096, 384, 5, 65 } }) {
        CAPTURE(in);
        const Exl3Host host = randomExl3(24, in, out, rate, Exl3Codebook::Mul1);
        const auto x
            = random.uniforms(static_cast<std::size_t>(rows) * static_cast<std::size_t>(in), -3, 3);
        const std::vector<double> sums { static_cast<double>(in), 128, 2 };
        CHECK(relativeDifference(linear(Exl3Placed(host, *gpu), x, *gpu),
                                 exl3Product(host, exl3Rotated(host, x)))
              <= chainTolerance(sums) + truncationTolerance(in));
    }
}

TEST_CASE("a prefill linear that is cut into launches gives every row")
{
    Stream *gpu = gpuStream();
    if (gpu == nullptr)
        return;
    constexpr std::size_t kIn = 16384;
    constexpr std::size_t kRows
        = 3200; // 25 tiles of rows, 64 of columns; at once 11 a multiprocessor
    const Exl3Placed placed(randomExl3(25, kIn, 8192, 2, Exl3Codebook::Mul1), *gpu);
    RandomValues random(26);
    const auto x = random.uniforms(kRows * kIn, -3, 3);
    const std::vector<float> all = linear(placed, x, *gpu);
    CHECK(isPart(linear(placed, std::span(x).first(70 * kIn), *gpu), all, 0, 8192));
    CHECK(isPart(linear(placed, std::span(x).subspan(3100 * kIn), *gpu), all, 3100, 8192));
}

TEST_CASE(
    "prefill experts: independent choices at the model's counts, the same bits in any company")
{
    Stream *gpu = gpuStream();
    if (gpu == nullptr)
        return;
    RandomValues random(27);
    for (const std::array<int, 3> &rates : { std::array { 2, 2, 2 }, std::array { 2, 3, 2 },
                                             std::array { 4, 5, 6 }, std::array { 1, 2, 8 } }) {
        CAPTURE(rates[1]);
        constexpr std::size_t kRows = 700;
        const Exl3ExpertLayer layer = layerOf(256, 384, rates, 288, 8, *gpu);
        const auto x = random.uniforms(kRows * 256, -2, 2);
        const auto ids = independentChoices(kRows, 288, 8, random);
        const auto weights = random.uniforms(kRows * 8, 0.1F, 2);
        const std::vector<float> y = layer.run(x, ids, weights);
        CHECK(layer.run(x, ids, weights) == y);
        constexpr std::size_t kModelRows = 40;
        layer.checkAgainstModel(
            std::span(y).first(kModelRows * 256), std::span(x).first(kModelRows * 256),
            std::span(ids).first(kModelRows * 8), std::span(weights).first(kModelRows * 8));
        for (const auto &[first, count] : { std::array { 0UL, 1UL }, std::array { 699UL, 1UL },
                                            std::array { 3UL, 64UL }, std::array { 101UL, 333UL } })
            CHECK(isSameAlone(layer, y, x, ids, weights, first, count));
    }
}

TEST_CASE("prefill experts: all rows to one expert, one row to each, and none to most")
{
    Stream *gpu = gpuStream();
    if (gpu == nullptr)
        return;
    RandomValues random(28);
    const Exl3ExpertLayer layer = layerOf(128, 256, { 2, 2, 2 }, 300, 1, *gpu);
    constexpr std::size_t kRows = 8192;
    const auto x = random.uniforms(kRows * 128, -2, 2);
    const auto weights = random.uniforms(kRows, 0.1F, 2);
    std::vector<std::int32_t> ids(kRows, 299);
    const std::vector<float> one = layer.run(x, ids, weights);
    layer.checkAgainstModel(std::span(one).last(100 * 128), std::span(x).last(100 * 128),
                            std::span(ids).last(100), std::span(weights).last(100));
    for (const std::size_t rows : { 1, 63, 64, 65, 127, 129, 1000 })
        CHECK(isSameAlone(layer, one, x, ids, weights, kRows - rows, rows));

    std::iota(ids.begin(), ids.begin() + 300, 0);
    const auto each = layer.run(std::span(x).first(std::size_t { 300 } * 128),
                                std::span(ids).first(300), std::span(weights).first(300));
    layer.checkAgainstModel(each, std::span(x).first(std::size_t { 300 } * 128),
                            std::span(ids).first(300), std::span(weights).first(300));

    // Segments that begin at every residue of the panels' permutation.
    for (std::size_t t = 0; t < kRows; ++t)
        ids[t] = static_cast<std::int32_t>(t % 7 == 0 ? 0 : 1 + t % 137);
    const std::vector<float> mixed = layer.run(x, ids, weights);
    for (const std::size_t first : { 0UL, 1000UL, 8000UL })
        CHECK(isSameAlone(layer, mixed, x, ids, weights, first, 150));
}

TEST_CASE("prefill experts that are cut into launches give every row")
{
    Stream *gpu = gpuStream();
    if (gpu == nullptr)
        return;
    RandomValues random(29);
    {
        // The model's shape: at once 1.4 segments of gate and up a multiprocessor, 2.9 of down.
        constexpr std::size_t kRows = 400;
        const Exl3ExpertLayer layer = layerOf(4096, 2048, { 2, 2, 2 }, 400, 1, *gpu);
        const auto x = random.uniforms(kRows * 4096, -2, 2);
        std::vector<std::int32_t> ids(kRows);
        std::iota(ids.begin(), ids.end(), 0);
        const auto weights = random.uniforms(kRows, 0.1F, 2);
        const std::vector<float> y = layer.run(x, ids, weights);
        layer.checkAgainstModel(std::span(y).last(std::size_t { 2 } * 4096),
                                std::span(x).last(std::size_t { 2 } * 4096), std::span(ids).last(2),
                                std::span(weights).last(2));
        for (const std::size_t first : { 0UL, 190UL, 382UL })
            CHECK(isSameAlone(layer, y, x, ids, weights, first, 4));
    }
    // Many rows: gathered and summed in two launches.
    constexpr std::size_t kRows = 5700;
    const Exl3ExpertLayer layer = layerOf(4096, 128, { 2, 2, 2 }, 16, 8, *gpu);
    const auto x = random.uniforms(kRows * 4096, -2, 2);
    const auto ids = independentChoices(kRows, 16, 8, random);
    const auto weights = random.uniforms(kRows * 8, 0.1F, 2);
    const std::vector<float> y = layer.run(x, ids, weights);
    for (const std::size_t first : { 0UL, 5390UL, 5600UL })
        CHECK(isSameAlone(layer, y, x, ids, weights, first, 100));
}

TEST_CASE("recorded prefill launches give the same bits when they are replayed with other choices")
{
    Stream *gpu = gpuStream();
    if (gpu == nullptr)
        return;
    RandomValues random(30);
    constexpr std::size_t kRows = 200;
    const Exl3ExpertLayer layer = layerOf(256, 128, { 2, 2, 2 }, 24, 4, *gpu);
    const Exl3Placed matrix(randomExl3(31, 256, 384, 2, Exl3Codebook::Mul1), *gpu);
    const auto x = random.uniforms(kRows * 256, -2, 2);
    const Placed<float> input(x, *gpu);
    const Placed<float> output(kRows * 384, *gpu);
    const Placed<std::byte> scratch(
        exl3LinearScratchBytes(matrix.matrix, kRows, RowClass::Prefill, *gpu), *gpu);
    const DeviceGraph graph(gpu->cuda(), [&] {
        launchExl3Linear(output.span(), input.span(), matrix.matrix, kRows, RowClass::Prefill,
                         { scratch.span() }, *gpu);
    });
    graph.launch(gpu->cuda());
    CHECK(output.read() == linear(matrix, x, *gpu));
    const auto recorded = independentChoices(kRows, 24, 4, random);
    const auto replayed = independentChoices(kRows, 24, 4, random);
    const auto weights = random.uniforms(kRows * 4, 0.1F, 2);
    CHECK(layer.replay(x, recorded, replayed, weights) == layer.run(x, replayed, weights));
}
