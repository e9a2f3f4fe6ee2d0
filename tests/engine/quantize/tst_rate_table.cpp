// SPDX-License-Identifier: MIT
#include "engine/quantize/rate_table.h"

#include <doctest/doctest.h>
#include <string>

using namespace firesteel;
using engine::matchesPattern;
using engine::RateTable;

TEST_CASE("patterns: a star is any run of characters")
{
    CHECK(matchesPattern("lm_head", "lm_head"));
    CHECK_FALSE(matchesPattern("lm_head", "lm_heads"));
    CHECK_FALSE(matchesPattern("lm_heads", "lm_head"));
    CHECK(matchesPattern("*", ""));
    CHECK(matchesPattern("**", "anything"));
    CHECK(matchesPattern("*.experts.*.down_proj", "a.experts.12.down_proj"));
    CHECK_FALSE(matchesPattern("*.experts.*.down_proj", "a.experts.down_proj"));
    CHECK(matchesPattern("a*b*c", "a.b.b.c"));
    CHECK(matchesPattern("*ab", "aab"));
    CHECK_FALSE(matchesPattern("a*b", "a"));
    CHECK(matchesPattern("", ""));
    CHECK_FALSE(matchesPattern("", "a"));
}

TEST_CASE("the first line that matches decides")
{
    const auto table = RateTable::parse("# bits\n"
                                        "layers.0.*   6 # the first\r\n"
                                        "\n"
                                        "layers.*.mlp.* plain\n"
                                        "\tlayers.* 3\n"
                                        "nobody 1\n",
                                        "rates");
    REQUIRE(table);
    CHECK(table->rateOf("layers.0.mlp.gate") == 6);
    CHECK(table->rateOf("layers.1.mlp.gate") == 0);
    CHECK(table->rateOf("layers.1.attention") == 3);
    CHECK(table->rateOf("lm_head") == 0);
    CHECK(table->unusedPatterns(
              { "layers.0.mlp.gate", "layers.1.mlp.gate", "layers.1.attention", "lm_head" })
          == std::vector<std::string> { "nobody" });
}

TEST_CASE("a line that is no rule is named")
{
    for (const char *text : { "a 9\n", "a 0", "a 2.5", "a", "a 2 3", "a -1", "a x" }) {
        CAPTURE(text);
        const auto table = RateTable::parse(std::string("b 2\n") + text, "my rates");
        REQUIRE_FALSE(table);
        CHECK(table.error().code == engine::ErrorCode::BadRequest);
        CHECK(table.error().message.starts_with("my rates: line 2 "));
    }
    const auto empty = RateTable::parse("# nothing\n", "my rates");
    REQUIRE_FALSE(empty);
    CHECK(empty.error().message.find("my rates") == 0);
}
