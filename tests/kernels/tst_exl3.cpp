// SPDX-License-Identifier: MIT
#include "kernels/exl3/exl3.h"
#include "kernels/exl3/exl3_codec.h"
#include "tests/kernels/exl3_checks.h"
#include "tests/kernels/exl3_expected.h"
#include "tests/support/golden.h"
#include "tests/support/random_values.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <doctest/doctest.h>
#include <format>

using namespace firesteel;
using namespace firesteel::kernels;
using namespace firesteel::test;

TEST_CASE("EXL3 codebooks equal the reference's for every state")
{
    const Exl3Vectors vectors("codebook");
    for (const Exl3Codebook codebook : kExl3Codebooks) {
        CAPTURE(codebookName(codebook));
        CHECK(vectors.holds(codebookName(codebook), exl3Values(codebook)));
        int wrong = 0;
        for (std::size_t state = 0; state < 0x10000; ++state) {
            const std::uint16_t bits = exl3Value(codebook, static_cast<std::uint16_t>(state));
            wrong += exl3FloatValues(codebook)[state] == widened(bits) ? 0 : 1;
        }
        CHECK(wrong == 0);
    }
}

TEST_CASE("EXL3 tiles are packed as the reference packs them, and unpacked to the same states")
{
    const Exl3Vectors vectors("codebook");
    for (int rate = 1; rate <= kExl3MaxRate; ++rate) {
        CAPTURE(rate);
        const auto states = vectors.bits(std::format("pack.k{}.states", rate));
        const auto packed = vectors.bits(std::format("pack.k{}.packed", rate));
        const std::size_t words = std::size_t { 16 } * static_cast<std::size_t>(rate);
        const auto mask = static_cast<std::uint16_t>((1U << static_cast<unsigned>(rate)) - 1);
        for (std::size_t tile = 0; tile < packed.size() / words; ++tile) {
            const std::span<const std::uint16_t, kExl3TileSize> given(
                states.data() + tile * kExl3TileSize, kExl3TileSize);
            std::vector<std::uint16_t> actual(words);
            exl3PackTile(actual.data(), given, rate);
            CHECK(std::equal(actual.begin(), actual.end(),
                             packed.begin() + static_cast<std::ptrdiff_t>(tile * words)));

            std::array<std::uint16_t, kExl3TileSize> unpacked {};
            exl3UnpackTile(unpacked, actual.data(), rate);
            int wrong = 0;
            for (std::size_t t = 0; t < unpacked.size(); ++t) {
                wrong += (unpacked.at(t) & mask) == (given[t] & mask) ? 0 : 1;
                // A state ends with its predecessor's bits, moved up; the ring closes at step 0.
                const std::uint16_t previous = unpacked.at((t + kExl3TileSize - 1) % kExl3TileSize);
                const auto shifted = static_cast<std::uint16_t>(static_cast<unsigned>(previous)
                                                                << static_cast<unsigned>(rate));
                wrong += (unpacked.at(t) & ~mask & 0xFFFF) == (shifted & 0xFFFF) ? 0 : 1;
            }
            CHECK(wrong == 0);
        }
    }
}

TEST_CASE("EXL3 matrices of every rate and codebook are reconstructed to the reference's bits")
{
    checkExl3Reconstruct(*testStreams().front());
}

TEST_CASE("the EXL3 input rotation has the reference's bits")
{
    checkExl3Rotate(*testStreams().front());
}

TEST_CASE("EXL3 linear layers agree with the reference and do not depend on companions")
{
    checkExl3Linear(*testStreams().front(), RowClass::Decode);
    checkExl3Linear(*testStreams().front(), RowClass::Prefill);
}

TEST_CASE("EXL3 experts agree with the reference and do not depend on companions")
{
    checkExl3Experts(*testStreams().front(), RowClass::Decode);
    checkExl3Experts(*testStreams().front(), RowClass::Prefill);
}

TEST_CASE("a dequantized EXL3 matrix multiplies like the layer")
{
    ThreadPool pool(2);
    RandomValues random(6);
    for (const Exl3Codebook codebook : kExl3Codebooks)
        for (const int rate : { 1, 2, 5, 8 }) {
            const Exl3Host host = randomExl3(9, 384, 256, rate, codebook);
            const auto in = static_cast<std::size_t>(host.shape.in);
            const auto out = static_cast<std::size_t>(host.shape.out);
            std::vector<float> w(in * out, NAN);
            dequantizeExl3(w, host.matrix(), pool);
            const auto x = random.uniforms(5 * in, -1, 1);
            std::vector<double> actual(5 * out);
            for (std::size_t t = 0; t < 5; ++t)
                for (std::size_t n = 0; n < out; ++n)
                    for (std::size_t k = 0; k < in; ++k)
                        actual[t * out + n] += static_cast<double>(x[t * in + k])
                            * static_cast<double>(w[n * in + k]);
            const std::vector<double> expected = exl3Product(host, exl3Rotated(host, x));
            const std::vector<float> narrowed(actual.begin(), actual.end());
            // The layer rounds the rotated input to F16; each weight is a float32 sum of 128
            // terms, then of 128 again.
            const std::vector<double> sums { 128, 128, 16 };
            CHECK(relativeDifference(narrowed, expected)
                  <= 8 * halfRoundings(1) + chainTolerance(sums));
        }
}
