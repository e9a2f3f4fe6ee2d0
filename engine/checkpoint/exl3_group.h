// SPDX-License-Identifier: MIT
//
// The tensors of one EXL3 module (docs/model.md, section EXL3), as ExLlamaV3 names them: M.trellis,
// M.suh, M.svh (M.su, M.sv in old files), M.bias and the marker of the codebook, M.mcg or M.mul1.
// Knows the file's side of the format; what it means is kernels/exl3.
#pragma once

#include "engine/api/error.h"
#include "engine/checkpoint/tensor_folder.h"
#include "kernels/exl3/exl3.h"

#include <array>
#include <cstdint>
#include <string_view>

namespace firesteel::engine {

// Every suffix of a group; ".bias" is not among them, plain layers have it too.
inline constexpr std::array<std::string_view, 8> kExl3Suffixes
    = { ".trellis", ".suh", ".svh", ".su", ".sv", ".mcg", ".mul1", ".scale" };

struct Exl3Group
{
    TensorFolder::Tensor trellis; // I16 [in / 16, out / 16, 16 * rate]
    TensorFolder::Tensor suh; // F16 [in], or I16 [in / 16]: signs only
    TensorFolder::Tensor svh; // F16 [out], or I16 [out / 16]
    TensorFolder::Tensor bias; // F16, BF16 or F32 [out]; no entry: none
    std::int64_t in = 0;
    std::int64_t out = 0;
    int rate = 0; // bits per weight, 1..8
    kernels::Exl3Codebook codebook = kernels::Exl3Codebook::ThreeInst;
};

// Whether any tensor of a group is there under this name, complete or not.
bool hasExl3Group(const TensorFolder &folder, std::string_view module);

// The complete group, every tensor checked against the trellis. Errors, naming file and tensor:
// BadCheckpoint; UnsupportedModel for a rate between integers (newer packs have 1.5, 2.5 and 3.5).
Result<Exl3Group> findExl3Group(const TensorFolder &folder, std::string_view module);

// The same, and of this size.
Result<Exl3Group> findExl3Group(const TensorFolder &folder, std::string_view module,
                                std::int64_t out, std::int64_t in);

} // namespace firesteel::engine
