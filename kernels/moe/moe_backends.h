// SPDX-License-Identifier: MIT
//
// What moe.cpp chooses between. Same contracts as the launchers of moe.h.
#pragma once

#include "kernels/moe/moe.h"

namespace firesteel::kernels::reference {

void swiglu(std::span<float> y, std::span<const float> gate, std::span<const float> up, float limit,
            ThreadPool &pool);
void moeRouter(std::span<std::int32_t> experts, std::span<float> weights,
               std::span<const float> logits, std::span<const float> bias, const MoeShape &shape,
               std::int64_t rows);
void moeExperts(std::span<float> y, std::span<const float> x, std::span<const std::int32_t> experts,
                std::span<const float> weights, std::span<const ExpertWeights> table,
                const MoeScratch &scratch, const MoeShape &shape, std::int64_t rows,
                ThreadPool &pool);

} // namespace firesteel::kernels::reference

namespace firesteel::kernels::cuda {

void swiglu(std::span<float> y, std::span<const float> gate, std::span<const float> up, float limit,
            CudaQueue &queue);
void moeRouter(std::span<std::int32_t> experts, std::span<float> weights,
               std::span<const float> logits, std::span<const float> bias, const MoeShape &shape,
               std::int64_t rows, CudaQueue &queue);
void moeExperts(std::span<float> y, std::span<const float> x, std::span<const std::int32_t> experts,
                std::span<const float> weights, std::span<const ExpertWeights> table,
                const MoeScratch &scratch, const MoeShape &shape, std::int64_t rows,
                CudaQueue &queue);

} // namespace firesteel::kernels::cuda
