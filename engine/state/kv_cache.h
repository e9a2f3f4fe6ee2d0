// SPDX-License-Identifier: MIT
//
// Caches of one MLA layer of one sequence, where the kernels run: the normalised latents, the
// pooled index keys and the raw index rows of the newest tokens. Rows at and after the sequence's
// position are garbage: truncation is free.
#pragma once

#include "kernels/common/buffer.h"
#include "kernels/common/stream.h"
#include "kernels/mla/mla.h"

#include <cstddef>
#include <cstdint>

namespace firesteel::engine {

// Raw index keys and gates, [kernels::kIndexTailRows, indexer head dim] each. Empty in a layer
// without an indexer.
struct IndexTail
{
    kernels::Buffer<float> key;
    kernels::Buffer<float> gate;

    IndexTail clone(kernels::Stream &stream) const;
    void copyFrom(const IndexTail &other, kernels::Stream &stream);
    std::uint64_t bytes() const { return key.bytes() + gate.bytes(); }
};

class KvCache
{
public:
    // indexDim 0: the layer has no indexer of its own.
    KvCache(std::size_t contextTokens, std::size_t latentDim, std::size_t indexDim,
            std::size_t pool, kernels::Stream &stream);

    // [contextTokens, latentDim] and [contextTokens / pool, indexDim] of kernels::cacheDType(). On
    // the CPU pages are touched as the sequence grows.
    const kernels::Buffer<std::byte> &latents() const { return m_latents; }
    const kernels::Buffer<std::byte> &pooledKeys() const { return m_pooledKeys; }
    const IndexTail &tail() const { return m_tail; }
    IndexTail &tail() { return m_tail; }

    kernels::MlaSlot slot() const;
    // A copy that holds the first `tokens` tokens.
    KvCache copyPrefix(std::size_t tokens, kernels::Stream &stream) const;
    // The first `tokens` tokens of another cache of this layer, but for their tail.
    void copyPrefixFrom(const KvCache &other, std::size_t tokens, kernels::Stream &stream);

    std::uint64_t bytes() const;

private:
    std::size_t m_contextTokens;
    std::size_t m_latentDim;
    std::size_t m_indexDim;
    std::size_t m_pool;
    std::size_t m_elementBytes;
    kernels::Buffer<std::byte> m_latents;
    kernels::Buffer<std::byte> m_pooledKeys;
    IndexTail m_tail;
};

} // namespace firesteel::engine
