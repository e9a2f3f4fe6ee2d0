// SPDX-License-Identifier: MIT
#include "kernels/common/thread_pool.h"

#include <atomic>
#include <doctest/doctest.h>
#include <stdexcept>
#include <vector>

using firesteel::kernels::ThreadPool;

TEST_CASE("parallelFor covers every index once, whatever the grain and the thread count")
{
    for (const int threads : { 1, 2, 5 }) {
        ThreadPool pool(threads);
        CHECK(pool.size() == threads);
        for (const int grain : { 1, 3, 64, 1000 }) {
            std::vector<int> seen(257, 0);
            pool.parallelFor(257, grain, [&](std::int64_t begin, std::int64_t end) {
                for (std::int64_t i = begin; i < end; ++i)
                    ++seen[static_cast<std::size_t>(i)];
            });
            CHECK(seen == std::vector<int>(257, 1));
        }
    }
}

TEST_CASE("parallelFor survives many short calls and an empty range")
{
    ThreadPool pool(4);
    std::atomic<std::int64_t> sum { 0 };
    for (int round = 0; round < 2000; ++round)
        pool.parallelFor(8, 1, [&](std::int64_t begin, std::int64_t) { sum += begin; });
    CHECK(sum == 2000 * 28);
    pool.parallelFor(0, 1, [](std::int64_t, std::int64_t) { FAIL("called for an empty range"); });
}

TEST_CASE("an exception in a part reaches the caller and the pool stays usable")
{
    ThreadPool pool(3);
    CHECK_THROWS_AS(pool.parallelFor(10, 1,
                                     [](std::int64_t begin, std::int64_t) {
                                         if (begin == 7)
                                             throw std::runtime_error("part 7");
                                     }),
                    std::runtime_error);
    std::atomic<int> count { 0 };
    pool.parallelFor(10, 1, [&](std::int64_t, std::int64_t) { ++count; });
    CHECK(count == 10);
}
