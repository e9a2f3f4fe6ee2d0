// SPDX-License-Identifier: MIT
//
// Logits of one row -> one token id. The order of operations is fixed: mask, bias, penalties,
// temperature, top-k, top-p, min-p, then a draw from a counter-based generator keyed by (seed,
// position). The token at a position therefore depends on its logits, the history, the seed, the
// position and the mask, and on neither the batch nor on how many rows were verified with it: a
// verifier that samples each row of a draft in turn gets the tokens that plain decoding would have
// got.
#pragma once

#include "engine/api/request.h"
#include "engine/decode/nucleus.h"
#include "engine/decode/token_history.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace firesteel::engine {

// One bit per id, 1 = allowed; 64 ids per word, lowest bit first. Empty: everything is allowed.
using TokenMask = std::span<const std::uint64_t>;

class Sampler
{
public:
    // `mapped`: ids that may ever be sampled (those with a token); must outlive the sampler. `seed`
    // is the resolved one; params.seed is ignored.
    Sampler(SamplingParams params, TokenMask mapped, std::uint64_t seed);

    // Token history for the penalties. Prompt tokens count for the repetition penalty only.
    void addPrompt(std::span<const std::int32_t> tokens);
    void accept(std::int32_t token);
    void undo(int tokens); // takes back the newest accepted ones

    // logits: [vocabulary], used as scratch. position: absolute position of the token being
    // sampled. None where mask and bias leave no id. Allocates in its first call only. Throws
    // std::logic_error if a logit is not finite or a mask is too short.
    std::optional<std::int32_t> sample(std::span<float> logits, std::uint64_t position,
                                       TokenMask mask = {});

private:
    void applyMask(std::span<float> logits, TokenMask mask) const;
    void applyBias(std::span<float> logits) const;
    std::int32_t draw(std::span<const float> weights, std::uint64_t position);

    SamplingParams m_params;
    TokenMask m_mapped;
    std::uint64_t m_seed = 0;
    TokenHistory m_history;
    Nucleus m_nucleus;
    std::vector<double> m_blockSums;
};

} // namespace firesteel::engine
