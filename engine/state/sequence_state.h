// SPDX-License-Identifier: MIT
//
// Everything a sequence owns: its tokens, the latent and index caches of the MLA layers, the
// recurrent and convolution state of the KDA layers. A recurrent state cannot be truncated, so
// snapshot, fork and commit-prefix are the ways back:
//
//   decode(rows) -> pendingRows() == rows, position() unchanged;  commit(n) keeps the first n of
//   them.
//
// The KDA state is left as it was before the step and the rows' (k, v, g, beta) are kept; the
// accepted ones are folded in at the start of the next step, so each step reads and writes the
// state once.
#pragma once

#include "engine/api/error.h"
#include "engine/state/kda_state.h"
#include "engine/state/kv_cache.h"
#include "kernels/common/step.h"
#include "kernels/common/stream.h"

#include <cstdint>
#include <span>
#include <vector>

namespace firesteel::engine {

// Rows a sequence may have in one decode or verification step: the last accepted token and eight
// drafts.
inline constexpr int kMaxDecodeRows = kernels::kMaxSequenceRows;

class SequenceState
{
public:
    // The stream is the one that the buffers lie on, and must outlive the sequence.
    SequenceState(int contextTokens, std::vector<KdaState> kda, std::vector<KvCache> mla,
                  kernels::Stream &stream);

    int contextTokens() const { return m_contextTokens; }
    int position() const { return static_cast<int>(m_tokens.size()); } // committed tokens
    std::span<const std::int32_t> tokens() const { return m_tokens; }
    int pendingRows() const { return static_cast<int>(m_pending.size()); }
    // Committed rows of the last decode step that the KDA states lack.
    int recordedRows() const { return m_recordedRows; }

    // Keeps the first `rows` pending rows (0..pendingRows()) and drops the others.
    void commit(int rows);

    // The part of the state that cannot be recomputed by truncation, at position(). No rows may be
    // pending.
    struct Snapshot
    {
        std::vector<std::int32_t> tokens;
        int recordedRows = 0;
        std::vector<KdaState> kda;
        std::vector<IndexTail> tails;
        std::uint64_t bytes() const;
    };
    Snapshot snapshot() const;
    // The same in the memory of one that is no longer needed.
    Snapshot snapshotInto(Snapshot storage) const;
    std::uint64_t snapshotBytes() const; // of one taken now

    // Back to a snapshot of this sequence or of one it was forked from, provided that its tokens
    // are a prefix of this sequence's. Errors: BadRequest.
    Result<void> restore(const Snapshot &snapshot);

    // Becomes what `snapshot` was taken of, a sequence with this context whose tokens still begin
    // so; that one's latents are copied.
    void adopt(const SequenceState &source, const Snapshot &snapshot);

    // An independent copy. No rows may be pending.
    SequenceState fork() const;

    std::uint64_t bytes() const;

    // Back to no tokens. Keeps the memory.
    void clear();

    // For Model only.
    void appendCommitted(std::span<const std::int32_t> tokens);
    void setPending(std::span<const std::int32_t> tokens);
    KdaState &kda(int index) { return m_kda[static_cast<std::size_t>(index)]; }
    KvCache &mla(int index) { return m_mla[static_cast<std::size_t>(index)]; }

private:
    void restoreRecurrent(const Snapshot &snapshot);

    int m_contextTokens = 0;
    kernels::Stream *m_stream;
    int m_recordedRows = 0;
    std::vector<std::int32_t> m_tokens;
    std::vector<std::int32_t> m_pending;
    std::vector<KdaState> m_kda; // per KDA layer
    std::vector<KvCache> m_mla; // per MLA layer
};

} // namespace firesteel::engine
