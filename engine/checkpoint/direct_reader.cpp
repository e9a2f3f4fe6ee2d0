// SPDX-License-Identifier: MIT
#include "engine/checkpoint/direct_reader.h"

#include "engine/base/printable.h"
#include "kernels/common/device.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <fcntl.h>
#include <format>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string_view>
#include <system_error>
#include <thread>
#include <tuple>
#include <unistd.h>

namespace firesteel::engine {

namespace {

// Shorter gaps between pieces are cheaper to read than to leave out.
constexpr std::uint64_t kShortGap = 128ULL << 10;
constexpr std::chrono::milliseconds kProgressInterval { 50 };

std::uint64_t roundedDown(std::uint64_t offset)
{
    return offset / kDirectAlignment * kDirectAlignment;
}

std::unexpected<Error> systemError(const std::filesystem::path &path, std::string_view action,
                                   int reason)
{
    return fail(reason == ENOENT ? ErrorCode::NotFound : ErrorCode::Io,
                std::format("{}: cannot {}: {}", printable(path.string()), action,
                            std::generic_category().message(reason)));
}

class InputFile
{
public:
    InputFile() = default;
    InputFile(const InputFile &) = delete;
    InputFile &operator=(const InputFile &) = delete;
    ~InputFile()
    {
        if (m_descriptor >= 0)
            ::close(m_descriptor);
    }

    Result<void> open(const std::filesystem::path &path)
    {
        m_path = &path;
        m_descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_DIRECT);
        m_isDirect = m_descriptor >= 0;
        if (m_descriptor < 0 && errno == EINVAL) // no such thing on this file system
            m_descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
        if (m_descriptor < 0)
            return systemError(path, "open", errno);
        return {};
    }

    // Bytes [begin, end) as far as the file goes, at least up to `needed`.
    Result<void> read(std::byte *to, std::uint64_t begin, std::uint64_t end,
                      std::uint64_t needed) const
    {
        std::uint64_t at = begin;
        while (at < end) {
            const ssize_t got = ::pread(m_descriptor, to + (at - begin),
                                        static_cast<std::size_t>(end - at), static_cast<off_t>(at));
            if (got < 0 && errno == EINTR)
                continue;
            if (got < 0)
                return systemError(*m_path, std::format("read at byte {}", at), errno);
            at += static_cast<std::uint64_t>(got);
            // What is short of a whole sector is the end: asked again, O_DIRECT would refuse.
            if (got == 0 || at % kDirectAlignment != 0)
                break;
        }
        if (at < needed) {
            return fail(ErrorCode::Io,
                        std::format("{}: ends at byte {}, {} were there when it was opened",
                                    printable(m_path->string()), at, needed));
        }
        if (!m_isDirect)
            ::posix_fadvise(m_descriptor, static_cast<off_t>(begin),
                            static_cast<off_t>(end - begin), POSIX_FADV_DONTNEED);
        return {};
    }

private:
    const std::filesystem::path *m_path = nullptr;
    int m_descriptor = -1;
    bool m_isDirect = false;
};

// A block's memory, and a queue of its own to copy from it.
class Staging
{
public:
    explicit Staging(bool isOnDevice)
    {
        if (isOnDevice) {
            m_queue = kernels::openCudaQueue();
            m_pinned = kernels::PinnedMemory(kDirectBlockBytes);
        } else {
            m_host.reset(new (std::align_val_t { kDirectAlignment }) std::byte[kDirectBlockBytes]);
        }
    }

    std::byte *data() const { return m_host ? m_host.get() : m_pinned.span().data(); }

    void copy(std::byte *to, std::size_t from, std::size_t bytes)
    {
        if (m_host)
            std::memcpy(to, data() + from, bytes);
        else
            kernels::enqueueToDevice(to, m_pinned.span().subspan(from, bytes), *m_queue);
    }
    // Until the memory can be written again.
    void wait()
    {
        if (m_queue)
            kernels::synchronize(*m_queue);
    }

private:
    struct Free
    {
        void operator()(std::byte *memory) const
        {
            ::operator delete[](memory, std::align_val_t { kDirectAlignment });
        }
    };
    std::unique_ptr<std::byte[], Free> m_host;
    std::shared_ptr<kernels::CudaQueue> m_queue;
    kernels::PinnedMemory m_pinned;
};

// The blocks of one call, taken by the readers in turn.
class Work
{
public:
    Work(std::span<const FilePiece> pieces, std::span<const FileBlock> blocks,
         std::span<const InputFile> files, bool isOnDevice, const CancelToken &cancel)
        : m_pieces(pieces)
        , m_blocks(blocks)
        , m_files(files)
        , m_isOnDevice(isOnDevice)
        , m_cancel(cancel)
    {
    }

    void run()
    {
        try {
            Staging staging(m_isOnDevice);
            while (!m_isOver && !m_cancel.isCancelled()) {
                const std::size_t index = m_next++;
                if (index >= m_blocks.size())
                    break;
                if (auto done = runBlock(m_blocks[index], staging); !done) {
                    const std::lock_guard lock(m_mutex);
                    m_error = m_error ? m_error : done.error();
                    m_isOver = true;
                }
            }
        } catch (...) {
            const std::lock_guard lock(m_mutex);
            m_exception = std::current_exception();
            m_isOver = true;
        }
        const std::lock_guard lock(m_mutex);
        ++m_ended;
        m_changed.notify_all();
    }

