// SPDX-License-Identifier: MIT
#include "engine/quantize/journal.h"

#include "engine/base/printable.h"
#include "engine/quantize/digest.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <format>
#include <optional>
#include <span>
#include <sys/stat.h>
#include <type_traits>
#include <unistd.h>
#include <utility>

namespace firesteel::engine {

namespace {

using Bytes = std::vector<std::byte>;

constexpr std::uint64_t kMagic = 0x314C5A5145525346U; // "FSREQZL1"

// In front of each payload.
struct RecordHead
{
    std::uint64_t magic = kMagic;
    std::uint64_t size = 0;
    std::uint64_t digest = 0; // of the payload
};

std::uint64_t digestOf(std::span<const std::byte> bytes)
{
    Digest digest;
    digest.add(bytes);
    return digest.value();
}

// Values and arrays one after the other; the journal stays on the machine that wrote it.
class Packer
{
public:
    template <typename T> void value(const T &v)
    {
        static_assert(std::is_trivially_copyable_v<T>);
        append(std::as_bytes(std::span(&v, 1)));
    }
    template <typename T> void array(std::span<const T> values)
    {
        value(static_cast<std::uint64_t>(values.size()));
        append(std::as_bytes(values));
    }
    const Bytes &bytes() const { return m_bytes; }

private:
    void append(std::span<const std::byte> bytes)
    {
        m_bytes.insert(m_bytes.end(), bytes.begin(), bytes.end());
    }
    Bytes m_bytes;
};

class Unpacker
{
public:
    explicit Unpacker(std::span<const std::byte> bytes)
        : m_rest(bytes)
    {
    }
    template <typename T> void value(T &v)
    {
        if (m_rest.size() < sizeof(T)) {
            m_isSound = false;
            return;
        }
        std::memcpy(&v, m_rest.data(), sizeof(T));
        m_rest = m_rest.subspan(sizeof(T));
    }
    template <typename Container> void array(Container &values)
    {
        using T = typename Container::value_type;
        std::uint64_t count = 0;
        value(count);
        if (!m_isSound || count > m_rest.size() / sizeof(T)) {
            m_isSound = false;
            return;
        }
        values.resize(static_cast<std::size_t>(count));
        std::memcpy(values.data(), m_rest.data(), values.size() * sizeof(T));
        m_rest = m_rest.subspan(values.size() * sizeof(T));
    }
    bool isSound() const { return m_isSound; }

private:
    std::span<const std::byte> m_rest;
    bool m_isSound = true;
};

bool readAll(int descriptor, void *data, std::size_t size, std::uint64_t offset)
{
    auto *bytes = static_cast<std::byte *>(data);
    while (size > 0) {
        const ssize_t count = pread(descriptor, bytes, size, static_cast<off_t>(offset));
        if (count <= 0)
            return false;
        bytes += count;
        size -= static_cast<std::size_t>(count);
        offset += static_cast<std::uint64_t>(count);
    }
    return true;
}

bool writeAll(int descriptor, const void *data, std::size_t size, std::uint64_t offset)
{
    const auto *bytes = static_cast<const std::byte *>(data);
    while (size > 0) {
        const ssize_t count = pwrite(descriptor, bytes, size, static_cast<off_t>(offset));
        if (count <= 0)
            return false;
        bytes += count;
        size -= static_cast<std::size_t>(count);
        offset += static_cast<std::uint64_t>(count);
    }
    return true;
}

Bytes record(const Bytes &payload)
{
    const RecordHead head { kMagic, payload.size(), digestOf(payload) };
    const auto headBytes = std::as_bytes(std::span(&head, 1));
    Bytes bytes(headBytes.begin(), headBytes.end());
    bytes.insert(bytes.end(), payload.begin(), payload.end());
    return bytes;
}

std::string changedInput(const JournalInputs &then, const JournalInputs &now)
{
    if (then.source != now.source)
        return "the model in --in";
    if (then.rates != now.rates)
        return "what --rates says";
    if (then.calibration != now.calibration)
        return "the text of --calibration";
    return "the codebook or this program's version";
}

} // namespace

std::unexpected<Error> Journal::failed(const char *what) const
{
    return fail(ErrorCode::Io,
                std::format("{}: cannot be {}: {}", printable(m_file.string()), what,
                            std::strerror(errno)));
}

Result<Journal> Journal::open(const std::filesystem::path &file, const JournalInputs &inputs)
{
    Journal journal;
    journal.m_file = file;
    journal.m_descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (journal.m_descriptor < 0)
        return journal.failed("opened");
    if (auto scanned = journal.scan(inputs); !scanned)
        return std::unexpected(std::move(scanned.error()));
    return journal;
}

Journal::Journal(Journal &&other) noexcept
    : m_file(std::move(other.m_file))
    , m_descriptor(std::exchange(other.m_descriptor, -1))
    , m_end(other.m_end)
    , m_records(std::move(other.m_records))
{
}

Journal &Journal::operator=(Journal &&other) noexcept
{
    std::swap(m_file, other.m_file);
    std::swap(m_descriptor, other.m_descriptor);
    std::swap(m_end, other.m_end);
    std::swap(m_records, other.m_records);
    return *this;
}

Journal::~Journal()
{
    if (m_descriptor >= 0)
        close(m_descriptor);
}

Result<void> Journal::scan(const JournalInputs &inputs)
{
    struct stat facts = {};
    if (fstat(m_descriptor, &facts) != 0)
        return failed("read");
    const auto length = static_cast<std::uint64_t>(facts.st_size);
    bool isFirst = true;
    for (RecordHead head; m_end + sizeof head <= length;) {
        if (!readAll(m_descriptor, &head, sizeof head, m_end))
            return failed("read");
        if (head.magic != kMagic || head.size > length - m_end - sizeof head)
            break;
        Bytes payload(static_cast<std::size_t>(head.size));
        if (!readAll(m_descriptor, payload.data(), payload.size(), m_end + sizeof head))
            return failed("read");
        if (digestOf(payload) != head.digest)
            break;
        Unpacker unpacker(payload);
        if (isFirst) {
            JournalInputs then;
            unpacker.value(then);
            if (!unpacker.isSound() || then != inputs)
                return fail(
                    ErrorCode::BadRequest,
                    std::format("{}: belongs to a run with other inputs: {} has changed; remove "
                                "the folder or name another one",
                                printable(m_file.string()), changedInput(then, inputs)));
        } else {
            std::string module;
            unpacker.array(module);
            m_records[module] = { m_end + sizeof head, head.size };
        }
        isFirst = false;
        m_end += sizeof head + head.size;
    }
    if (ftruncate(m_descriptor, static_cast<off_t>(m_end)) != 0)
        return failed("cut");
    if (!isFirst)
        return {};
    Packer packer;
    packer.value(inputs);
    const Bytes bytes = record(packer.bytes());
    if (!writeAll(m_descriptor, bytes.data(), bytes.size(), m_end))
        return failed("written");
    m_end += bytes.size();
    return {};
}

Result<void> Journal::append(const std::string &module, const QuantizedMatrix &matrix)
{
    Packer packer;
    packer.array(std::span<const char>(module));
    packer.value(matrix.in);
    packer.value(matrix.out);
    packer.value(matrix.rate);
    packer.value(matrix.codebook);
    packer.value(matrix.proxyError);
    packer.value(matrix.normalisedError);
    packer.value(matrix.scale);
    packer.array(std::span<const std::uint16_t>(matrix.trellis));
    packer.array(std::span<const std::uint16_t>(matrix.suh));
    packer.array(std::span<const std::uint16_t>(matrix.svh));
    const Bytes bytes = record(packer.bytes());
    if (!writeAll(m_descriptor, bytes.data(), bytes.size(), m_end))
        return failed("written");
    m_records[module] = { m_end + sizeof(RecordHead), packer.bytes().size() };
    m_end += bytes.size();
    return {};
}

Result<QuantizedMatrix> Journal::read(const std::string &module) const
{
    const auto found = m_records.find(module);
    if (found == m_records.end())
        return fail(ErrorCode::NotFound,
                    std::format("{}: has no {}", printable(m_file.string()), printable(module)));
    Bytes payload(static_cast<std::size_t>(found->second.size));
    if (!readAll(m_descriptor, payload.data(), payload.size(), found->second.offset))
        return failed("read");
    Unpacker unpacker(payload);
    QuantizedMatrix matrix;
    std::string name;
    unpacker.array(name);
    unpacker.value(matrix.in);
    unpacker.value(matrix.out);
    unpacker.value(matrix.rate);
    unpacker.value(matrix.codebook);
    unpacker.value(matrix.proxyError);
    unpacker.value(matrix.normalisedError);
    unpacker.value(matrix.scale);
    unpacker.array(matrix.trellis);
    unpacker.array(matrix.suh);
    unpacker.array(matrix.svh);
    if (!unpacker.isSound())
        return fail(ErrorCode::Io,
                    std::format("{}: the record of {} is damaged", printable(m_file.string()),
                                printable(module)));
    return matrix;
}

} // namespace firesteel::engine
