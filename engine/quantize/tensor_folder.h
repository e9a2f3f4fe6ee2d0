// SPDX-License-Identifier: MIT
//
// Every tensor of a folder's .safetensors files, whatever model they make: what the quantizer
// reads. A Checkpoint knows one architecture; a drafter is another.
#pragma once

#include "engine/api/error.h"
#include "engine/checkpoint/safe_tensors.h"

#include <cstdint>
#include <deque>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace firesteel::engine {

class TensorFolder
{
public:
    // Errors: NotFound, Io, BadCheckpoint (as SafeTensors::open; a tensor in two files).
    static Result<TensorFolder> open(const std::filesystem::path &directory);

    const std::filesystem::path &directory() const { return m_directory; }
    const std::map<std::string, const TensorEntry *, std::less<>> &tensors() const
    {
        return m_tensors;
    }

    // Of names, types, shapes and every value's bytes.
    std::uint64_t digest() const;

private:
    TensorFolder() = default;

    std::filesystem::path m_directory;
    std::deque<SafeTensors> m_files;
    std::map<std::string, const TensorEntry *, std::less<>> m_tensors;
};

// A plain tensor's values widened to float32, in its order.
std::vector<float> widenedValues(const TensorEntry &entry);

// F32, F16 or BF16.
bool isPlainType(TensorType type);

} // namespace firesteel::engine
