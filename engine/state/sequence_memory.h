// SPDX-License-Identifier: MIT
//
// What one sequence of a given context length allocates, by part. Known before anything is
// allocated; SequenceState::bytes() equals total().
#pragma once

#include "engine/checkpoint/model_shape.h"
#include "kernels/common/tensor.h"

#include <cstdint>

namespace firesteel::engine {

struct SequenceMemory
{
    std::uint64_t latents = 0; // MLA layers, contextTokens x kv_lora_rank
    std::uint64_t pooledKeys = 0; // layers with an indexer, one key per pool of tokens
    std::uint64_t indexTails = 0;
    std::uint64_t kdaState = 0;
    std::uint64_t kdaWindow = 0;
    std::uint64_t kdaRecords = 0; // rows of one verification step
    std::uint64_t total() const
    {
        return latents + pooledKeys + indexTails + kdaState + kdaWindow + kdaRecords;
    }
};

// cache: type of latents and pooled keys (kernels::cacheDType). All else is float32.
SequenceMemory sequenceMemory(const ModelShape &shape, int contextTokens, kernels::DType cache);

// What a snapshot of a sequence takes at most, but for its tokens.
std::uint64_t snapshotMemory(const ModelShape &shape);

} // namespace firesteel::engine
