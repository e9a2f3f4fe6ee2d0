// SPDX-License-Identifier: MIT
#include "engine/quantize/tensor_folder.h"

#include "engine/base/printable.h"
#include "engine/quantize/digest.h"

#include <bit>
#include <cstring>
#include <format>
#include <set>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace firesteel::engine {

namespace fs = std::filesystem;

Result<TensorFolder> TensorFolder::open(const fs::path &directory)
{
    std::set<fs::path> files;
    std::error_code error;
    for (fs::directory_iterator item(directory, error), end; !error && item != end;
         item.increment(error))
        if (item->path().extension() == ".safetensors")
            files.insert(item->path());
    if (error)
        return fail(error == std::errc::no_such_file_or_directory ? ErrorCode::NotFound
                                                                  : ErrorCode::Io,
                    std::format("{}: {}", printable(directory.string()), error.message()));
    if (files.empty())
        return fail(ErrorCode::NotFound,
                    std::format("{}: has no .safetensors file", printable(directory.string())));
    TensorFolder folder;
    folder.m_directory = directory;
    for (const fs::path &file : files) {
        auto opened = SafeTensors::open(file);
        if (!opened)
            return std::unexpected(std::move(opened.error()));
        const SafeTensors &tensors = folder.m_files.emplace_back(std::move(*opened));
        for (const auto &[name, entry] : tensors.entries())
            if (!folder.m_tensors.emplace(name, &entry).second)
                return fail(ErrorCode::BadCheckpoint,
                            std::format("{}: tensor \"{}\" is also in another file",
                                        printable(file.string()), printable(name)));
    }
    return folder;
}

std::uint64_t TensorFolder::digest() const
{
    Digest digest;
    for (const auto &[name, entry] : m_tensors) {
        digest.add(name);
        digest.add(tensorTypeName(entry->type));
        for (const std::int64_t size : entry->shape)
            digest.add(std::to_string(size));
        digest.add(entry->bytes);
    }
    return digest.value();
}

bool isPlainType(TensorType type)
{
    return type == TensorType::F32 || type == TensorType::F16 || type == TensorType::BF16;
}

std::vector<float> widenedValues(const TensorEntry &entry)
{
    std::vector<float> values(entry.bytes.size() / tensorTypeBytes(entry.type));
    if (entry.type == TensorType::F32) {
        std::memcpy(values.data(), entry.bytes.data(), entry.bytes.size());
        return values;
    }
    if (!isPlainType(entry.type))
        throw std::logic_error("widenedValues: not a plain type");
    for (std::size_t i = 0; i < values.size(); ++i) {
        std::uint16_t bits = 0;
        std::memcpy(&bits, entry.bytes.data() + i * sizeof bits, sizeof bits);
        values[i] = entry.type == TensorType::BF16
            ? std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16U)
            : static_cast<float>(std::bit_cast<_Float16>(bits));
    }
    return values;
}

} // namespace firesteel::engine
