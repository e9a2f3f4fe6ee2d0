// SPDX-License-Identifier: MIT
#include "engine/state/sequence_state.h"

#include "kernels/mla/mla.h"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace firesteel::engine {

SequenceState::SequenceState(int contextTokens, std::vector<KdaState> kda, std::vector<KvCache> mla,
                             kernels::Stream &stream)
    : m_contextTokens(contextTokens)
    , m_stream(&stream)
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
    if (!m_pending.empty()) // without a step the records are those of the last one
        m_recordedRows = rows;
    m_pending.clear();
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

SequenceState::Snapshot SequenceState::snapshot() const { return snapshotInto({}); }

SequenceState::Snapshot SequenceState::snapshotInto(Snapshot storage) const
{
    if (!m_pending.empty())
        throw std::logic_error("SequenceState::snapshot: rows are pending");
    storage.tokens.assign(m_tokens.begin(), m_tokens.end());
    storage.recordedRows = m_recordedRows;
    storage.kda.resize(m_kda.size());
    for (std::size_t i = 0; i < m_kda.size(); ++i)
        storage.kda[i]
            = m_kda[i].copyInto(std::move(storage.kda[i]), m_recordedRows > 0, *m_stream);
    storage.tails.resize(m_mla.size());
    for (std::size_t i = 0; i < m_mla.size(); ++i) {
        if (storage.tails[i].bytes() == 0)
            storage.tails[i] = m_mla[i].tail().clone(*m_stream);
        else
            storage.tails[i].copyFrom(m_mla[i].tail(), *m_stream);
    }
    return storage;
}

std::uint64_t SequenceState::snapshotBytes() const
{
    std::uint64_t sum = m_tokens.size() * sizeof(std::int32_t);
    for (const KdaState &layer : m_kda)
        sum += m_recordedRows > 0 ? layer.bytes() : layer.state.bytes() + layer.window.bytes();
    for (const KvCache &layer : m_mla)
        sum += layer.tail().bytes();
    return sum;
}

Result<void> SequenceState::restore(const Snapshot &snapshot)
{
    if (snapshot.tokens.size() > m_tokens.size()
        || !std::equal(snapshot.tokens.begin(), snapshot.tokens.end(), m_tokens.begin()))
        return fail(ErrorCode::BadRequest,
                    "The snapshot's tokens are not a prefix of the sequence.");
    if (snapshot.kda.size() != m_kda.size() || snapshot.tails.size() != m_mla.size())
        return fail(ErrorCode::BadRequest, "The snapshot belongs to another model.");
    restoreRecurrent(snapshot);
    return {};
}

void SequenceState::adopt(const SequenceState &source, const Snapshot &snapshot)
{
    if (source.m_contextTokens != m_contextTokens || source.m_mla.size() != m_mla.size()
        || snapshot.tokens.size() > source.m_tokens.size())
        throw std::logic_error("SequenceState::adopt: not of such a sequence");
    for (std::size_t i = 0; i < m_mla.size(); ++i)
        m_mla[i].copyPrefixFrom(source.m_mla[i], snapshot.tokens.size(), *m_stream);
    restoreRecurrent(snapshot);
}

void SequenceState::restoreRecurrent(const Snapshot &snapshot)
{
    m_tokens.assign(snapshot.tokens.begin(), snapshot.tokens.end());
    m_pending.clear();
    m_recordedRows = snapshot.recordedRows;
    for (std::size_t i = 0; i < m_kda.size(); ++i)
        m_kda[i].copyFrom(snapshot.kda[i], *m_stream);
    for (std::size_t i = 0; i < m_mla.size(); ++i)
        m_mla[i].tail().copyFrom(snapshot.tails[i], *m_stream);
}

void SequenceState::clear()
{
    m_tokens.clear();
    m_pending.clear();
    m_recordedRows = 0;
    for (KdaState &layer : m_kda) {
        layer.state.setZero(*m_stream);
        layer.window.setZero(*m_stream);
    }
}

SequenceState SequenceState::fork() const
{
    if (!m_pending.empty())
        throw std::logic_error("SequenceState::fork: rows are pending");
    std::vector<KdaState> kda;
    kda.reserve(m_kda.size());
    for (const KdaState &layer : m_kda)
        kda.push_back(layer.clone(*m_stream));
    std::vector<KvCache> mla;
    mla.reserve(m_mla.size());
    for (const KvCache &layer : m_mla)
        mla.push_back(layer.copyPrefix(m_tokens.size(), *m_stream));
    SequenceState copy(m_contextTokens, std::move(kda), std::move(mla), *m_stream);
    copy.m_tokens.assign(m_tokens.begin(), m_tokens.end());
    copy.m_recordedRows = m_recordedRows;
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
    m_recordedRows = 0; // prefill folds them in
}

void SequenceState::setPending(std::span<const std::int32_t> tokens)
{
    m_pending.assign(tokens.begin(), tokens.end());
}

} // namespace firesteel::engine