    // Waits a moment; true once so many readers have ended.
    bool waitForEnd(int readers)
    {
        std::unique_lock lock(m_mutex);
        return m_changed.wait_for(lock, kProgressInterval, [&] { return m_ended == readers; });
    }

    std::uint64_t readBytes() const { return m_readBytes; }
    const std::optional<Error> &error() const { return m_error; }
    const std::exception_ptr &exception() const { return m_exception; }

private:
    Result<void> runBlock(const FileBlock &block, Staging &staging)
    {
        std::uint64_t needed = block.begin;
        for (std::size_t p = block.firstPiece; p < block.pieceEnd; ++p)
            needed = std::max(needed, std::min(m_pieces[p].offset + m_pieces[p].bytes, block.end));
        if (auto read = m_files[block.file].read(staging.data(), block.begin, block.end, needed);
            !read)
            return read;
        for (std::size_t p = block.firstPiece; p < block.pieceEnd; ++p) {
            const FilePiece &piece = m_pieces[p];
            const std::uint64_t begin = std::max(piece.offset, block.begin);
            const std::uint64_t end = std::min(piece.offset + piece.bytes, block.end);
            if (begin < end)
                staging.copy(piece.to + (begin - piece.offset), begin - block.begin, end - begin);
        }
        staging.wait();
        m_readBytes += block.end - block.begin;
        return {};
    }

    std::span<const FilePiece> m_pieces;
    std::span<const FileBlock> m_blocks;
    std::span<const InputFile> m_files;
    bool m_isOnDevice;
    const CancelToken &m_cancel;
    std::atomic<std::size_t> m_next = 0;
    std::atomic<std::uint64_t> m_readBytes = 0;
    std::atomic<bool> m_isOver = false;
    std::mutex m_mutex;
    std::condition_variable m_changed;
    int m_ended = 0;
    std::optional<Error> m_error;
    std::exception_ptr m_exception;
};

} // namespace

std::vector<FileBlock> coverWithBlocks(std::vector<FilePiece> &pieces)
{
    std::erase_if(pieces, [](const FilePiece &piece) { return piece.bytes == 0; });
    std::ranges::sort(pieces, {}, [](const FilePiece &piece) {
        return std::tuple(piece.file, piece.offset, piece.bytes);
    });
    std::vector<FileBlock> blocks;
    std::size_t first = 0;
    while (first < pieces.size()) {
        // A run of pieces without long gaps, cut into blocks.
        const std::size_t file = pieces[first].file;
        std::uint64_t end = pieces[first].offset + pieces[first].bytes;
        std::size_t last = first + 1;
        for (; last < pieces.size() && pieces[last].file == file
             && pieces[last].offset <= end + kShortGap;
             ++last)
            end = std::max(end, pieces[last].offset + pieces[last].bytes);
        std::size_t touched = first;
        for (std::uint64_t begin = roundedDown(pieces[first].offset); begin < end;) {
            FileBlock block { .file = file,
                              .begin = begin,
                              .end = std::min(begin + kDirectBlockBytes,
                                              roundedDown(end + kDirectAlignment - 1)),
                              .firstPiece = touched,
                              .pieceEnd = touched };
            while (block.pieceEnd < last && pieces[block.pieceEnd].offset < block.end)
                ++block.pieceEnd;
            // The next block begins with the first piece that goes beyond this one.
            while (touched < block.pieceEnd
                   && pieces[touched].offset + pieces[touched].bytes <= block.end)
                ++touched;
            begin = block.end;
            blocks.push_back(block);
        }
        first = last;
    }
    return blocks;
}

Result<std::uint64_t> readPieces(std::span<const std::filesystem::path> files,
                                 std::vector<FilePiece> pieces, kernels::Stream &stream,
                                 const std::function<void(std::uint64_t bytes)> &progress,
                                 const CancelToken &cancel)
{
    const std::vector<FileBlock> blocks = coverWithBlocks(pieces);
    std::vector<InputFile> inputs(files.size());
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        const std::size_t file = blocks[i].file;
        if (i > 0 && blocks[i - 1].file == file)
            continue;
        if (auto opened = inputs[file].open(files[file]); !opened)
            return std::unexpected(opened.error());
    }
    Work work(pieces, blocks, inputs, stream.backend() == kernels::Backend::Cuda, cancel);
    {
        const int readers = std::min<int>(kDirectReaders, static_cast<int>(blocks.size()));
        std::vector<std::jthread> threads;
        threads.reserve(static_cast<std::size_t>(readers));
        for (int i = 0; i < readers; ++i)
            threads.emplace_back([&work] { work.run(); });
        while (!work.waitForEnd(readers))
            if (progress)
                progress(work.readBytes());
    }
    if (work.exception())
        std::rethrow_exception(work.exception());
    if (work.error())
        return std::unexpected(*work.error());
    if (cancel.isCancelled())
        return fail(ErrorCode::Cancelled, "Loading was cancelled.");
    if (progress)
        progress(work.readBytes());
    return work.readBytes();
}

void dropCachedPages(const std::filesystem::path &file)
{
    const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return;
    ::posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED);
    ::close(descriptor);
}

} // namespace firesteel::engine
