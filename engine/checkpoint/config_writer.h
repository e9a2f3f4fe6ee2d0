// SPDX-License-Identifier: MIT
//
// The inverse of parseModelConfig: config.json of a glm5_next model in the release's words. For
// checkpoints made by this program.
#pragma once

#include "engine/checkpoint/model_shape.h"

#include <optional>
#include <string>

namespace firesteel::engine {

// What config.json's quantization_config says about an EXL3 pack. Readers take rates and codebook
// from the tensors.
struct PackFacts
{
    double bits = 0; // per weight, on average
    int headBits = 0;
    std::string codebook = "mul1";
};

std::string modelConfigJson(const ModelShape &shape, const std::optional<PackFacts> &pack = {});

} // namespace firesteel::engine
