// SPDX-License-Identifier: MIT
#include "engine/decode/draft_policy.h"

#include <doctest/doctest.h>

using namespace firesteel::engine;

namespace {

// A step of r rows takes 10 + (r - 1) * perRow.
StepCosts costsOf(double perRow, double draft)
{
    StepCosts costs;
    for (int rows = 1; rows <= kMaxDecodeRows; ++rows)
        costs.addStep(rows, 10 + perRow * (rows - 1));
    costs.addDraft(draft);
    return costs;
}

} // namespace

TEST_CASE("costs between and beyond measured row counts lie on a line")
{
    StepCosts costs;
    CHECK(costs.step(3) == 0);
    costs.addStep(1, 10);
    CHECK(costs.step(1) == 10);
    CHECK(costs.step(3) == doctest::Approx(13)); // the published growth of 15 % a row
    costs.addStep(5, 30);
    CHECK(costs.step(3) == doctest::Approx(20));
    CHECK(costs.step(5) == 30);
    costs.addStep(5, 40); // one outlier moves it by a fifth
    CHECK(costs.step(5) == doctest::Approx(32));
    costs.addStep(72, 32 + 67 * 2.0); // eight sequences
    CHECK(costs.step(9) == doctest::Approx(40));
    costs.addStep(73, 1e9); // more than a step has
    CHECK(costs.step(72) == doctest::Approx(166));
}

TEST_CASE("a draft pays with what it adds to the whole step")
{
    StepCosts costs; // eight rows cost what one does, each further one an eighth of that
    for (int rows = 1; rows <= 72; ++rows)
        costs.addStep(rows, std::max(8, rows));
    const DraftPolicy policy({});
    CHECK(policy.choose(kMaxDrafts, true, 0, costs).tokens >= 7);
    CHECK(policy.choose(kMaxDrafts, true, 0, costs, { .sequences = 3, .rows = 3 }).tokens == 4);
    CHECK(policy.choose(kMaxDrafts, true, 0, costs, { .sequences = 7, .rows = 7 }).tokens == 0);
}

TEST_CASE("automatic K follows acceptance and cost")
{
    const auto settled = [](int accepted, const StepCosts &costs) {
        DraftPolicy policy({});
        for (int i = 0; i < 200; ++i) {
            const DraftPolicy::Choice choice = policy.choose(kMaxDrafts, true, 0, costs);
            policy.observe(choice.drafter, choice.tokens, std::min(accepted, choice.tokens));
        }
        return policy.choose(kMaxDrafts, true, 0, costs);
    };
    const DraftPolicy::Choice all = settled(8, costsOf(1, 1));
    CHECK(all.drafter == DrafterKind::Dflash2);
    CHECK(all.tokens == 8);
    const DraftPolicy::Choice some = settled(3, costsOf(1, 1));
    CHECK(some.tokens >= 3);
    CHECK(some.tokens <= 4); // looks one further now and then
    // Nothing is ever accepted and drafting is dear: not at all, but for a look now and then.
    int drafted = 0;
    DraftPolicy policy({});
    const StepCosts dear = costsOf(3, 5);
    for (int i = 0; i < 1000; ++i) {
        const DraftPolicy::Choice choice = policy.choose(kMaxDrafts, true, 0, dear);
        policy.observe(choice.drafter, choice.tokens, 0);
        drafted += choice.tokens > 0 ? 1 : 0;
    }
    CHECK(drafted > 0);
    CHECK(drafted < 100);
}

TEST_CASE("the drafter that gives more tokens for the time is chosen")
{
    const StepCosts costs = costsOf(1, 20); // the model drafts slowly
    DraftPolicy policy({});
    CHECK(policy.choose(8, true, 8, costs).drafter == DrafterKind::Lookup);
    CHECK(policy.choose(8, true, 0, costs).drafter != DrafterKind::Lookup);
    for (int i = 0; i < 50; ++i)
        policy.observe(DrafterKind::Lookup, 8, 0); // copies are wrong here
    CHECK(policy.choose(8, true, 8, costsOf(1, 1)).drafter == DrafterKind::Dflash2);
}

TEST_CASE("a wish is kept, as far as it can be")
{
    const StepCosts costs = costsOf(100, 100); // would never pay
    const auto chosen = [&](Drafting wish, int limit, bool hasDflash2, int found) {
        return DraftPolicy(wish).choose(limit, hasDflash2, found, costs);
    };
    using Kind = DrafterKind;
    CHECK(chosen({ Kind::Dflash2, 5 }, 8, true, 0).tokens == 5);
    CHECK(chosen({ Kind::Dflash2, 5 }, 2, true, 0).tokens == 2);
    CHECK(chosen({ Kind::Dflash2, 0 }, 8, true, 8).drafter == Kind::None);
    CHECK(chosen({ Kind::None, 5 }, 8, true, 8).drafter == Kind::None);
    CHECK(chosen({ Kind::Lookup, 5 }, 8, true, 3).tokens == 3);
    CHECK(chosen({ Kind::Lookup, 5 }, 8, true, 0).drafter == Kind::None);
    CHECK(chosen({ Kind::Auto, 5 }, 8, false, 0).drafter == Kind::None);
    CHECK(chosen({ Kind::Auto, 5 }, 8, true, 0).drafter == Kind::Dflash2);
    CHECK(chosen({ Kind::Auto, 5 }, 0, true, 5).drafter == Kind::None);
}
