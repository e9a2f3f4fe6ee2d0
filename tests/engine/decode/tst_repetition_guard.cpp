// SPDX-License-Identifier: MIT
#include "engine/decode/repetition_guard.h"

#include <array>
#include <cstddef>
#include <doctest/doctest.h>

using firesteel::engine::RepetitionGuard;

namespace {

// Tokens until a loop is seen in 0, 1, ..., period - 1, 0, 1, ...; 0 if it never is.
std::size_t tokensUntilLoop(std::size_t period, std::size_t most = 4000)
{
    RepetitionGuard guard;
    for (std::size_t i = 0; i < most; ++i) {
        if (guard.push(static_cast<std::int32_t>(i % period)))
            return i + 1;
    }
    return 0;
}

} // namespace

TEST_CASE("a loop is seen after 512 repeated tokens and eight periods")
{
    CHECK(tokensUntilLoop(1) == 1 + 512);
    CHECK(tokensUntilLoop(10) == 10 + 512);
    CHECK(tokensUntilLoop(73) == 73 + 512); // 7 * 73 = 511
    CHECK(tokensUntilLoop(74) == 8 * 74);
    CHECK(tokensUntilLoop(128) == 8 * 128);
}

TEST_CASE("longer periods are no loop")
{
    CHECK(tokensUntilLoop(129) == 0);
    CHECK(tokensUntilLoop(1000) == 0);
}

TEST_CASE("one other token in between and the count begins again")
{
    RepetitionGuard guard;
    for (int line = 0; line < 100; ++line) {
        for (int i = 0; i < 400; ++i)
            REQUIRE(!guard.push(7));
        REQUIRE(!guard.push(8 + line));
    }
    for (int i = 0; i < 512; ++i)
        REQUIRE(!guard.push(7));
    CHECK(guard.push(7));
}
