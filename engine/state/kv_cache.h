// SPDX-License-Identifier: MIT
//
// Caches of one MLA layer of one sequence: the normalised latents, the pooled index keys and the
// raw index rows of the newest tokens. Rows at and after the sequence's position are garbage:
// truncation is free.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace firesteel::engine {

// Raw index keys and gates, [kernels::kIndexTailRows, indexer head dim] each. Empty in a layer
// without an indexer.
struct IndexTail
{
    std::vector<float> key;
    std::vector<float> gate;
    std::uint64_t bytes() const { return (key.size() + gate.size()) * sizeof(float); }
};

class KvCache
{
public:
    // indexDim 0: the layer has no indexer of its own.
    KvCache(std::size_t contextTokens, std::size_t latentDim, std::size_t indexDim,
            std::size_t pool);

    std::span<float> latents() { return { m_latents.get(), m_contextTokens * m_latentDim }; }
    std::span<float> pooledKeys() { return { m_pooledKeys.get(), m_pools * m_indexDim }; }
    IndexTail &tail() { return m_tail; }
    const IndexTail &tail() const { return m_tail; }

    // A copy that holds the first `tokens` tokens.
    KvCache copyPrefix(std::size_t tokens) const;

    std::uint64_t bytes() const;

private:
    std::size_t m_contextTokens;
    std::size_t m_latentDim;
    std::size_t m_indexDim;
    std::size_t m_pool;
    std::size_t m_pools;
    std::unique_ptr<float[]>
        m_latents; // [contextTokens, latentDim]; pages are touched as the sequence grows
    std::unique_ptr<float[]> m_pooledKeys; // [contextTokens / pool, indexDim]
    IndexTail m_tail;
};

} // namespace firesteel::engine
