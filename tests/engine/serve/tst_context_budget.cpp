// SPDX-License-Identifier: MIT
#include "engine/base/system_memory.h"
#include "engine/serve/load_budget.h"

#include <doctest/doctest.h>

using namespace firesteel::engine;

namespace {

// 100 bytes per token on top of 1000.
std::uint64_t sequenceBytes(int tokens) { return 1000 + 100 * static_cast<std::uint64_t>(tokens); }

ContextBudget budget(std::uint64_t available, int wanted = 0)
{
    return { .availableBytes = available,
             .reserveBytes = 500,
             .weightBytes = 10000,
             .wantedTokens = wanted,
             .longestTokens = 8192 };
}

} // namespace

TEST_CASE("the longest context that fits beside weights and reserve is chosen")
{
    CHECK(chooseContext(budget(1 << 30), sequenceBytes) == 8192);
    CHECK(chooseContext(budget(11500 + 819200), sequenceBytes) == 8192);
    CHECK(chooseContext(budget(11500 + 819199), sequenceBytes) == 8191);
    CHECK(chooseContext(budget(11500 + 100000), sequenceBytes) == 1000);
    CHECK(chooseContext(budget(11500 + 25600), sequenceBytes) == 256);
    CHECK(chooseContext(budget(11500 + 25599), sequenceBytes).error().code
          == ErrorCode::OutOfMemory);
}

TEST_CASE("a wished context is given or refused with the numbers")
{
    CHECK(chooseContext(budget(1 << 30, 100), sequenceBytes) == 100);
    CHECK(chooseContext(budget(11500 + 10000, 100), sequenceBytes) == 100);
    const auto refused = chooseContext(budget(1 << 20, 8192 * 2), sequenceBytes);
    CHECK(refused.error().code == ErrorCode::BadRequest);

    ContextBudget large = budget(3ULL << 30, 8192);
    large.weightBytes = 2ULL << 30;
    large.reserveBytes = 1ULL << 30;
    const auto error = chooseContext(large, sequenceBytes).error();
    CHECK(error.code == ErrorCode::OutOfMemory);
    CHECK(error.message
          == "A context of 8192 tokens needs 2.00 GiB (weights 2.00 GiB, state 0.8 MiB); 2.00 GiB "
             "are free beside the reserve of 1.00 GiB.");
}

TEST_CASE("MemAvailable is read from meminfo")
{
    CHECK(parseMemAvailable(
              "MemTotal:       32793636 kB\nMemFree:  1 kB\nMemAvailable:   31000000 kB\n")
          == 31000000ULL * 1024);
    CHECK(!parseMemAvailable("MemTotal:       32793636 kB\n"));
    CHECK(!parseMemAvailable("MemAvailable:"));
    CHECK(!parseMemAvailable("MemAvailable: lots\n"));
    CHECK(availableMemoryBytes().value_or(0) > 0);
}

TEST_CASE("bytes are written for people")
{
    CHECK(formatBytes(0) == "0.0 MiB");
    CHECK(formatBytes(70250440) == "67.0 MiB");
    CHECK(formatBytes(1ULL << 30) == "1.00 GiB");
}
