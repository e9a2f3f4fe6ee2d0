// SPDX-License-Identifier: MIT
//
// The activation between an MLP's projections, eight lanes at a time; shared by every CPU kernel
// that fuses it.
#pragma once

#include "kernels/common/simd.h"

namespace firesteel::kernels {

// silu(min(gate, limit)) * clamp(up, -limit, limit)
FIRESTEEL_INLINE Vec8 clampedSwiglu8(Vec8 gate, Vec8 up, float limit)
{
    gate = gate > splat(limit) ? splat(limit) : gate;
    up = up > splat(limit) ? splat(limit) : up;
    up = up < splat(-limit) ? splat(-limit) : up;
    return gate / (splat(1.0F) + exp8(-gate)) * up;
}

} // namespace firesteel::kernels
