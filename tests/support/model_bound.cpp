// SPDX-License-Identifier: MIT
#include "tests/support/model_bound.h"

#include "engine/model/weight_reader.h"
#include "tests/support/golden.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

namespace firesteel::test {

double streamTolerance(const engine::ModelShape &shape, int layers)
{
    std::vector<double> chain;
    const double hidden = shape.hiddenSize;
    for (int layer = 0; layer < layers; ++layer) {
        const auto index = static_cast<std::size_t>(layer);
        chain.insert(chain.end(), { 4 * hidden, 16 }); // mixing coefficients, Sinkhorn and sigmoids
        if (shape.attention[index] == engine::AttentionKind::Kda) {
            const double dim = shape.kda.headDim;
            // projections, convolution and gates, gate up-projection, state projection, output,
            // output projection
            chain.insert(chain.end(), { hidden, 16, dim, dim, dim, dim * shape.kda.heads });
        } else {
            const double attended = shape.indexer.topK + shape.indexer.pool - 1;
            // query, absorbed query, score, softmax and mix, value, output
            chain.insert(chain.end(),
                         { hidden, static_cast<double>(shape.mla.qLoraRank),
                           static_cast<double>(shape.mla.qkHeadDim),
                           static_cast<double>(shape.mla.kvLoraRank), 16, attended,
                           static_cast<double>(shape.mla.kvLoraRank),
                           static_cast<double>(shape.mla.heads * shape.mla.vHeadDim) });
        }
        const double width = shape.mlp[index] == engine::MlpKind::Dense ? shape.moe.denseWidth
                                                                        : shape.moe.expertWidth;
        chain.insert(chain.end(),
                     { 4 * hidden, 16, hidden, hidden, 16, width,
                       static_cast<double>(shape.moe.expertsPerToken) });
    }
    return chainTolerance(chain);
}

double logitTolerance(const engine::Checkpoint &checkpoint)
{
    const engine::ModelShape &shape = checkpoint.shape();
    kernels::Stream stream(1);
    engine::WeightStore store(stream);
    engine::WeightReader weights(checkpoint, store);
    const engine::LinearWeight headWeight
        = weights.dense("lm_head", shape.vocabularySize, shape.hiddenSize);
    const kernels::Buffer<float> norms
        = weights.values("model.language_model.norm.weight", { shape.hiddenSize });
    const std::span<const float> norm = norms;
    if (weights.error())
        throw std::runtime_error(weights.error()->message);
    const kernels::Matrix &head = *headWeight.matrix();
    double largestRow = 0;
    for (std::size_t n = 0; n < static_cast<std::size_t>(shape.vocabularySize); ++n) {
        double squares = 0;
        for (std::size_t c = 0; c < norm.size(); ++c)
            squares += std::pow(static_cast<double>(kernels::elementOf(
                                    head, static_cast<std::int64_t>(n * norm.size() + c))),
                                2);
        largestRow = std::max(largestRow, std::sqrt(squares));
    }
    double largestWeight = 0;
    for (const float weight : norm)
        largestWeight = std::max(largestWeight, std::abs(static_cast<double>(weight)));
    return streamTolerance(shape, shape.layerCount) * largestRow * largestWeight;
}

double deviceLogitTolerance(const engine::Checkpoint &checkpoint)
{
    const engine::ModelShape &shape = checkpoint.shape();
    constexpr double kHalf = 0x1p-11; // unit roundoffs
    constexpr double kBrain = 0x1p-9;
    double variance = kHalf * kHalf / 3; // the head
    for (const engine::AttentionKind kind : shape.attention) {
        // Stages of products, one rounding each, as in streamTolerance: qkv and output, or query in
        // two steps, latent, output; gate and up, down. They are independent, so variances add.
        const double products = kind == engine::AttentionKind::Kda ? 2 + 2 : 4 + 2;
        variance += products * kHalf * kHalf / 3;
        if (kind == engine::AttentionKind::Mla)
            variance += 2 * kBrain * kBrain / 3;
    }
    const double ours = streamTolerance(shape, shape.layerCount);
    return logitTolerance(checkpoint) / ours * std::hypot(ours, 8 * std::sqrt(variance));
}

} // namespace firesteel::test
