// SPDX-License-Identifier: MIT
//
// Keys: shown once, kept as hashes, in a file of their owner alone.
#include "app/api/api_keys.h"
#include "tests/support/temporary_folder.h"

#include <doctest/doctest.h>
#include <filesystem>
#include <string>

using namespace firesteel;
using firesteel::app::ApiKeys;

TEST_CASE("keys: made, found again after a restart, removed")
{
    const test::TemporaryFolder folder;
    const auto file = folder / "below/keys.json";
    std::string key;
    {
        ApiKeys keys(file);
        CHECK(keys.isEmpty());
        CHECK_FALSE(keys.nameOf(""));
        key = keys.create("laptop").value();
        CHECK(key.starts_with("fsk-"));
        CHECK(key.size() == 4 + 64);
        CHECK(keys.create("phone").value() != key);
    }
    ApiKeys keys(file);
    REQUIRE(keys.list().size() == 2);
    CHECK(keys.list()[0].name == "laptop");
    CHECK(key.ends_with(keys.list()[0].ending));
    CHECK(keys.nameOf(key) == "laptop");
    CHECK_FALSE(keys.nameOf(key + "0"));
    CHECK_FALSE(keys.nameOf(key.substr(0, key.size() - 1)));
    CHECK_FALSE(keys.nameOf(""));
    CHECK(keys.remove(keys.list()[0].id).has_value());
    CHECK(keys.remove("unknown").has_value());
    CHECK_FALSE(keys.nameOf(key));
    CHECK(ApiKeys(file).list().size() == 1);
}

TEST_CASE("keys: the file holds no key and nobody else may read it")
{
    const test::TemporaryFolder folder;
    const auto file = folder / "keys.json";
    ApiKeys keys(file);
    const std::string key = keys.create("same").value();
    const std::string other = keys.create("same").value();
    const std::string content = test::readFile(file);
    CHECK_FALSE(content.contains(key.substr(4)));
    CHECK_FALSE(content.contains(other.substr(4)));
    using std::filesystem::perms;
    CHECK(std::filesystem::status(file).permissions() == (perms::owner_read | perms::owner_write));
    // Nothing is left of writing it.
    CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
}

TEST_CASE("keys: the window and a command change the same file in turn")
{
    const test::TemporaryFolder folder;
    const auto file = folder / "keys.json";
    ApiKeys window(file);
    const std::string first = window.create("first").value();
    ApiKeys command(file);
    const std::string second = command.create("second").value();
    const std::string third = window.create("third").value();
    const ApiKeys again(file);
    CHECK(again.nameOf(first) == "first");
    CHECK(again.nameOf(second) == "second");
    CHECK(again.nameOf(third) == "third");
    CHECK(command.remove(again.list()[0].id).has_value());
    CHECK(ApiKeys(file).list().size() == 2);
    test::writeFile(file, "{");
    CHECK_FALSE(window.create("fourth").has_value());
    CHECK_FALSE(window.remove(again.list()[1].id).has_value());
    CHECK(test::readFile(file) == "{");
}

TEST_CASE("keys: a file that cannot be read lets nobody in and is not overwritten")
{
    const test::TemporaryFolder folder;
    const auto file = folder / "keys.json";
    for (const char *content : { "", "{", "{\"keys\":5}", "{\"keys\":[{\"id\":1}]}", "[]" }) {
        test::writeFile(file, content);
        ApiKeys keys(file);
        CHECK_FALSE(keys.isEmpty());
        CHECK(keys.problem().contains(file.string()));
        CHECK_FALSE(keys.create("x").has_value());
        CHECK(test::readFile(file) == content);
    }
}

TEST_CASE("keys: what cannot be stored is not handed out")
{
    const test::TemporaryFolder folder;
    test::writeFile(folder / "file", "x");
    ApiKeys keys(folder / "file/keys.json"); // below a file
    const auto created = keys.create("x");
    REQUIRE_FALSE(created.has_value());
    CHECK(created.error().contains("keys.json"));
    CHECK(keys.list().empty());
}
