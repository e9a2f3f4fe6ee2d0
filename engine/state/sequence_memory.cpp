// SPDX-License-Identifier: MIT
#include "engine/state/sequence_memory.h"

#include "engine/state/sequence_state.h"
#include "kernels/kda/kda.h"
#include "kernels/mla/mla.h"

#include <cstddef>

namespace firesteel::engine {

SequenceMemory sequenceMemory(const ModelShape &shape, int contextTokens, kernels::DType cache)
{
    constexpr std::uint64_t kFloat = sizeof(float);
    const std::uint64_t element = kernels::dtypeBytes(cache);
    const auto context = static_cast<std::uint64_t>(contextTokens);
    const auto heads = static_cast<std::uint64_t>(shape.kda.heads);
    const auto dim = static_cast<std::uint64_t>(shape.kda.headDim);
    const std::uint64_t channels = heads * dim;
    SequenceMemory sum;
    for (std::size_t layer = 0; layer < shape.attention.size(); ++layer) {
        if (shape.attention[layer] == AttentionKind::Kda) {
            sum.kdaState += channels * dim * kFloat;
            sum.kdaWindow
                += static_cast<std::uint64_t>(kernels::kKdaWindow) * 3 * channels * kFloat;
            sum.kdaRecords
                += static_cast<std::uint64_t>(kMaxDecodeRows) * (7 * channels + heads) * kFloat;
            continue;
        }
        sum.latents += context * static_cast<std::uint64_t>(shape.mla.kvLoraRank) * element;
        if (!shape.indexer.full[layer])
            continue;
        const auto indexDim = static_cast<std::uint64_t>(shape.indexer.headDim);
        sum.pooledKeys
            += context / static_cast<std::uint64_t>(shape.indexer.pool) * indexDim * element;
        sum.indexTails
            += 2 * static_cast<std::uint64_t>(kernels::kIndexTailRows) * indexDim * kFloat;
    }
    return sum;
}

std::uint64_t snapshotMemory(const ModelShape &shape)
{
    const SequenceMemory sum = sequenceMemory(shape, 0, kernels::DType::F32);
    return sum.kdaState + sum.kdaWindow + sum.kdaRecords + sum.indexTails;
}

} // namespace firesteel::engine
