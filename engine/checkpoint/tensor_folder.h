// SPDX-License-Identifier: MIT
//
// Every tensor of a folder's .safetensors files, whatever model they make, and typed access to them
// by name. Immutable after open; views live as long as the folder. A Checkpoint is one whose
// config.json describes a glm5_next model.
#pragma once

#include "engine/api/error.h"
#include "engine/checkpoint/safe_tensors.h"
#include "kernels/common/tensor.h"
#include "kernels/exl3/exl3.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <initializer_list>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace firesteel::engine {

class TensorFolder
{
public:
    // Errors: NotFound, Io, BadCheckpoint (as SafeTensors::open; a tensor in two files).
    static Result<TensorFolder> open(const std::filesystem::path &directory);

    const std::filesystem::path &directory() const { return m_directory; }

    struct Tensor
    {
        const TensorEntry *entry = nullptr;
        const std::filesystem::path *file = nullptr;
    };
    const std::map<std::string, Tensor, std::less<>> &tensors() const { return m_tensors; }
    bool contains(std::string_view name) const;

    // A plain tensor (BF16, F16 or F32) of exactly this shape. Dimensions of size 1 may be absent
    // or extra ("squeezed"). The view is [shape[0], product of the rest], or [1, n] for a vector. A
    // tensor whose bytes are not aligned to its element is copied once, at the call. Errors:
    // BadCheckpoint naming the tensor, its file, what was expected and what is there.
    Result<kernels::Matrix> matrix(std::string_view name,
                                   std::initializer_list<std::int64_t> shape) const;

    // Whether matrix() would give this tensor. Errors: the same.
    Result<void> checkPlain(std::string_view name, std::span<const std::int64_t> shape) const;

    // An EXL3 module of this size (exl3_group.h), its pointers where the files are mapped: the
    // trellis is aligned to two bytes only. What the file stores in another form (sign words, a
    // bias that is not F16) is converted once, at the call. Errors: those of findExl3Group.
    Result<kernels::Exl3Matrix> exl3(std::string_view module, std::int64_t out,
                                     std::int64_t in) const;

    // Where in the files mapped bytes lie: nothing for what was converted or copied.
    struct Place
    {
        std::size_t file = 0; // of files()
        std::uint64_t offset = 0;
    };
    std::optional<Place> locate(const void *data) const;
    std::vector<std::filesystem::path> files() const;
    // Gives back the pages that reading through the mappings has brought into memory.
    void dropPages() const;

    // Bytes of all tensors, as stored.
    std::uint64_t totalBytes() const;

protected:
    explicit TensorFolder(std::filesystem::path directory);
    Result<void> addFile(const std::filesystem::path &path);

private:
    const void *aligned(const TensorEntry &entry) const; // to its element; copied if need be
    const std::uint16_t *converted(std::vector<std::uint16_t> values) const;

    std::filesystem::path m_directory;
    std::deque<SafeTensors> m_files;
    std::map<std::string, Tensor, std::less<>> m_tensors;
    // Engine thread only, while loading.
    mutable std::deque<std::vector<std::byte>> m_realigned;
    mutable std::deque<std::vector<std::uint16_t>> m_converted;
};

// The .safetensors files of a folder, by name; at least one. Errors: NotFound, Io.
Result<std::vector<std::filesystem::path>> safeTensorsFiles(const std::filesystem::path &directory);

} // namespace firesteel::engine
