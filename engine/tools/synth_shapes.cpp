// SPDX-License-Identifier: MIT
#include "engine/tools/synth_shapes.h"

namespace firesteel::engine {

namespace {

// Every fourth layer attends with MLA; the first `dense` ones have a dense MLP.
void addLayers(ModelShape &shape, int layers, int dense)
{
    shape.layerCount = layers;
    for (int i = 0; i < layers; ++i) {
        shape.attention.push_back(i % 4 == 3 ? AttentionKind::Mla : AttentionKind::Kda);
        shape.mlp.push_back(i < dense ? MlpKind::Dense : MlpKind::Sparse);
        shape.indexer.full.push_back(true);
    }
}

// What both models have in common.
ModelShape commonShape()
{
    ModelShape shape;
    shape.rmsNormEps = 1e-5F;
    shape.hyper = { .streams = 4, .sinkhornIterations = 20, .eps = 1e-6F };
    shape.kda = { .heads = 0, .headDim = 128, .convKernel = 4, .gateLowerBound = -5 };
    shape.mla
        = { .heads = 0, .qLoraRank = 0, .kvLoraRank = 512, .qkHeadDim = 256, .vHeadDim = 256 };
    shape.moe.sharedExperts = 1;
    shape.moe.routedScaling = 2.5F;
    shape.moe.swigluLimit = 10;
    shape.indexer.headDim = 128;
    shape.indexer.pool = 4;
    shape.hasVision = true;
    shape.vision.channels = 3;
    shape.vision.patchSize = 14;
    shape.vision.temporalPatchSize = 2;
    shape.vision.mergeSize = 2;
    return shape;
}

} // namespace

ModelShape glmFlashShape()
{
    ModelShape shape = commonShape();
    shape.hiddenSize = 4096;
    shape.vocabularySize = 154'880;
    shape.maxPositionEmbeddings = 1'048'576;
    shape.eosTokenIds = { 154'820, 154'827, 154'829 };
    shape.imageTokenId = 154'854;
    shape.kda.heads = 64;
    shape.mla.heads = 64;
    shape.mla.qLoraRank = 1536;
    shape.indexer.heads = 32;
    shape.indexer.topK = 2048;
    shape.moe.experts = 288;
    shape.moe.expertsPerToken = 8;
    shape.moe.expertWidth = 2048;
    shape.moe.denseWidth = 12'288;
    shape.vision.depth = 24;
    shape.vision.hiddenSize = 1024;
    shape.vision.heads = 16;
    shape.vision.intermediateSize = 4096;
    shape.vision.projectionSize = 10'240;
    shape.mtpLayerCount = 1;
    addLayers(shape, 45, 3);
    return shape;
}

ModelShape glimmerShape()
{
    ModelShape shape = commonShape();
    shape.hiddenSize = 384;
    shape.vocabularySize = 6144;
    shape.maxPositionEmbeddings = 8192;
    shape.eosTokenIds = { 6084, 6091, 6093 };
    shape.imageTokenId = 6118;
    shape.kda.heads = 3;
    shape.mla.heads = 3;
    shape.mla.qLoraRank = 256;
    shape.indexer.heads = 4;
    shape.indexer.topK = 128;
    shape.moe.experts = 16;
    shape.moe.expertsPerToken = 4;
    shape.moe.expertWidth = 128;
    shape.moe.denseWidth = 768;
    shape.vision.depth = 3;
    shape.vision.hiddenSize = 256;
    shape.vision.heads = 4;
    shape.vision.intermediateSize = 384;
    shape.vision.projectionSize = 384;
    addLayers(shape, 8, 1);
    return shape;
}

std::optional<ModelShape> namedShape(std::string_view name)
{
    if (name == "glm-5.3-flash")
        return glmFlashShape();
    if (name == "glimmer")
        return glimmerShape();
    return std::nullopt;
}

ModelShape firstLayers(ModelShape shape, int layers)
{
    const auto count = static_cast<std::size_t>(layers);
    shape.layerCount = layers;
    shape.attention.resize(count);
    shape.mlp.resize(count);
    shape.indexer.full.resize(count);
    shape.mtpLayerCount = 0;
    return shape;
}

} // namespace firesteel::engine
