// SPDX-License-Identifier: MIT
//
// One .safetensors file: an 8-byte little-endian header length, a JSON directory, then the data.
// Mapped, never copied; every entry is checked against the file before anybody sees it.
#pragma once

#include "engine/api/error.h"
#include "engine/base/mapped_file.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace firesteel::engine {

enum class TensorType {
    Bool,
    U8,
    I8,
    I16,
    U16,
    F16,
    BF16,
    I32,
    U32,
    F32,
    I64,
    U64,
    F64,
    F8E4M3,
    F8E5M2
};

std::string_view tensorTypeName(TensorType type); // as safetensors spells it: "BF16"
std::size_t tensorTypeBytes(TensorType type);

struct TensorEntry
{
    TensorType type = TensorType::F32;
    std::vector<std::int64_t> shape; // empty: a scalar
    std::span<const std::byte> bytes; // into the mapping; any alignment
};

class SafeTensors
{
public:
    // Errors: NotFound, Io, BadCheckpoint (names the file, the tensor and what is wrong with it).
    static Result<SafeTensors> open(const std::filesystem::path &path);

    // The directory of a file image; `name` stands for the file in messages. The entries point into
    // `file`.
    static Result<std::map<std::string, TensorEntry, std::less<>>>
    parse(std::span<const std::byte> file, std::string_view name);

    const std::map<std::string, TensorEntry, std::less<>> &entries() const { return m_entries; }
    const std::filesystem::path &path() const { return m_file.path(); }
    const MappedFile &file() const { return m_file; }

private:
    SafeTensors(MappedFile file, std::map<std::string, TensorEntry, std::less<>> entries);

    MappedFile m_file;
    std::map<std::string, TensorEntry, std::less<>> m_entries;
};

} // namespace firesteel::engine
