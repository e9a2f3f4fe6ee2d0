// SPDX-License-Identifier: MIT
//
// What hyper.cpp chooses between. Same contracts as the launchers of hyper.h; stride is never 0.
#pragma once

#include "kernels/hyper/hyper.h"

namespace firesteel::kernels::reference {

// Mixing coefficients and the collapsed input, before its norm.
void hyperMix(const HyperMixing &mixing, std::span<float> collapsed, std::span<const float> streams,
              const HyperWeights &weights, const HyperShape &shape, std::int64_t rows,
              ThreadPool &pool);
void hyperUpdate(std::span<float> streams, const HyperUpdate &owed, const HyperShape &shape,
                 std::int64_t rows, ThreadPool &pool);
void hyperMean(std::span<float> mean, std::span<const float> streams, const HyperShape &shape,
               std::int64_t rows, std::int64_t stride);

} // namespace firesteel::kernels::reference

namespace firesteel::kernels::cuda {

std::size_t hyperScratchBytes(const HyperShape &shape, std::int64_t rows);
void hyperEnter(std::span<float> input, const HyperMixing &mixing, std::span<float> streams,
                const HyperUpdate &owed, const HyperWeights &weights, std::span<std::byte> scratch,
                const HyperShape &shape, std::int64_t rows, CudaQueue &queue);
void hyperUpdate(std::span<float> streams, const HyperUpdate &owed, const HyperShape &shape,
                 std::int64_t rows, CudaQueue &queue);
void hyperMean(std::span<float> mean, std::span<const float> streams, const HyperShape &shape,
               std::int64_t rows, std::int64_t stride, CudaQueue &queue);

} // namespace firesteel::kernels::cuda
