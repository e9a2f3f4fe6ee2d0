// SPDX-License-Identifier: MIT
//
// The trellis search of the quantizer: paths are closed rings, optimal for the border they chose,
// as close to the tiles as the reference's, and the same on every backend.
#include "kernels/exl3/exl3_codec.h"
#include "kernels/exl3/exl3_viterbi.h"
#include "tests/support/exl3_vectors.h"
#include "tests/support/placed.h"
#include "tests/support/random_values.h"
#include "tests/support/tensor_values.h"
#include "tests/support/test_paths.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <doctest/doctest.h>
#include <limits>
#include <string>
#include <vector>

using namespace firesteel;
using kernels::Exl3Codebook;
using kernels::kExl3TileSize;

namespace {

std::vector<std::uint16_t> search(const std::vector<float> &tiles, int rate, Exl3Codebook codebook,
                                  kernels::Stream &stream)
{
    const std::size_t count = tiles.size() / kExl3TileSize;
    const test::Placed<float> in(tiles, stream);
    test::Placed<std::uint16_t> states(tiles.size(), stream);
    test::Placed<std::byte> scratch(
        kernels::exl3ViterbiScratchBytes(static_cast<std::int64_t>(count), rate, stream), stream);
    kernels::launchExl3Viterbi(states.span(), in.span(), rate, codebook, { scratch.span() },
                               stream);
    std::vector<std::uint16_t> result = states.read();
    CHECK(states.isGuardIntact());
    CHECK(scratch.isGuardIntact());
    return result;
}

std::vector<float> randomTiles(std::size_t count, std::uint64_t seed)
{
    test::RandomValues random(seed);
    std::vector<float> tiles(count * kExl3TileSize);
    for (float &value : tiles)
        value = test::normal(random);
    return tiles;
}

double squaredError(std::span<const float> tile, std::span<const std::uint16_t> states,
                    Exl3Codebook codebook)
{
    const std::span<const float> values = kernels::exl3FloatValues(codebook);
    double sum = 0;
    for (std::size_t t = 0; t < tile.size(); ++t) {
        const double d = static_cast<double>(values[states[t]]) - static_cast<double>(tile[t]);
        sum += d * d;
    }
    return sum;
}

// The least squared error of any path that leaves and enters the tile through this node, in double.
double leastError(std::span<const float> tile, int rate, std::size_t border, Exl3Codebook codebook)
{
    const std::span<const float> values = kernels::exl3FloatValues(codebook);
    const std::size_t nodes = values.size() >> rate;
    std::vector<double> before(nodes, std::numeric_limits<double>::infinity());
    before[border] = 0;
    std::vector<double> after(nodes);
    for (const float w : tile) {
        std::ranges::fill(after, std::numeric_limits<double>::infinity());
        for (std::size_t state = 0; state < values.size(); ++state) {
            const double d = static_cast<double>(values[state]) - static_cast<double>(w);
            double &cost = after[state % nodes];
            cost = std::min(cost, before[state >> rate] + d * d);
        }
        std::swap(before, after);
    }
    return before[border];
}

// A cost loses at most 2^rate + 1 units in the last place at each of 256 steps (the choice in its
// low bits; the sum's rounding; of the square's no more than the sum's), on the best path as on the
// one that won.
double searchTolerance(int rate) { return 2 * 256 * (std::exp2(rate) + 2) * 0x1p-23; }

} // namespace

