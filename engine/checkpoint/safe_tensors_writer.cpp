// SPDX-License-Identifier: MIT
#include "engine/checkpoint/safe_tensors_writer.h"

#include "engine/base/printable.h"

#include <cerrno>
#include <cstring>
#include <format>
#include <stdexcept>
#include <system_error>

namespace firesteel::engine {

namespace {

constexpr std::size_t kAlignment = 64; // of the data in the file
constexpr std::size_t kLengthBytes = 8;

// Names are those of tensors: printable ASCII at most quoted.
std::string jsonString(std::string_view text)
{
    std::string result = "\"";
    for (const char character : text) {
        if (character == '"' || character == '\\')
            result += '\\';
        result += character;
    }
    return result + '"';
}

std::string directoryOf(const std::vector<TensorHeader> &tensors)
{
    std::string text = R"({"__metadata__":{"format":"pt"})";
    std::uint64_t begin = 0;
    for (const TensorHeader &tensor : tensors) {
        std::string shape;
        for (const std::int64_t size : tensor.shape)
            shape += std::format("{}{}", shape.empty() ? "" : ",", size);
        const std::uint64_t end = begin + tensor.bytes();
        text
            += std::format(R"(,{}:{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})",
                           jsonString(tensor.name), tensorTypeName(tensor.type), shape, begin, end);
        begin = end;
    }
    text += '}';
    text.resize(text.size() + (kAlignment - (text.size() + kLengthBytes) % kAlignment) % kAlignment,
                ' ');
    return text;
}

} // namespace

std::uint64_t TensorHeader::bytes() const
{
    std::uint64_t product = tensorTypeBytes(type);
    for (const std::int64_t size : shape)
        product *= static_cast<std::uint64_t>(size);
    return product;
}

std::unexpected<Error> SafeTensorsWriter::failed() const
{
    const int code = errno;
    return fail(ErrorCode::Io,
                std::format("{}: cannot be written: {}", printable(m_partPath.string()),
                            code != 0 ? std::strerror(code) : "unknown error"));
}

Result<SafeTensorsWriter> SafeTensorsWriter::create(const std::filesystem::path &path,
                                                    const std::vector<TensorHeader> &tensors)
{
    SafeTensorsWriter writer;
    writer.m_path = path;
    writer.m_partPath = path;
    writer.m_partPath += ".part";
    errno = 0;
    writer.m_file.open(writer.m_partPath, std::ios::binary | std::ios::trunc);
    if (!writer.m_file)
        return writer.failed();
    const std::string directory = directoryOf(tensors);
    std::uint64_t length = directory.size();
    for (std::size_t i = 0; i < kLengthBytes; ++i, length >>= 8U)
        writer.m_file.put(static_cast<char>(length & 0xFFU));
    writer.m_file.write(directory.data(), static_cast<std::streamsize>(directory.size()));
    if (!writer.m_file)
        return writer.failed();
    for (const TensorHeader &tensor : tensors)
        writer.m_missing += tensor.bytes();
    writer.m_length = kLengthBytes + directory.size() + writer.m_missing;
    return writer;
}

Result<void> SafeTensorsWriter::write(std::span<const std::byte> bytes)
{
    if (bytes.size() > m_missing)
        throw std::logic_error("SafeTensorsWriter: more bytes than the directory says");
    errno = 0;
    m_file.write(reinterpret_cast<const char *>(bytes.data()),
                 static_cast<std::streamsize>(bytes.size()));
    if (!m_file)
        return failed();
    m_missing -= bytes.size();
    return {};
}

Result<void> SafeTensorsWriter::skip(std::uint64_t bytes)
{
    if (bytes > m_missing)
        throw std::logic_error("SafeTensorsWriter: more bytes than the directory says");
    errno = 0;
    m_file.seekp(static_cast<std::streamoff>(bytes), std::ios::cur);
    if (!m_file)
        return failed();
    m_missing -= bytes;
    return {};
}

Result<void> SafeTensorsWriter::finish()
{
    if (m_missing != 0)
        throw std::logic_error("SafeTensorsWriter: bytes are missing");
    errno = 0;
    m_file.close();
    if (!m_file)
        return failed();
    std::error_code error;
    std::filesystem::resize_file(m_partPath, m_length, error); // if its end was skipped
    if (error)
        return fail(ErrorCode::Io,
                    std::format("{}: cannot be made {} bytes long: {}",
                                printable(m_partPath.string()), m_length, error.message()));
    std::filesystem::rename(m_partPath, m_path, error);
    if (error)
        return fail(ErrorCode::Io,
                    std::format("{}: cannot be renamed: {}", printable(m_partPath.string()),
                                error.message()));
    return {};
}

} // namespace firesteel::engine
