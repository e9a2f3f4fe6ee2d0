// SPDX-License-Identifier: MIT
#include "engine/state/kv_cache.h"

namespace firesteel::engine {

using kernels::Buffer;

IndexTail IndexTail::clone(kernels::Stream &stream) const
{
    return { key.clone(stream), gate.clone(stream) };
}

void IndexTail::copyFrom(const IndexTail &other, kernels::Stream &stream)
{
    kernels::copyWithin(key.data(), other.key.data(), other.key.bytes(), stream);
    kernels::copyWithin(gate.data(), other.gate.data(), other.gate.bytes(), stream);
}

KvCache::KvCache(std::size_t contextTokens, std::size_t latentDim, std::size_t indexDim,
                 std::size_t pool, kernels::Stream &stream)
    : m_contextTokens(contextTokens)
    , m_latentDim(latentDim)
    , m_indexDim(indexDim)
    , m_pool(pool)
    , m_elementBytes(kernels::dtypeBytes(kernels::cacheDType(stream)))
    , m_latents(
          Buffer<std::byte>::uninitialized(contextTokens * latentDim * m_elementBytes, stream))
    , m_pooledKeys(Buffer<std::byte>::uninitialized(
          contextTokens / pool * indexDim * m_elementBytes, stream))
{
    const auto tailSize = static_cast<std::size_t>(kernels::kIndexTailRows) * indexDim;
    m_tail = { Buffer<float>::zeros(tailSize, stream), Buffer<float>::zeros(tailSize, stream) };
}

kernels::MlaSlot KvCache::slot() const
{
    return { .latents = m_latents.data(),
             .pooledKeys = m_pooledKeys.data(),
             .tailKey = m_tail.key.data(),
             .tailGate = m_tail.gate.data() };
}

KvCache KvCache::copyPrefix(std::size_t tokens, kernels::Stream &stream) const
{
    KvCache copy(m_contextTokens, m_latentDim, m_indexDim, m_pool, stream);
    copy.copyPrefixFrom(*this, tokens, stream);
    copy.m_tail.copyFrom(m_tail, stream);
    return copy;
}

void KvCache::copyPrefixFrom(const KvCache &other, std::size_t tokens, kernels::Stream &stream)
{
    kernels::copyWithin(m_latents.data(), other.m_latents.data(),
                        tokens * m_latentDim * m_elementBytes, stream);
    kernels::copyWithin(m_pooledKeys.data(), other.m_pooledKeys.data(),
                        tokens / m_pool * m_indexDim * m_elementBytes, stream);
}

std::uint64_t KvCache::bytes() const
{
    return m_latents.bytes() + m_pooledKeys.bytes() + m_tail.bytes();
}

} // namespace firesteel::engine
