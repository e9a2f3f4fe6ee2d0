// SPDX-License-Identifier: MIT
//
// Row normalisations in float32.
#pragma once

#include "kernels/common/stream.h"

#include <cstdint>
#include <span>

namespace firesteel::kernels {

// y[t, :] = x[t, :] / sqrt(mean(x[t, :]^2) + eps) * weight.  y and x [rows, weight.size()], may be
// the same buffer.
void launchRmsNorm(std::span<float> y, std::span<const float> x, std::span<const float> weight,
                   float eps, std::int64_t rows, Stream &stream);

// y[t, :] = (x[t, :] - mean) / sqrt(variance + eps) * weight + bias, variance with divisor n.
void launchLayerNorm(std::span<float> y, std::span<const float> x, std::span<const float> weight,
                     std::span<const float> bias, float eps, std::int64_t rows, Stream &stream);

} // namespace firesteel::kernels
