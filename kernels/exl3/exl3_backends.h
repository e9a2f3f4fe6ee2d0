// SPDX-License-Identifier: MIT
//
// What exl3.cpp chooses between. Same contracts as the launchers of exl3.h.
#pragma once

#include "kernels/exl3/exl3.h"

namespace firesteel::kernels::reference {

void exl3Reconstruct(std::span<std::uint16_t> inner, const Exl3Matrix &m, ThreadPool &pool);
void exl3Rotate(std::span<std::uint16_t> rotated, std::span<const float> x, const Exl3Matrix &m,
                std::int64_t rows, ThreadPool &pool);
std::size_t exl3LinearScratchBytes(const Exl3Matrix &m, std::int64_t rows);
void exl3Linear(std::span<float> y, std::span<const float> x, const Exl3Matrix &m,
                std::int64_t rows, const Exl3Scratch &scratch, ThreadPool &pool);
std::size_t exl3ExpertsScratchBytes(const Exl3MoeShape &shape, std::int64_t rows);
void exl3Experts(std::span<float> y, std::span<const float> x,
                 std::span<const std::int32_t> experts, std::span<const float> weights,
                 std::span<const Exl3Expert> table, const Exl3MoeShape &shape, std::int64_t rows,
                 const Exl3Scratch &scratch, ThreadPool &pool);

} // namespace firesteel::kernels::reference

namespace firesteel::kernels::cuda {

void exl3Reconstruct(std::span<std::uint16_t> inner, const Exl3Matrix &m, CudaQueue &queue);
void exl3Rotate(std::span<std::uint16_t> rotated, std::span<const float> x, const Exl3Matrix &m,
                std::int64_t rows, CudaQueue &queue);

// Decode class: exl3_decode_linear.cu, exl3_decode_experts.cu.
std::size_t exl3DecodeLinearScratchBytes(const Exl3Matrix &m, std::int64_t rows);
void exl3DecodeLinear(std::span<float> y, std::span<const float> x, const Exl3Matrix &m,
                      std::int64_t rows, const Exl3Scratch &scratch, CudaQueue &queue);
std::size_t exl3DecodeExpertsScratchBytes(const Exl3MoeShape &shape, std::int64_t rows);
void exl3DecodeExperts(std::span<float> y, std::span<const float> x,
                       std::span<const std::int32_t> experts, std::span<const float> weights,
                       std::span<const Exl3Expert> table, const Exl3MoeShape &shape,
                       std::int64_t rows, const Exl3Scratch &scratch, CudaQueue &queue);

// Prefill class: exl3_prefill_linear.cu, exl3_prefill_experts.cu.
std::size_t exl3PrefillLinearScratchBytes(const Exl3Matrix &m, std::int64_t rows);
void exl3PrefillLinear(std::span<float> y, std::span<const float> x, const Exl3Matrix &m,
                       std::int64_t rows, const Exl3Scratch &scratch, CudaQueue &queue);
std::size_t exl3PrefillExpertsScratchBytes(const Exl3MoeShape &shape, std::int64_t rows);
void exl3PrefillExperts(std::span<float> y, std::span<const float> x,
                        std::span<const std::int32_t> experts, std::span<const float> weights,
                        std::span<const Exl3Expert> table, const Exl3MoeShape &shape,
                        std::int64_t rows, const Exl3Scratch &scratch, CudaQueue &queue);

} // namespace firesteel::kernels::cuda
