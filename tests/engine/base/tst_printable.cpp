// SPDX-License-Identifier: MIT
#include "engine/base/printable.h"

#include <doctest/doctest.h>

using firesteel::engine::printable;

TEST_CASE("printable keeps ordinary text and escapes control characters")
{
    CHECK(printable("model.norm.weight") == "model.norm.weight");
    CHECK(printable("größe 日本") == "größe 日本");
    CHECK(printable("a\nb\tc\x7F") == "a\\x0Ab\\x09c\\x7F");
    CHECK(printable(std::string_view("a\0b", 3)) == "a\\x00b");
}

TEST_CASE("printable makes invalid UTF-8 ASCII")
{
    CHECK(printable("ok \xFF\xC3") == "ok \\xFF\\xC3");
}

TEST_CASE("printable cuts between characters")
{
    CHECK(printable("abcdef", 3) == "abc...");
    CHECK(printable("aéb", 2) == "a..."); // é is two bytes
    CHECK(printable("日本", 3) == "日...");
    CHECK(printable("abc", 3) == "abc");
}
