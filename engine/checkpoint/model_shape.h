// SPDX-License-Identifier: MIT
//
// The validated facts of a glm5_next model (docs/model.md says where each comes from). Read from
// config.json once, then const; the only place that holds dimensions. Of the vision tower only what
// the shapes of its tensors depend on.
#pragma once

#include "engine/api/error.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace firesteel::engine {

enum class AttentionKind { Kda, Mla };
enum class MlpKind { Dense, Sparse };

struct ModelShape
{
    bool operator==(const ModelShape &) const = default;

    int hiddenSize = 0;
    int layerCount = 0;
    int vocabularySize = 0; // rows of embedding and head; ids without a token included
    int maxPositionEmbeddings = 0;
    float rmsNormEps = 0;
    std::vector<std::int32_t> eosTokenIds;
    std::vector<AttentionKind> attention; // per layer
    std::vector<MlpKind> mlp; // per layer

    struct HyperConnections
    {
        bool operator==(const HyperConnections &) const = default;
        int streams = 0; // hc_mult
        int sinkhornIterations = 0;
        float eps = 0; // hc_eps
    } hyper;

    struct Kda
    {
        bool operator==(const Kda &) const = default;
        int heads = 0;
        int headDim = 0; // keys and values
        int convKernel = 0;
        float gateLowerBound = 0;
    } kda;

    struct Mla
    {
        bool operator==(const Mla &) const = default;
        int heads = 0;
        int qLoraRank = 0;
        int kvLoraRank = 0;
        int qkHeadDim = 0; // qk_nope_head_dim; the rope part is 0
        int vHeadDim = 0;
    } mla;

    struct Indexer
    {
        bool operator==(const Indexer &) const = default;
        int heads = 0;
        int headDim = 0;
        int topK = 0; // tokens
        int pool = 0; // tokens per pooled key
        // true: this layer has its own indexer; false: it reuses the selection of the previous full
        // layer. Per layer.
        std::vector<bool> full;
    } indexer;

    struct Moe
    {
        bool operator==(const Moe &) const = default;
        int experts = 0;
        int expertsPerToken = 0;
        int sharedExperts = 0;
        int expertWidth = 0; // moe_intermediate_size
        int denseWidth = 0; // intermediate_size
        float routedScaling = 0;
        float swigluLimit = 0;
    } moe;

    struct Vision
    {
        bool operator==(const Vision &) const = default;
        int depth = 0;
        int hiddenSize = 0;
        int heads = 0;
        int intermediateSize = 0;
        int projectionSize = 0; // projection_intermediate_size
        int channels = 0;
        int patchSize = 0;
        int temporalPatchSize = 0;
        int mergeSize = 0;
    } vision; // all 0 without a tower

    int mtpLayerCount = 0; // num_nextn_predict_layers
    bool hasVision = false;
    int imageTokenId = -1; // -1: absent
};

// "GLM-5.3-Flash" or "Glimmer", known by the widths: a download's folder is often called "model" or
// after a revision. Empty for any other shape.
std::string_view knownModelName(const ModelShape &shape);

struct ConfigReport
{
    ModelShape shape;
    std::vector<std::string> unknownFields; // dotted paths, e.g. "text_config.foo"
    bool isExl3 = false; // quantization_config names EXL3: modules may be stored as EXL3 groups
};

// Errors: BadCheckpoint (not JSON, wrong type), UnsupportedModel (a field the kernels depend on is
// absent or has a value they do not implement); the message names the file and the field.
Result<ConfigReport> parseModelConfig(std::string_view json, std::string_view fileName);
Result<ConfigReport> readModelConfig(const std::filesystem::path &configJson);

} // namespace firesteel::engine
