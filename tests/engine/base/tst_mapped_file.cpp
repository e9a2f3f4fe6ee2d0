// SPDX-License-Identifier: MIT
#include "engine/base/mapped_file.h"
#include "tests/support/temporary_folder.h"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

using namespace firesteel::engine;
using firesteel::test::TemporaryFolder;

namespace {

std::string_view textOf(const MappedFile &file)
{
    return { reinterpret_cast<const char *>(file.bytes().data()), file.bytes().size() };
}

} // namespace

TEST_CASE("a mapped file has the file's bytes and survives moves")
{
    const TemporaryFolder folder;
    firesteel::test::writeFile(folder / "a", "first");
    firesteel::test::writeFile(folder / "b", "second");
    auto a = MappedFile::open(folder / "a");
    auto b = MappedFile::open(folder / "b");
    REQUIRE(a);
    REQUIRE(b);
    CHECK(textOf(*a) == "first");
    MappedFile moved = std::move(*a);
    CHECK(textOf(moved) == "first");
    CHECK(moved.path() == folder / "a");
    moved = std::move(*b);
    CHECK(textOf(moved) == "second");
    CHECK(moved.path() == folder / "b");
}

TEST_CASE("an empty file maps to no bytes")
{
    const TemporaryFolder folder;
    firesteel::test::writeFile(folder / "empty", "");
    const auto file = MappedFile::open(folder / "empty");
    REQUIRE(file);
    CHECK(file->bytes().empty());
}

TEST_CASE("what is not a readable regular file is refused by name")
{
    const TemporaryFolder folder;
    const auto check = [](const std::filesystem::path &path, ErrorCode code, std::string_view why) {
        const auto file = MappedFile::open(path);
        REQUIRE_FALSE(file);
        CHECK(file.error().code == code);
        CHECK(file.error().message.contains(path.string()));
        CHECK(file.error().message.contains(why));
    };
    check(folder / "absent", ErrorCode::NotFound, "No such file");
    firesteel::test::writeFile(folder / "file", "x");
    check(folder / "file" / "below", ErrorCode::NotFound, "Not a directory");
    check(folder.path(), ErrorCode::Io, "is a folder");
    REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
    check(folder / "pipe", ErrorCode::Io, "not a regular file");
    std::filesystem::create_symlink("loop", folder / "loop");
    check(folder / "loop", ErrorCode::Io, "symbolic links");
    if (::geteuid() != 0) { // root may read anything
        std::filesystem::permissions(folder / "file", std::filesystem::perms::none);
        check(folder / "file", ErrorCode::Io, "Permission denied");
    }
}