TEST_CASE("a path is a ring, and no other through its border is closer")
{
    for (kernels::Stream *stream : test::testStreams())
        for (const Exl3Codebook codebook : test::kExl3Codebooks)
            for (int rate = 1; rate <= kernels::kExl3MaxRate; ++rate) {
                CAPTURE(test::codebookName(codebook));
                CAPTURE(rate);
                const std::vector<float> tiles = randomTiles(2, static_cast<std::uint64_t>(rate));
                const std::vector<std::uint16_t> states = search(tiles, rate, codebook, *stream);
                for (std::size_t n = 0; n < 2; ++n) {
                    const auto tile = std::span(tiles).subspan(n * kExl3TileSize, kExl3TileSize);
                    const auto path
                        = std::span(states).subspan(n * kExl3TileSize).first<kExl3TileSize>();
                    std::vector<std::uint16_t> packed(static_cast<std::size_t>(16 * rate));
                    std::array<std::uint16_t, kExl3TileSize> unpacked {};
                    kernels::exl3PackTile(packed.data(), path, rate);
                    kernels::exl3UnpackTile(unpacked, packed.data(), rate);
                    CHECK(std::ranges::equal(unpacked, path));

                    const double least = leastError(tile, rate, path.front() >> rate, codebook);
                    CHECK(squaredError(tile, path, codebook)
                          <= least * (1 + searchTolerance(rate)));
                }
            }
}

TEST_CASE("the reference's tiles: as close as its own paths")
{
    const test::Exl3Vectors vectors("quant");
    std::vector<float> tiles = vectors.values("tiles.in");
    for (float &value : tiles)
        value *= 1.24F;
    const std::size_t count = tiles.size() / kExl3TileSize;
    for (kernels::Stream *stream : test::testStreams())
        for (const Exl3Codebook codebook : test::kExl3Codebooks)
            for (int rate = 2; rate <= 4; ++rate) {
                const std::string name = "tiles." + std::string(test::codebookName(codebook)) + ".k"
                    + std::to_string(rate) + ".states";
                CAPTURE(name);
                const std::vector<std::uint16_t> theirs = vectors.bits(name);
                const std::vector<std::uint16_t> ours = search(tiles, rate, codebook, *stream);
                // Which border is best is a guess of both: where they differ, either may win.
                // Neither may win on average: the mean difference is within four of its own
                // standard errors.
                double sum = 0;
                double squares = 0;
                double error = 0;
                for (std::size_t n = 0; n < count; ++n) {
                    const std::size_t at = n * kExl3TileSize;
                    const auto tile = std::span(tiles).subspan(at, kExl3TileSize);
                    const double their = squaredError(
                        tile, std::span(theirs).subspan(at, kExl3TileSize), codebook);
                    const double difference
                        = squaredError(tile, std::span(ours).subspan(at, kExl3TileSize), codebook)
                        - their;
                    sum += difference;
                    squares += difference * difference;
                    error += their;
                }
                const auto tilesCount = static_cast<double>(count);
                const double mean = sum / tilesCount;
                const double standardError
                    = std::sqrt((squares / tilesCount - mean * mean) / (tilesCount - 1));
                MESSAGE(name << ": error relative to the reference's " << 1 + sum / error);
                CHECK(mean <= 4 * standardError);
            }
}

TEST_CASE("values far from the codebook and constants find a path")
{
    for (kernels::Stream *stream : test::testStreams())
        for (const float value : { 0.0F, 1.0F, -100.0F, 1e4F }) {
            CAPTURE(value);
            const std::vector<float> tile(kExl3TileSize, value);
            const std::vector<std::uint16_t> states = search(tile, 3, Exl3Codebook::Mul1, *stream);
            const double least = leastError(tile, 3, states.front() >> 3, Exl3Codebook::Mul1);
            CHECK(squaredError(tile, states, Exl3Codebook::Mul1)
                  <= least * (1 + searchTolerance(3)));
        }
}

TEST_CASE("the GPU finds the CPU's states")
{
    kernels::Stream *gpu = test::gpuStream();
    if (gpu == nullptr)
        return;
    kernels::Stream cpu(0);
    // More tiles than multiprocessors: blocks take several.
    const std::vector<float> tiles = randomTiles(300, 42);
    for (const Exl3Codebook codebook : test::kExl3Codebooks)
        for (int rate = 1; rate <= kernels::kExl3MaxRate; ++rate) {
            CAPTURE(test::codebookName(codebook));
            CAPTURE(rate);
            CHECK(search(tiles, rate, codebook, *gpu) == search(tiles, rate, codebook, cpu));
        }
}
