// SPDX-License-Identifier: MIT
//
// Philox4x32-10, the counter-based random generator of Salmon et al., "Parallel random numbers: as
// easy as 1, 2, 3" (SC 2011). Stateless: the same key and counter give the same words on any
// machine, in any order, which is what Sampler needs to draw the token of a position independently
// of its neighbours.
#pragma once

#include <array>
#include <cstdint>

namespace firesteel::engine {

std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter,
                                        std::array<std::uint32_t, 2> key);

// Uniform in [0, 1), 53 bits.
double uniformAt(std::uint64_t seed, std::uint64_t position);

} // namespace firesteel::engine
