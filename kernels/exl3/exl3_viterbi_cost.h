// SPDX-License-Identifier: MIT
//
// What the CPU and the CUDA search must agree on bit for bit. Seen by nvcc.
#pragma once

#include <cstdint>

namespace firesteel::kernels {

// The low bits of a cost hold the choice that led to it: one minimum finds both, and equal costs
// go to the lower choice. A cost loses 2^rate units in the last place by that.
template <int kRate> inline constexpr std::uint32_t kViterbiChoiceMask = (1U << kRate) - 1;

// Costs before the first step: of a node that a path may begin in (above zero, so that a cost with
// its choice is never subnormal), and of one it may not (so large that a tile's costs vanish
// beside it, and finite, so that its bits stay a number with a choice in them).
inline constexpr float kViterbiStart = 0x1p-20F;
inline constexpr float kViterbiFar = 0x1p100F;

} // namespace firesteel::kernels
