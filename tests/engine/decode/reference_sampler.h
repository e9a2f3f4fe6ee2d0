// SPDX-License-Identifier: MIT
//
// Sampling as it is defined, in double precision with a full sort: what engine/decode is compared
// against.
#pragma once

#include "engine/api/request.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace firesteel::test {

struct ReferenceHistory
{
    std::vector<std::int32_t> prompt;
    std::vector<std::int32_t> answer;
};

// Probability of each id. `allowed`: by id; empty means all. temperature > 0.
std::vector<double> referenceDistribution(std::span<const float> logits,
                                          const engine::SamplingParams &params,
                                          const ReferenceHistory &history,
                                          const std::vector<bool> &allowed);

// The id whose interval of the cumulated distribution, in id order, holds `uniform`; nothing if a
// border is nearer than `margin`, where rounding may decide either way.
std::optional<std::int32_t> referenceDraw(std::span<const double> distribution, double uniform,
                                          double margin);

} // namespace firesteel::test
