// SPDX-License-Identifier: MIT
#include "engine/base/mapped_file.h"

#include "engine/base/printable.h"

#include <cerrno>
#include <cstdint>
#include <fcntl.h>
#include <format>
#include <limits>
#include <string>
#include <sys/mman.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace firesteel::engine {

namespace {

// Closes on every way out; a mapping outlives its descriptor.
class Descriptor
{
public:
    explicit Descriptor(int value)
        : m_value(value)
    {
    }
    Descriptor(const Descriptor &) = delete;
    Descriptor &operator=(const Descriptor &) = delete;
    ~Descriptor()
    {
        if (m_value >= 0)
            ::close(m_value);
    }
    int value() const { return m_value; }

private:
    int m_value;
};

std::unexpected<Error> systemError(const std::filesystem::path &path, std::string_view action)
{
    const int reason = errno;
    const bool isMissing = reason == ENOENT || reason == ENOTDIR;
    return fail(isMissing ? ErrorCode::NotFound : ErrorCode::Io,
                std::format("{}: cannot {}: {}", printable(path.string()), action,
                            std::generic_category().message(reason)));
}

} // namespace

Result<MappedFile> MappedFile::open(const std::filesystem::path &path)
{
    // O_NONBLOCK: a FIFO in a model folder must be refused below, not waited for.
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (file.value() < 0)
        return systemError(path, "open");
    struct stat status = {};
    if (::fstat(file.value(), &status) != 0)
        return systemError(path, "read the status");
    if (S_ISDIR(status.st_mode))
        return fail(ErrorCode::Io,
                    std::format("{}: is a folder, a file was expected", printable(path.string())));
    if (!S_ISREG(status.st_mode))
        return fail(ErrorCode::Io,
                    std::format("{}: is not a regular file", printable(path.string())));

    MappedFile result;
    result.m_path = path;
    const auto size = static_cast<std::uint64_t>(status.st_size);
    if (size > std::numeric_limits<std::size_t>::max())
        return fail(ErrorCode::Io,
                    std::format("{}: {} bytes cannot be mapped on this machine",
                                printable(path.string()), size));
    if (size == 0)
        return result; // mmap refuses an empty range; empty bytes say the same
    // No read-ahead advice: `inspect` maps files larger than memory for the sake of their first
    // kilobytes, and the kernel's own read-ahead serves the sequential first use of weights.
    void *data
        = ::mmap(nullptr, static_cast<std::size_t>(size), PROT_READ, MAP_PRIVATE, file.value(), 0);
    if (data == MAP_FAILED)
        return systemError(path, "map");
    result.m_bytes = { static_cast<const std::byte *>(data), static_cast<std::size_t>(size) };
    return result;
}

MappedFile::MappedFile(MappedFile &&other) noexcept
    : m_path(std::move(other.m_path))
    , m_bytes(std::exchange(other.m_bytes, {}))
{
}

MappedFile &MappedFile::operator=(MappedFile &&other) noexcept
{
    std::swap(m_path, other.m_path);
    std::swap(m_bytes, other.m_bytes);
    return *this;
}

void MappedFile::dropPages() const
{
    if (!m_bytes.empty())
        ::madvise(const_cast<std::byte *>(m_bytes.data()), m_bytes.size(), MADV_DONTNEED);
}

MappedFile::~MappedFile()
{
    if (!m_bytes.empty()) {
        // munmap's interface predates const; the pages were mapped read-only.
        ::munmap(const_cast<std::byte *>(m_bytes.data()), m_bytes.size());
    }
}

} // namespace firesteel::engine
