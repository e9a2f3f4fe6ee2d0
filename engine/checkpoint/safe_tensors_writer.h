// SPDX-License-Identifier: MIT
//
// Writes one .safetensors file in order, without holding it in memory. Until finish() it has
// another name, so that a file under its own name is whole.
#pragma once

#include "engine/api/error.h"
#include "engine/checkpoint/safe_tensors.h"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <vector>

namespace firesteel::engine {

struct TensorHeader
{
    std::string name;
    TensorType type = TensorType::F32;
    std::vector<std::int64_t> shape; // empty: a scalar

    std::uint64_t bytes() const;
};

class SafeTensorsWriter
{
public:
    // Writes the directory of these tensors. Errors: Io.
    static Result<SafeTensorsWriter> create(const std::filesystem::path &path,
                                            const std::vector<TensorHeader> &tensors);

    // The next bytes of the tensors' data, in the directory's order. Errors: Io.
    Result<void> write(std::span<const std::byte> bytes);

    // Leaves out the next bytes: they read as zeros, and take no room where the file system has
    // holes. Errors: Io.
    Result<void> skip(std::uint64_t bytes);

    // Gives the file its name. Errors: Io. All bytes must have been written.
    Result<void> finish();

private:
    SafeTensorsWriter() = default;
    std::unexpected<Error> failed() const;

    std::filesystem::path m_path;
    std::filesystem::path m_partPath;
    std::ofstream m_file;
    std::uint64_t m_length = 0; // of the whole file
    std::uint64_t m_missing = 0; // bytes
};

} // namespace firesteel::engine
