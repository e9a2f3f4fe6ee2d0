// SPDX-License-Identifier: MIT
#include "app/models/part_file.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace firesteel::app {

namespace {

using namespace Qt::Literals::StringLiterals;
using Kind = ModelProblem::Kind;

constexpr qint64 kReadBack = 1 << 20;

std::unexpected<ModelProblem> diskProblem(int error, const QString &path)
{
    const Kind kind
        = error == ENOSPC || error == EDQUOT || error == EFBIG ? Kind::DiskFull : Kind::DiskFailed;
    return problem(kind, u"%1: %2"_s.arg(path, QString::fromLocal8Bit(std::strerror(error))));
}

// Zero, or errno. File systems that cannot reserve get a sparse file.
int reserve(int descriptor, qint64 size)
{
    if (size == 0)
        return 0;
    int result = 0;
    do {
        result = ::fallocate(descriptor, 0, 0, size) == 0 ? 0 : errno;
    } while (result == EINTR);
    if (result == EOPNOTSUPP || result == ENOSYS)
        result = ::ftruncate(descriptor, size) == 0 ? 0 : errno;
    return result;
}

} // namespace

PartFile::PartFile(int descriptor, QString path, HubFile file)
    : m_descriptor(descriptor)
    , m_path(std::move(path))
    , m_file(std::move(file))
    , m_hash(m_file.kind, m_file.size)
{
}

PartFile::PartFile(PartFile &&other) noexcept
    : m_descriptor(std::exchange(other.m_descriptor, -1))
    , m_path(std::move(other.m_path))
    , m_file(std::move(other.m_file))
    , m_hash(std::move(other.m_hash))
    , m_frontier(other.m_frontier)
    , m_ahead(std::move(other.m_ahead))
    , m_pending(std::move(other.m_pending))
{
}

PartFile &PartFile::operator=(PartFile &&other) noexcept
{
    std::swap(m_descriptor, other.m_descriptor);
    std::swap(m_path, other.m_path);
    std::swap(m_file, other.m_file);
    std::swap(m_hash, other.m_hash);
    std::swap(m_frontier, other.m_frontier);
    std::swap(m_ahead, other.m_ahead);
    std::swap(m_pending, other.m_pending);
    return *this;
}

PartFile::~PartFile()
{
    if (m_descriptor >= 0)
        ::close(m_descriptor);
}

