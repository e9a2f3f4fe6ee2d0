// SPDX-License-Identifier: MIT
//
// The validated facts of a DFlash2 drafter, from its config.json (docs/speculation.md).
#pragma once

#include "engine/checkpoint/model_shape.h"

#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

namespace firesteel::engine {

struct Dflash2Shape
{
    int hiddenSize = 0;
    int vocabularySize = 0;
    int layerCount = 0;
    int intermediateSize = 0;
    int heads = 0;
    int kvHeads = 0;
    int headDim = 0;
    float rmsNormEps = 0;
    double ropeTheta = 0;
    int window = 0; // a row sees context positions less than this before it
    int blockRows = 0; // the pending token and its masks, as trained
    int convGroup = 0; // channels that share a dynamic coefficient
    int maskTokenId = 0;
    int selectorRank = 0;
    int selectorTopK = 0;
    std::vector<int> tapLayers; // of the target, zero-based, after the layer

    int convGroups() const { return hiddenSize / convGroup; }
};

// Errors: as parseModelConfig; also a field that contradicts the target model.
Result<Dflash2Shape> parseDflash2Config(std::string_view json, std::string_view fileName,
                                        const ModelShape &target);
Result<Dflash2Shape> readDflash2Config(const std::filesystem::path &configJson,
                                       const ModelShape &target);

} // namespace firesteel::engine
