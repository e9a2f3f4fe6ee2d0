// SPDX-License-Identifier: MIT
#include "engine/decode/philox.h"

#include <doctest/doctest.h>
#include <set>

using namespace firesteel::engine;

TEST_CASE("philox gives the published known answers")
{
    // Random123's kat_vectors, philox4x32 with 10 rounds.
    using Words = std::array<std::uint32_t, 4>;
    CHECK(philox4x32({ 0, 0, 0, 0 }, { 0, 0 })
          == Words { 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8 });
    CHECK(philox4x32({ 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff }, { 0xffffffff, 0xffffffff })
          == Words { 0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd });
    CHECK(philox4x32({ 0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344 }, { 0xa4093822, 0x299f31d0 })
          == Words { 0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1 });
}

TEST_CASE("uniformAt stays below one and separates seeds and positions")
{
    std::set<double> seen;
    double sum = 0;
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        for (std::uint64_t position = 0; position < 100; ++position) {
            const double u = uniformAt(seed << 32 | seed, position);
            CHECK(u >= 0.0);
            CHECK(u < 1.0);
            seen.insert(u);
            sum += u;
        }
    }
    CHECK(seen.size() == 10000);
    // Mean of 10,000 uniforms: standard deviation 1 / sqrt(12 * 10,000) = 0.0029; five of them.
    CHECK(sum / 10000 == doctest::Approx(0.5).epsilon(0.0145 * 2));
}