ModelResult<PartFile> PartFile::open(const QString &path, const HubFile &file,
                                     const FileProgress &saved)
{
    if (!QDir().mkpath(QFileInfo(path).path()))
        return diskProblem(errno, path);
    const QByteArray name = QFile::encodeName(path);
    // Never through a link: what it points to is not ours to write.
    const int descriptor
        = ::open(name.constData(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (descriptor < 0)
        return diskProblem(errno, path);
    PartFile part(descriptor, path, file);
    struct stat status = {};
    if (::fstat(descriptor, &status) != 0)
        return diskProblem(errno, path);
    const bool wasWhole = status.st_size == file.size;
    if (!wasWhole && ::ftruncate(descriptor, 0) != 0)
        return diskProblem(errno, path);
    if (const int error = reserve(descriptor, file.size); error != 0)
        return diskProblem(error, path);
    auto hash = ContentHash::restore(file.kind, saved.hashState);
    if (wasWhole && hash && saved.frontier > 0 && saved.frontier <= file.size) {
        part.m_hash = std::move(*hash);
        part.m_frontier = saved.frontier;
    }
    if (wasWhole && part.m_frontier == saved.frontier) {
        for (const auto &[begin, end] : saved.ahead) {
            if (begin >= part.m_frontier && end <= file.size)
                part.claim(begin, end);
        }
        if (auto read = part.hashReached(); !read)
            return std::unexpected(read.error());
    }
    return part;
}

void PartFile::claim(qint64 begin, qint64 end)
{
    auto next = m_ahead.lower_bound(begin);
    if (next != m_ahead.begin() && std::prev(next)->second >= begin)
        --next;
    while (next != m_ahead.end() && next->first <= end) {
        begin = std::min(begin, next->first);
        end = std::max(end, next->second);
        next = m_ahead.erase(next);
    }
    m_ahead.emplace(begin, end);
}

ModelResult<void> PartFile::write(qint64 offset, QByteArrayView bytes)
{
    const qint64 limit = std::min(offset + bytes.size(), m_file.size);
    for (qint64 at = offset; at < limit;) {
        const auto missing = gap(at, limit);
        if (!missing)
            break;
        QByteArrayView part = bytes.sliced(missing->begin - offset, missing->end - missing->begin);
        for (qint64 written = 0; written < part.size();) {
            const ssize_t count = ::pwrite(m_descriptor, part.data() + written,
                                           static_cast<std::size_t>(part.size() - written),
                                           missing->begin + written);
            if (count < 0 && errno == EINTR)
                continue;
            if (count <= 0)
                return diskProblem(count == 0 ? ENOSPC : errno, m_path);
            written += count;
        }
        if (missing->begin == m_frontier) {
            m_hash.add(part);
            m_frontier = missing->end;
        } else {
            m_pending.emplace(missing->begin, part.toByteArray());
            claim(missing->begin, missing->end);
        }
        at = missing->end;
    }
    return hashReached();
}

// Moves the frontier over everything that now touches it.
ModelResult<void> PartFile::hashReached()
{
    while (!m_ahead.empty() && m_ahead.begin()->first == m_frontier) {
        const qint64 end = m_ahead.begin()->second;
        m_ahead.erase(m_ahead.begin());
        while (m_frontier < end) {
            const auto held = m_pending.find(m_frontier);
            if (held != m_pending.end()) {
                m_hash.add(held->second);
                m_frontier += held->second.size();
                m_pending.erase(held);
                continue;
            }
            // From before a restart.
            const auto next = m_pending.upper_bound(m_frontier);
            const qint64 limit = next == m_pending.end() ? end : std::min(end, next->first);
            QByteArray buffer(std::min(kReadBack, limit - m_frontier), Qt::Uninitialized);
            const ssize_t count = ::pread(m_descriptor, buffer.data(),
                                          static_cast<std::size_t>(buffer.size()), m_frontier);
            if (count < 0 && errno == EINTR)
                continue;
            if (count <= 0)
                return diskProblem(count == 0 ? EIO : errno, m_path);
            m_hash.add(QByteArrayView(buffer).first(count));
            m_frontier += count;
        }
    }
    return {};
}

qint64 PartFile::bytes() const
{
    qint64 sum = m_frontier;
    for (const auto &[begin, end] : m_ahead)
        sum += end - begin;
    return sum;
}

std::optional<HubRange> PartFile::gap(qint64 from, qint64 limit) const
{
    qint64 begin = std::max(from, m_frontier);
    qint64 end = std::min(limit, m_file.size);
    for (const auto &[first, last] : m_ahead) {
        if (last <= begin)
            continue;
        if (first > begin) {
            end = std::min(end, first);
            break;
        }
        begin = last;
    }
    return begin < end ? std::optional(HubRange { begin, end }) : std::nullopt;
}

ModelResult<FileProgress> PartFile::checkpoint()
{
    if (::fdatasync(m_descriptor) != 0)
        return diskProblem(errno, m_path);
    return FileProgress { m_frontier, m_hash.state(), m_ahead };
}

void PartFile::restart()
{
    m_hash = ContentHash(m_file.kind, m_file.size);
    m_frontier = 0;
    m_ahead.clear();
    m_pending.clear();
}

ModelResult<void> PartFile::finish(const QString &path)
{
    if (m_hash.hexDigest() != m_file.digest)
        return problem(Kind::ContentMismatch, m_file.path);
    if (::fsync(m_descriptor) != 0)
        return diskProblem(errno, m_path);
    if (::rename(QFile::encodeName(m_path).constData(), QFile::encodeName(path).constData()) != 0)
        return diskProblem(errno, path);
    return {};
}

} // namespace firesteel::app
