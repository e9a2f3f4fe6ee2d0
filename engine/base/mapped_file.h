// SPDX-License-Identifier: MIT
//
// A whole file mapped read-only. Move-only; unmapped on destruction.
#pragma once

#include "engine/api/error.h"

#include <cstddef>
#include <filesystem>
#include <span>

namespace firesteel::engine {

class MappedFile
{
public:
    // Errors: NotFound, Io (message names the path and the system's reason).
    static Result<MappedFile> open(const std::filesystem::path &path);

    MappedFile(MappedFile &&other) noexcept;
    MappedFile &operator=(MappedFile &&other) noexcept;
    ~MappedFile();

    std::span<const std::byte> bytes() const { return m_bytes; }
    const std::filesystem::path &path() const { return m_path; }
    // Unmaps the pages that were read; they are read again when they are looked at again.
    void dropPages() const;

private:
    MappedFile() = default;

    std::filesystem::path m_path;
    std::span<const std::byte> m_bytes;
};

} // namespace firesteel::engine
