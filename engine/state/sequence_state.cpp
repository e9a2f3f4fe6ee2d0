// SPDX-License-Identifier: MIT
#include "engine/state/sequence_state.h"

#include "kernels/mla/mla.h"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace firesteel::engine {

void KdaState::keepRecords(std::int64_t rows)
{
    const auto keep = [&](std::vector<float> &values) {
        if (recordedRows > 0)
            values.resize(values.size() / static_cast<std::size_t>(recordedRows)
                          * static_cast<std::size_t>(rows));
    };
    keep(recordedInput);
    keep(recordedU);
    keep(recordedG);
    keep(recordedBeta);
    recordedRows = rows;
}

std::uint64_t KdaState::bytes() const
{
    return (state.size() + window.size() + recordedInput.size() + recordedU.size()
            + recordedG.size() + recordedBeta.size())
        * sizeof(float);
}

KvCache::KvCache(std::size_t contextTokens, std::size_t latentDim, std::size_t indexDim,
                 std::size_t pool)
    : m_contextTokens(contextTokens)
    , m_latentDim(latentDim)
    , m_indexDim(indexDim)
    , m_pool(pool)
    , m_pools(indexDim > 0 ? contextTokens / pool : 0)
    , m_latents(std::make_unique_for_overwrite<float[]>(contextTokens * latentDim))
    , m_pooledKeys(std::make_unique_for_overwrite<float[]>(m_pools * indexDim))
{
    const auto tailSize = static_cast<std::size_t>(kernels::kIndexTailRows) * indexDim;
    m_tail.key.resize(tailSize);
    m_tail.gate.resize(tailSize);
}

KvCache KvCache::copyPrefix(std::size_t tokens) const
{
    KvCache copy(m_contextTokens, m_latentDim, m_indexDim, m_pool);
    std::copy_n(m_latents.get(), tokens * m_latentDim, copy.m_latents.get());
    if (m_indexDim > 0)
        std::copy_n(m_pooledKeys.get(), tokens / m_pool * m_indexDim, copy.m_pooledKeys.get());
    copy.m_tail = m_tail;
    return copy;
}

std::uint64_t KvCache::bytes() const
{
    return (m_contextTokens * m_latentDim + m_pools * m_indexDim) * sizeof(float) + m_tail.bytes();
}

SequenceState::SequenceState(int contextTokens, std::vector<KdaState> kda, std::vector<KvCache> mla)
    : m_contextTokens(contextTokens)
    , m_kda(std::move(kda))
    , m_mla(std::move(mla))
{
    m_tokens.reserve(static_cast<std::size_t>(contextTokens));
}

void SequenceState::commit(int rows)
{
    if (rows < 0 || rows > pendingRows())
        throw std::logic_error("SequenceState::commit: " + std::to_string(rows) + " of "
                               + std::to_string(pendingRows()) + " pending rows");
    m_tokens.insert(m_tokens.end(), m_pending.begin(), m_pending.begin() + rows);
    m_pending.clear();
    for (KdaState &layer : m_kda)
        layer.keepRecords(rows);
}

std::uint64_t SequenceState::Snapshot::bytes() const
{
    std::uint64_t sum = tokens.size() * sizeof(std::int32_t);
    for (const KdaState &layer : kda)
        sum += layer.bytes();
    for (const IndexTail &tail : tails)
        sum += tail.bytes();
    return sum;
}

SequenceState::Snapshot SequenceState::snapshot() const
{
    if (!m_pending.empty())
        throw std::logic_error("SequenceState::snapshot: rows are pending");
    Snapshot result { .tokens = m_tokens, .kda = m_kda, .tails = {} };
    for (const KvCache &layer : m_mla)
        result.tails.push_back(layer.tail());
    return result;
}

Result<void> SequenceState::restore(const Snapshot &snapshot)
{
    if (snapshot.tokens.size() > m_tokens.size()
        || !std::equal(snapshot.tokens.begin(), snapshot.tokens.end(), m_tokens.begin()))
        return fail(ErrorCode::BadRequest,
                    "The snapshot's tokens are not a prefix of the sequence.");
    if (snapshot.kda.size() != m_kda.size() || snapshot.tails.size() != m_mla.size())
        return fail(ErrorCode::BadRequest, "The snapshot belongs to another model.");
    m_tokens.resize(snapshot.tokens.size());
    m_pending.clear();
    m_kda = snapshot.kda;
    for (std::size_t i = 0; i < m_mla.size(); ++i)
        m_mla[i].tail() = snapshot.tails[i];
    return {};
}

SequenceState SequenceState::fork() const
{
    if (!m_pending.empty())
        throw std::logic_error("SequenceState::fork: rows are pending");
    std::vector<KvCache> mla;
    mla.reserve(m_mla.size());
    for (const KvCache &layer : m_mla)
        mla.push_back(layer.copyPrefix(m_tokens.size()));
    SequenceState copy(m_contextTokens, m_kda, std::move(mla));
    copy.m_tokens.assign(m_tokens.begin(), m_tokens.end());
    return copy;
}

std::uint64_t SequenceState::bytes() const
{
    std::uint64_t sum = 0;
    for (const KdaState &layer : m_kda)
        sum += layer.bytes();
    for (const KvCache &layer : m_mla)
        sum += layer.bytes();
    return sum;
}

void SequenceState::appendCommitted(std::span<const std::int32_t> tokens)
{
    m_tokens.insert(m_tokens.end(), tokens.begin(), tokens.end());
}

void SequenceState::setPending(std::span<const std::int32_t> tokens)
{
    m_pending.assign(tokens.begin(), tokens.end());
}

} // namespace firesteel::engine
