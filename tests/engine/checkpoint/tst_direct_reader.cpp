// SPDX-License-Identifier: MIT
#include "engine/checkpoint/direct_reader.h"
#include "tests/support/temporary_folder.h"

#include <algorithm>
#include <cstring>
#include <doctest/doctest.h>
#include <fstream>
#include <random>
#include <span>
#include <string>
#include <vector>

using namespace firesteel;
using namespace firesteel::engine;

namespace {

std::vector<std::byte> randomBytes(std::size_t count, std::uint64_t seed)
{
    std::mt19937_64 random(seed);
    std::vector<std::byte> bytes((count + 7) / 8 * 8);
    for (std::size_t i = 0; i < bytes.size(); i += 8) {
        const std::uint64_t value = random();
        std::memcpy(bytes.data() + i, &value, 8);
    }
    bytes.resize(count);
    return bytes;
}

void write(const std::filesystem::path &path, const std::vector<std::byte> &bytes)
{
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char *>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
}

// Two files that are no multiples of anything.
struct Files
{
    explicit Files(const std::filesystem::path &directory)
        : paths { directory / "a", directory / "b" }
    {
        for (std::size_t i = 0; i < paths.size(); ++i)
            write(paths[i], contents[i]);
    }
    std::vector<std::filesystem::path> paths;
    std::vector<std::vector<std::byte>> contents { randomBytes(20'000'003, 1),
                                                   randomBytes(70'001, 2) };
};

kernels::Stream &cpu()
{
    static kernels::Stream stream(1);
    return stream;
}

struct Wanted
{
    std::size_t file;
    std::uint64_t offset;
    std::uint64_t bytes;
};

void checkRead(const Files &files, const std::vector<Wanted> &wanted)
{
    std::vector<std::vector<std::byte>> targets;
    std::vector<FilePiece> pieces;
    for (const Wanted &w : wanted)
        targets.emplace_back(w.bytes + 16, std::byte { 0xA5 });
    for (std::size_t i = 0; i < wanted.size(); ++i)
        pieces.push_back(
            { wanted[i].file, wanted[i].offset, wanted[i].bytes, targets[i].data() + 8 });
    const auto read = readPieces(files.paths, pieces, cpu(), {}, {});
    if (!read)
        FAIL(read.error().message);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        CAPTURE(i);
        const auto expected
            = std::span(files.contents[wanted[i].file]).subspan(wanted[i].offset, wanted[i].bytes);
        CHECK(std::ranges::equal(std::span(targets[i]).subspan(8, wanted[i].bytes), expected));
        const auto isGuard = [](std::byte b) { return b == std::byte { 0xA5 }; };
        CHECK(std::ranges::all_of(std::span(targets[i]).first(8), isGuard));
        CHECK(std::ranges::all_of(std::span(targets[i]).last(8), isGuard));
    }
}

} // namespace

TEST_CASE("pieces of any offset, length and order arrive whole")
{
    const test::TemporaryFolder folder;
    const Files files(folder.path());
    const std::uint64_t size = files.contents[0].size();
    checkRead(files,
              { { 0, 0, size },
                { 1, 69'990, 11 },
                { 0, 4095, 2 },
                { 0, 8'388'600, 20 },
                { 1, 0, 70'001 },
                { 0, size - 1, 1 },
                { 0, 5, 0 },
                { 0, 5, 9'000'000 } });
    std::mt19937 random(7);
    std::vector<Wanted> many;
    for (int i = 0; i < 500; ++i) {
        const std::uint64_t offset = random() % size;
        const std::uint64_t longest = i % 10 == 0 ? 3'000'000 : 5000;
        many.push_back({ 0, offset, std::min<std::uint64_t>(random() % longest, size - offset) });
    }
    checkRead(files, many);
}

TEST_CASE("blocks are aligned, bounded, in order, and leave long gaps out")
{
    std::vector<FilePiece> pieces {
        { 1, 100, 50, nullptr },
        { 0, 30'000'000, 20'000'000, nullptr },
        { 0, 5000, 10, nullptr },
        { 0, 100'000, 10, nullptr },
    };
    const std::vector<FileBlock> blocks = coverWithBlocks(pieces);
    REQUIRE(blocks.size() == 5);
    CHECK(blocks[0].begin == 4096);
    CHECK(blocks[0].end == 102'400); // the short gap is read along
    CHECK(blocks[1].begin == 29'999'104);
    CHECK(blocks[3].end == 50'003'968);
    CHECK(blocks[4].file == 1);
    CHECK(blocks[4].begin == 0);
    CHECK(blocks[4].end == 4096);
    for (const FileBlock &block : blocks) {
        CHECK(block.begin % kDirectAlignment == 0);
        CHECK(block.end % kDirectAlignment == 0);
        CHECK(block.end - block.begin <= kDirectBlockBytes);
    }
    std::vector<FilePiece> none;
    CHECK(coverWithBlocks(none).empty());
}

TEST_CASE("progress grows to what was read")
{
    const test::TemporaryFolder folder;
    const Files files(folder.path());
    std::vector<std::byte> target(files.contents[0].size());
    std::uint64_t last = 0;
    const auto read = readPieces(files.paths, { { 0, 0, target.size(), target.data() } }, cpu(),
                                 [&](std::uint64_t bytes) {
                                     CHECK(bytes >= last);
                                     last = bytes;
                                 },
                                 {});
    REQUIRE(read);
    CHECK(*read == last);
    CHECK(last >= target.size());
    CHECK(last < target.size() + kDirectAlignment);
}

TEST_CASE("what cannot be read is named")
{
    const test::TemporaryFolder folder;
    const Files files(folder.path());
    std::vector<std::byte> target(100'000);
    const auto read = [&](std::uint64_t offset, std::uint64_t bytes) {
        return readPieces(files.paths, { { 1, offset, bytes, target.data() } }, cpu(), {}, {});
    };
    const auto cut = read(69'000, 2000); // the file was longer once
    REQUIRE(!cut);
    CHECK(cut.error().code == ErrorCode::Io);
    CHECK(cut.error().message.find(files.paths[1].string()) != std::string::npos);
    CHECK(cut.error().message.find("70001") != std::string::npos);
    CHECK(!read(90'000, 10));

    std::filesystem::remove(files.paths[1]);
    const auto gone = read(0, 10);
    REQUIRE(!gone);
    CHECK(gone.error().code == ErrorCode::NotFound);
    CHECK(gone.error().message.find(files.paths[1].string()) != std::string::npos);
    std::filesystem::create_directory(files.paths[1]);
    CHECK(read(0, 10).error().code == ErrorCode::Io);
}

TEST_CASE("a cancel ends the reading")
{
    const test::TemporaryFolder folder;
    const Files files(folder.path());
    std::vector<std::byte> target(files.contents[0].size());
    CancelToken cancel;
    cancel.cancel();
    const auto read
        = readPieces(files.paths, { { 0, 0, target.size(), target.data() } }, cpu(), {}, cancel);
    REQUIRE(!read);
    CHECK(read.error().code == ErrorCode::Cancelled);
}
