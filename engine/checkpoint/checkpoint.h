// SPDX-License-Identifier: MIT
//
// A model folder: config.json, its .safetensors files (through model.safetensors.index.json or,
// without one, all of them; EXL3 packs keep files that no index mentions, so there it is always
// all) and typed access to tensors by their released names. Immutable after open; views live as
// long as the Checkpoint.
#pragma once

#include "engine/api/error.h"
#include "engine/checkpoint/model_shape.h"
#include "engine/checkpoint/safe_tensors.h"
#include "kernels/common/tensor.h"
#include "kernels/exl3/exl3.h"

#include <cstdint>
#include <deque>
#include <filesystem>
#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace firesteel::engine {

class Checkpoint
{
public:
    // Errors: as SafeTensors::open and readModelConfig; also an index that names a missing file or
    // tensor, a tensor in two files.
    static Result<Checkpoint> open(const std::filesystem::path &directory);

    const std::filesystem::path &directory() const { return m_directory; }
    const ModelShape &shape() const { return m_config.shape; }
    const std::vector<std::string> &unknownConfigFields() const { return m_config.unknownFields; }
    bool isExl3() const
    {
        return m_config.isExl3;
    } // by its config; a module is what its tensors say

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

    // Bytes of all tensors, as stored.
    std::uint64_t totalBytes() const;

private:
    Checkpoint() = default;
    Result<void> addFile(const std::filesystem::path &path);
    const void *aligned(const TensorEntry &entry) const; // to its element; copied if need be
    const std::uint16_t *converted(std::vector<std::uint16_t> values) const;

    std::filesystem::path m_directory;
    ConfigReport m_config;
    std::deque<SafeTensors> m_files;
    std::map<std::string, Tensor, std::less<>> m_tensors;
    // Engine thread only, while loading.
    mutable std::deque<std::vector<std::byte>> m_realigned;
    mutable std::deque<std::vector<std::uint16_t>> m_converted;
};

// Sampling defaults of generation_config.json (spec/chat-format.md section 2) and its end-of-turn
// ids.
struct GenerationDefaults
{
    float temperature = 1.0F;
    float topP = 1.0F;
    int topK = 0;
    float minP = 0.0F;
    float repetitionPenalty = 1.0F;
    std::vector<std::int32_t> eosTokenIds; // empty: use the config's
};
// A missing file gives the defaults above. Errors: BadCheckpoint.
Result<GenerationDefaults> readGenerationDefaults(const std::filesystem::path &directory);

} // namespace firesteel::engine
