// SPDX-License-Identifier: MIT
//
// A model folder: config.json and its .safetensors files (through model.safetensors.index.json or,
// without one, all of them; EXL3 packs keep files that no index mentions, so there it is always
// all), with tensors by their released names.
#pragma once

#include "engine/api/error.h"
#include "engine/checkpoint/model_shape.h"
#include "engine/checkpoint/tensor_folder.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace firesteel::engine {

class Checkpoint : public TensorFolder
{
public:
    // Errors: as SafeTensors::open and readModelConfig; also an index that names a missing file or
    // tensor, a tensor in two files.
    static Result<Checkpoint> open(const std::filesystem::path &directory);

    const ModelShape &shape() const { return m_config.shape; }
    const std::vector<std::string> &unknownConfigFields() const { return m_config.unknownFields; }
    bool isExl3() const
    {
        return m_config.isExl3;
    } // by its config; a module is what its tensors say

private:
    using TensorFolder::TensorFolder;

    ConfigReport m_config;
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
