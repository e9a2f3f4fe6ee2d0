// SPDX-License-Identifier: MIT
//
// A complete, small glm5_next model folder with seeded random weights, for every test that needs a
// model but not a trained one:
//
//     const TemporaryFolder folder;
//     writeTinyCheckpoint(folder.path());                          // 5 layers of every kind,
//     vocabulary 320, BF16, two shards writeTinyCheckpoint(folder.path(), { .seed = 7, .type =
//     TensorType::F32, .squeezeConvolutions = true });
//
// The same options give the same bytes on every machine. Activations stay of order one, so
// differences between two ways of computing the same thing mean what they would mean in a trained
// model.
#pragma once

#include "engine/checkpoint/model_shape.h"
#include "engine/checkpoint/safe_tensors.h"
#include "engine/checkpoint/tensor_table.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace firesteel::test {

// hidden 64; KDA, KDA, MLA, KDA, MLA; first layer dense, then 8 experts, top 2. Vocabulary 320 =
// 276 base tokens, the 36 added ones from kTinyFirstAddedToken on, 8 ids without a token. No
// vision, no MTP: set hasVision or mtpLayerCount for those.
engine::ModelShape tinyShape();
inline constexpr std::int32_t kTinyFirstAddedToken = 276;

// The same at widths that EXL3 can store: hidden 128, vocabulary 384.
engine::ModelShape tinyExl3Shape();

struct TinyCheckpoint
{
    std::uint64_t seed = 1;
    engine::ModelShape shape = tinyShape();
    engine::TensorType type
        = engine::TensorType::BF16; // BF16, F16 or F32, of what the release stores in 16 bits
    // EXL3 groups of the published pack's rates with random trellises. Give it tinyExl3Shape().
    bool exl3 = false;
    // Of an EXL3 checkpoint; the pack's has KDA's q, k and v fused.
    engine::TensorLayout exl3Layout = engine::TensorLayout::Exl3Pack;
    bool squeezeConvolutions = false; // [c, 4] instead of [c, 1, 4]
    bool misaligned = false; // tensor data at odd offsets of the file
    int shards = 2; // 1: model.safetensors
    bool index = true; // write model.safetensors.index.json
};

// Everything: config.json, tokenizer.json, generation_config.json, the shards and their index.
void writeTinyCheckpoint(const std::filesystem::path &directory,
                         const TinyCheckpoint &options = {});

// Its parts, for tests that want to change one before writing it.
std::string tinyConfigJson(const engine::ModelShape &shape, bool exl3 = false);
std::string tinyTokenizerJson();

struct TinyTensor
{
    std::string name;
    engine::TensorType type = engine::TensorType::F32;
    std::vector<std::int64_t> shape;
    std::string bytes;
};
std::vector<TinyTensor> tinyTensors(const TinyCheckpoint &options = {});

// The same tensors with every EXL3 group M decoded into a float32 M.weight.
std::vector<TinyTensor> decodedTensors(const std::vector<TinyTensor> &tensors);
void writeSafeTensors(const std::filesystem::path &path, const std::vector<TinyTensor> &tensors,
                      bool misaligned = false);

} // namespace firesteel::test
