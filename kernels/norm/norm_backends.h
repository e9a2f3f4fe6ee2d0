// SPDX-License-Identifier: MIT
//
// What norm.cpp chooses between. Same contracts as the launchers of norm.h.
#pragma once

#include "kernels/norm/norm.h"

namespace firesteel::kernels::reference {

void rmsNorm(std::span<float> y, std::span<const float> x, std::span<const float> weight, float eps,
             std::int64_t rows);
void layerNorm(std::span<float> y, std::span<const float> x, std::span<const float> weight,
               std::span<const float> bias, float eps, std::int64_t rows);

} // namespace firesteel::kernels::reference

namespace firesteel::kernels::cuda {

void rmsNorm(std::span<float> y, std::span<const float> x, std::span<const float> weight, float eps,
             std::int64_t rows, CudaQueue &queue);
void layerNorm(std::span<float> y, std::span<const float> x, std::span<const float> weight,
               std::span<const float> bias, float eps, std::int64_t rows, CudaQueue &queue);

} // namespace firesteel::kernels::cuda
