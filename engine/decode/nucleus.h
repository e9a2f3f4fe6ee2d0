// SPDX-License-Identifier: MIT
//
// Logits -> the weights a token is drawn with: temperature, top-k, top-p and min-p. All three cuts
// keep a prefix of the ids ordered by falling logit (the lower id first where logits are equal), so
// a cut is one (gap, id) pair, and it is found with a histogram over the gaps instead of a sort: at
// 154,880 ids only the ids of one bin are ever ordered. Used by Sampler.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace firesteel::engine {

// The weight exp(-distance) that Nucleus gives an id. Relative error below 3e-7; 0 from 87 on.
// distance >= 0 or infinity.
void expNegative(std::span<const float> distance, std::span<float> weights);

struct NucleusParams
{
    float temperature = 1.0F; // > 0
    int topK = 0; // 0: off
    float topP = 1.0F;
    float minP = 0.0F;
};

class Nucleus
{
public:
    // logits: finite or -infinity (banned); used as scratch. `largest`: their maximum, finite.
    // Returns the unnormalised weight of each id, 1 for the likeliest, 0 for the ones cut; valid
    // until the next call. top-p applies to the distribution that top-k left, min-p to the
    // likeliest id. Allocates in its first call only.
    std::span<const float> weights(std::span<float> logits, float largest,
                                   const NucleusParams &params);

private:
    struct Bin
    {
        std::int64_t count = 0;
        double mass = 0;
    };
    struct Candidate
    {
        float gap = 0; // largest logit - logit
        float weight = 0;
        std::int32_t id = 0;
    };
    // The last id that is kept, and the mass of the kept ones.
    struct Cut
    {
        float gap = 0;
        std::int32_t id = 0;
        double mass = 0;
        bool keepsAll = true;
    };

    void weigh(std::span<float> logits, float largest, float temperature, bool needsBins);
    Cut cutAtCount(std::span<const float> gaps, float temperature, std::int64_t count);
    Cut cutAtMass(std::span<const float> gaps, float temperature, double mass);
    void gather(std::span<const float> gaps, float temperature, std::size_t bin);

    std::vector<float> m_weights;
    std::vector<Bin> m_bins;
    std::vector<Candidate> m_candidates; // of one bin
};

} // namespace firesteel::engine
