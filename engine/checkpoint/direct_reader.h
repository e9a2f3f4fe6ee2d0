// SPDX-License-Identifier: MIT
//
// Brings pieces of files to where a stream runs, past the page cache: large blocks, many of them
// under way at once, each read by O_DIRECT into page-locked memory and copied from there. Weights
// of tens of gigabytes would push everything else out of the cache of a machine whose GPU has no
// memory of its own, and then stand in the way of their own allocation. Where a file system refuses
// O_DIRECT the pages of a block are dropped once it was copied.
#pragma once

#include "engine/api/error.h"
#include "engine/base/cancel_token.h"
#include "kernels/common/stream.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <vector>

namespace firesteel::engine {

struct FilePiece
{
    std::size_t file = 0; // which of the files
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
    std::byte *to = nullptr; // where the stream runs
};

// Consecutive bytes of a file that are read in one call, and the pieces that lie in them.
struct FileBlock
{
    std::size_t file = 0;
    std::uint64_t begin = 0; // multiples of kDirectAlignment, the end perhaps past the file's
    std::uint64_t end = 0;
    std::size_t firstPiece = 0; // of the sorted pieces; the last may be the next block's first
    std::size_t pieceEnd = 0;
};

inline constexpr std::uint64_t kDirectAlignment = 4096;
inline constexpr std::uint64_t kDirectBlockBytes = 8ULL << 20;
inline constexpr int kDirectReaders = 8;

// Sorts the pieces by file and offset and covers them with blocks of at most kDirectBlockBytes.
// What lies between two pieces is read along where it is short.
std::vector<FileBlock> coverWithBlocks(std::vector<FilePiece> &pieces);

// Pieces may overlap and come in any order. `progress`: the bytes read so far, all blocks counted,
// on the calling thread. Returns the bytes read. Errors: NotFound, Io (naming the file and, where
// it is too short, the offset), Cancelled. Throws kernels::DeviceError.
Result<std::uint64_t> readPieces(std::span<const std::filesystem::path> files,
                                 std::vector<FilePiece> pieces, kernels::Stream &stream,
                                 const std::function<void(std::uint64_t bytes)> &progress,
                                 const CancelToken &cancel);

// Drops what the page cache holds of a file that nobody has mapped. A file that is gone is none.
void dropCachedPages(const std::filesystem::path &file);

} // namespace firesteel::engine
