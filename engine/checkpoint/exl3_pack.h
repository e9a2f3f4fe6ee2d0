// SPDX-License-Identifier: MIT
//
// Tensor by tensor what the published EXL3 pack of GLM-5.3-Flash (2.05 bits per weight, codebook
// MUL1) stores, for any glm5_next shape: what `firesteel-cli synth` writes and `inspect` compares
// with.
#pragma once

#include "engine/checkpoint/tensor_table.h"

#include <cstdint>
#include <string>
#include <vector>

namespace firesteel::engine {

struct PackTensor
{
    std::string name;
    TensorType type = TensorType::F32;
    std::vector<std::int64_t> shape; // empty: a scalar
    Component component = Component::Unknown;

    std::uint64_t bytes() const;
};

std::vector<PackTensor> exl3PackTensors(const ModelShape &shape);

} // namespace firesteel::engine
