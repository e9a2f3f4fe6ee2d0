// SPDX-License-Identifier: MIT
//
// The decode class on the GPU: what exl3_checks.h asks of any stream, then what is particular to
// these kernels: every number of rows, matrices that are split in depth, runs of experts of every
// length, recorded launches.
#include "kernels/common/row_class.h"
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
#include <numeric>

using namespace firesteel;
using namespace firesteel::kernels;
using namespace firesteel::test;

namespace {

constexpr std::size_t kMaxRows = kMaxDecodeStepRows;

std::vector<float> linear(const Exl3Placed &m, std::span<const float> x, Stream &stream)
{
    return runExl3Linear(m, x, RowClass::Decode, stream);
}

bool isPrefix(const std::vector<float> &part, const std::vector<float> &whole)
{
    return part.size() <= whole.size() && std::equal(part.begin(), part.end(), whole.begin());
}

// Its experts are drawn from five.
Exl3ExpertLayer layerOf(std::int32_t hidden, std::int32_t width, std::array<int, 3> rates,
                        std::size_t experts, std::size_t perToken, Stream &stream)
{
    constexpr float kLimit = 1.5F; // low, so that it matters
    return { randomExl3Experts(5, hidden, width, rates),
             experts,
             perToken,
             kLimit,
             RowClass::Decode,
             stream };
}

} // namespace

TEST_CASE("the GPU reconstructs and rotates to the reference's bits")
{
    if (Stream *gpu = gpuStream()) {
        checkExl3Reconstruct(*gpu);
        checkExl3Rotate(*gpu);
    }
}

TEST_CASE("decode linears on the GPU agree with the reference")
{
    if (Stream *gpu = gpuStream())
        checkExl3Linear(*gpu, RowClass::Decode);
}

TEST_CASE("decode experts on the GPU agree with the reference")
{
    if (Stream *gpu = gpuStream())
        checkExl3Experts(*gpu, RowClass::Decode);
}

TEST_CASE("a row of a decode linear has the same bits at every number of rows")
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
    RandomValues random(11);
    // Few columns: split in depth; the third not evenly.
    for (const Case &c :
         { Case { 384, 128, 2, Exl3Codebook::Mul1 }, Case { 1024, 256, 3, Exl3Codebook::Mul1 },
           Case { 1664, 128, 4, Exl3Codebook::Mul1 }, Case { 512, 384, 5, Exl3Codebook::Mul1 },
           Case { 256, 128, 6, Exl3Codebook::Mul1 }, Case { 512, 128, 7, Exl3Codebook::Mul1 },
           Case { 384, 128, 2, Exl3Codebook::ThreeInst } }) {
        CAPTURE(c.rate);
        const Exl3Placed placed(randomExl3(12, c.in, c.out, c.rate, c.codebook, true), *gpu);
        const auto in = static_cast<std::size_t>(c.in);
        const auto x = random.uniforms(kMaxRows * in, -3, 3);
        const std::vector<float> all = linear(placed, x, *gpu);
        int wrong = 0;
        for (std::size_t rows = 1; rows < kMaxRows; ++rows)
            wrong += isPrefix(linear(placed, std::span(x).first(rows * in), *gpu), all) ? 0 : 1;
        CHECK(wrong == 0);
    }
}

TEST_CASE("decode linears of the model's depths agree with the CPU")
{
    Stream *gpu = gpuStream();
    if (gpu == nullptr)
        return;
    RandomValues random(13);
    for (const auto &[in, out, rate] :
         { std::array { 4096, 256, 2 }, std::array { 12288, 128, 3 }, std::array { 16384, 128, 4 },
           std::array { 4096, 384, 5 } }) {
        CAPTURE(in);
        const Exl3Host host = randomExl3(14, in, out, rate, Exl3Codebook::Mul1);
        const auto x = random.uniforms(9 * static_cast<std::size_t>(in), -3, 3);
        const std::vector<double> sums { static_cast<double>(in), 128, 2 };
        CHECK(relativeDifference(linear(Exl3Placed(host, *gpu), x, *gpu),
                                 exl3Product(host, exl3Rotated(host, x)))
              <= chainTolerance(sums));
    }
}

