// SPDX-License-Identifier: MIT
#include "engine/decode/lookup_drafter.h"

#include <doctest/doctest.h>
#include <vector>

using namespace firesteel::engine;

namespace {

using Ids = std::vector<std::int32_t>;

Ids drafted(const Ids &tokens, int count)
{
    LookupDrafter drafter;
    DraftJob job { .slot = 0, .tokens = tokens, .count = count };
    drafter.draft({ &job, 1 });
    return job.drafts;
}

} // namespace

TEST_CASE("lookup copies what followed the newest tokens before")
{
    CHECK(drafted({ 1, 2, 3, 4, 5, 6, 1, 2, 3 }, 2) == Ids { 4, 5 });
    CHECK(drafted({ 1, 2, 3, 4, 1, 2, 3 }, 8) == Ids { 4, 1, 2, 3 }); // to the end at most
    CHECK(drafted({ 7, 7, 7, 7 }, 8) == Ids { 7 });
}

TEST_CASE("lookup prefers the longest match, then the newest")
{
    CHECK(drafted({ 9, 1, 2, 3, 50, 8, 1, 2, 3, 60, 9, 1, 2, 3 }, 1) == Ids { 50 });
    CHECK(drafted({ 1, 2, 3, 50, 1, 2, 3, 60, 1, 2, 3 }, 1) == Ids { 60 });
}

TEST_CASE("lookup says nothing without a match of three tokens")
{
    CHECK(drafted({}, 4).empty());
    CHECK(drafted({ 1 }, 4).empty());
    CHECK(drafted({ 2, 3, 4, 2, 3 }, 4).empty());
    CHECK(drafted({ 1, 2, 3, 4, 5, 6 }, 4).empty());
    CHECK(drafted({ 1, 2, 3 }, 4).empty()); // not itself
}
