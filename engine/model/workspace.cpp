// SPDX-License-Identifier: MIT
#include "engine/model/workspace.h"

#include "kernels/hyper/hyper.h"

#include <algorithm>

namespace firesteel::engine {

Workspace::Workspace(const ModelShape &shape, std::int64_t rows)
    : maxRows(rows)
{
    const auto size = [rows](std::int64_t width) { return static_cast<std::size_t>(rows * width); };
    streams.resize(size(kernels::kHyperStreams * shape.hiddenSize));
    post.resize(size(kernels::kHyperStreams));
    combination.resize(size(kernels::kHyperStreams * kernels::kHyperStreams));
    input.resize(size(shape.hiddenSize));
    output.resize(size(shape.hiddenSize));

    const std::int64_t channels = static_cast<std::int64_t>(shape.kda.heads) * shape.kda.headDim;
    kda.z.resize(size(3 * channels));
    kda.u.resize(size(3 * channels));
    kda.low.resize(size(shape.kda.headDim));
    kda.g.resize(size(channels));
    kda.gate.resize(size(channels));
    kda.beta.resize(size(shape.kda.heads));
    kda.o.resize(size(channels));

    const std::int64_t heads = shape.mla.heads;
    mla.qLatent.resize(size(shape.mla.qLoraRank));
    mla.query.resize(size(heads * shape.mla.qkHeadDim));
    mla.latent.resize(size(shape.mla.kvLoraRank));
    mla.absorbed.resize(size(heads * shape.mla.kvLoraRank));
    mla.mixed.resize(size(heads * shape.mla.kvLoraRank));
    mla.value.resize(size(heads * shape.mla.vHeadDim));

    index.query.resize(
        size(static_cast<std::int64_t>(shape.indexer.heads) * shape.indexer.headDim));
    index.key.resize(size(shape.indexer.headDim));
    index.gate.resize(size(shape.indexer.headDim));
    index.weights.resize(size(shape.indexer.heads));
    index.positions.resize(size(shape.indexer.topK + shape.indexer.pool - 1));
    index.counts.resize(size(1));

    const std::int64_t sharedWidth
        = static_cast<std::int64_t>(shape.moe.sharedExperts) * shape.moe.expertWidth;
    mlp.gate.resize(size(std::max<std::int64_t>(shape.moe.denseWidth, sharedWidth)));
    mlp.up.resize(mlp.gate.size());
    mlp.shared.resize(size(shape.hiddenSize));
    mlp.logits.resize(size(shape.moe.experts));
    mlp.experts.resize(size(shape.moe.expertsPerToken));
    mlp.weights.resize(size(shape.moe.expertsPerToken));
    mlp.expertGate.resize(
        size(static_cast<std::int64_t>(shape.moe.expertsPerToken) * shape.moe.expertWidth));
    mlp.expertUp.resize(mlp.expertGate.size());
    mlp.expertOutput.resize(
        size(static_cast<std::int64_t>(shape.moe.expertsPerToken) * shape.hiddenSize));
}

void Workspace::reserveExl3(const ModelShape &shape, std::span<const kernels::Exl3Matrix> matrices,
                            std::span<const kernels::Exl3MoeShape> experts,
                            const kernels::Stream &stream)
{
    const std::int64_t decodeRows = std::min<std::int64_t>(maxRows, kernels::kMaxDecodeStepRows);
    std::size_t bytes = 0;
    for (const kernels::Exl3Matrix &m : matrices)
        bytes = std::max(
            { bytes, kernels::exl3LinearScratchBytes(m, maxRows, RowClass::Prefill, stream),
              kernels::exl3LinearScratchBytes(m, decodeRows, RowClass::Decode, stream) });
    for (const kernels::Exl3MoeShape &moe : experts)
        bytes = std::max(
            { bytes, kernels::exl3ExpertsScratchBytes(moe, maxRows, RowClass::Prefill, stream),
              kernels::exl3ExpertsScratchBytes(moe, decodeRows, RowClass::Decode, stream) });
    exl3.scratch.resize(bytes);
    exl3.output.resize(static_cast<std::size_t>(maxRows * shape.kda.heads * shape.kda.headDim));
}

std::uint64_t Workspace::bytes() const
{
    std::uint64_t sum = 0;
    for (const auto *buffer : { &streams,
                                &post,
                                &combination,
                                &input,
                                &output,
                                &kda.z,
                                &kda.u,
                                &kda.low,
                                &kda.g,
                                &kda.gate,
                                &kda.beta,
                                &kda.o,
                                &mla.qLatent,
                                &mla.query,
                                &mla.latent,
                                &mla.absorbed,
                                &mla.mixed,
                                &mla.value,
                                &index.query,
                                &index.key,
                                &index.gate,
                                &index.weights,
                                &index.scores,
                                &mlp.gate,
                                &mlp.up,
                                &mlp.shared,
                                &mlp.logits,
                                &mlp.weights,
                                &mlp.expertGate,
                                &mlp.expertUp,
                                &mlp.expertOutput,
                                &exl3.output })
        sum += buffer->size() * sizeof(float);
    for (const auto *buffer : { &index.positions, &index.counts, &mlp.experts })
        sum += buffer->size() * sizeof(std::int32_t);
    return sum + exl3.scratch.size();
}

} // namespace firesteel::engine