TEST_CASE("decode experts: runs of every length, the same bits in any company")
{
    Stream *gpu = gpuStream();
    if (gpu == nullptr)
        return;
    RandomValues random(15);
    for (const std::array<int, 3> &rates : { std::array { 2, 2, 2 }, std::array { 3, 3, 3 },
                                             std::array { 4, 4, 4 }, std::array { 2, 6, 5 } }) {
        CAPTURE(rates[1]);
        const Exl3ExpertLayer experts = layerOf(256, 128, rates, 80, 1, *gpu);
        const auto x = random.uniforms(kMaxRows * 256, -2, 2);
        const auto weights = random.uniforms(kMaxRows, 0.1F, 2);
        const std::vector<std::int32_t> same(kMaxRows, 37);
        const std::vector<float> together = experts.run(x, same, weights);
        experts.checkAgainstModel(together, x, same, weights);
        int wrong = 0;
        for (std::size_t rows = 1; rows < kMaxRows; ++rows)
            wrong
                += isPrefix(experts.run(std::span(x).first(rows * 256), std::span(same).first(rows),
                                        std::span(weights).first(rows)),
                            together)
                ? 0
                : 1;
        CHECK(wrong == 0);

        // Every row an expert of its own, all of them the same matrices (ids 2, 7, 12, ...): the
        // bits of the rows together. Then runs of unequal length.
        std::vector<std::int32_t> distinct(16);
        for (std::size_t i = 0; i < distinct.size(); ++i)
            distinct[i] = static_cast<std::int32_t>(77 - 5 * i);
        CHECK(isPrefix(
            experts.run(std::span(x).first(16 * 256), distinct, std::span(weights).first(16)),
            together));
        std::vector<std::int32_t> unequal(kMaxRows);
        for (std::size_t i = 0; i < kMaxRows; ++i)
            unequal[i] = i < 40 ? 42 : i < 60 ? 7 : static_cast<std::int32_t>(2 + 5 * (i % 12));
        CHECK(experts.run(x, unequal, weights) == together);
    }
}

TEST_CASE("decode experts: every choice distinct, and all rows choosing alike")
{
    Stream *gpu = gpuStream();
    if (gpu == nullptr)
        return;
    constexpr std::size_t kPerToken = 8;
    RandomValues random(16);
    const Exl3ExpertLayer experts
        = layerOf(384, 128, { 2, 2, 2 }, kMaxRows * kPerToken, kPerToken, *gpu);
    const auto x = random.uniforms(kMaxRows * 384, -2, 2);
    const auto weights = random.uniforms(kMaxRows * kPerToken, 0.1F, 2);
    std::vector<std::int32_t> distinct(kMaxRows * kPerToken);
    std::iota(distinct.begin(), distinct.end(), 0);
    for (std::size_t i = distinct.size() - 1; i > 0; --i)
        std::swap(distinct[i],
                  distinct[static_cast<std::size_t>(random.integer(0, static_cast<int>(i)))]);
    std::vector<std::int32_t> alike;
    for (std::size_t t = 0; t < kMaxRows; ++t)
        alike.insert(alike.end(), distinct.begin(), distinct.begin() + kPerToken);
    for (const auto &ids : { distinct, alike }) {
        const std::vector<float> y = experts.run(x, ids, weights);
        experts.checkAgainstModel(y, x, ids, weights);
        for (const std::size_t rows : { 1, 3, 8, 9, 25 })
            CHECK(isPrefix(experts.run(std::span(x).first(rows * 384),
                                       std::span(ids).first(rows * kPerToken),
                                       std::span(weights).first(rows * kPerToken)),
                           y));
    }
}

TEST_CASE("recorded decode launches give the same bits at every replay")
{
    Stream *gpu = gpuStream();
    if (gpu == nullptr)
        return;
    RandomValues random(17);
    const Exl3Placed placed(randomExl3(18, 1024, 128, 2, Exl3Codebook::Mul1), *gpu);
    const auto x = random.uniforms(std::size_t { 3 } * 1024, -3, 3);
    const std::vector<float> expected = linear(placed, x, *gpu);
    const Placed<float> input(x, *gpu);
    const Placed<std::byte> scratch(
        exl3LinearScratchBytes(placed.matrix, 3, RowClass::Decode, *gpu), *gpu);
    std::vector<Placed<float>> outputs;
    outputs.reserve(3);
    for (int i = 0; i < 3; ++i)
        outputs.emplace_back(std::size_t { 3 } * 128, *gpu);
    const DeviceGraph graph(gpu->cuda(), [&] {
        for (const Placed<float> &output : outputs)
            launchExl3Linear(output.span(), input.span(), placed.matrix, 3, RowClass::Decode,
                             { scratch.span() }, *gpu);
    });
    for (int replay = 0; replay < 3; ++replay) {
        graph.launch(gpu->cuda());
        for (const Placed<float> &output : outputs)
            CHECK(output.read() == expected);
    }
}
