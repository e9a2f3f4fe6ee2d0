// SPDX-License-Identifier: MIT
//
// Logits of one row -> one token id. The order of operations is fixed: mask, bias, penalties, temperature, top-k, top-p, min-p,
// then a draw from a counter-based generator keyed by (seed, position), so that the token at a position depends on neither
// the batch nor on how many rows were verified with it.
#pragma once

#include "engine/api/request.h"

#include <cstdint>
#include <span>
#include <vector>

namespace firesteel::engine {

// One bit per id, 1 = allowed; 64 ids per word. Empty: everything is allowed.
using TokenMask = std::span<const std::uint64_t>;

class Sampler
{
public:
    // `mapped`: ids that may ever be sampled (Tokenizer::isMapped). `seed` is the resolved one.
    Sampler(SamplingParams params, std::vector<bool> mapped, std::uint64_t seed);

    // Token history for the penalties. Prompt tokens count for the repetition penalty only.
    void addPrompt(std::span<const std::int32_t> tokens);
    void accept(std::int32_t token);

    // logits: [vocabulary], used as scratch. position: absolute position of the token being sampled.
    // Throws std::logic_error if no id is allowed.
    std::int32_t sample(std::span<float> logits, std::uint64_t position, TokenMask mask = {});

private:
    SamplingParams m_params;
    std::vector<bool> m_mapped;
    std::uint64_t m_seed = 0;
};

} // namespace firesteel::engine
