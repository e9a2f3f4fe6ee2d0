// SPDX-License-Identifier: MIT
//
// What linear.cpp chooses between. Same contracts as the launchers of linear.h; yStride is never 0.
#pragma once

#include "kernels/linear/linear.h"

namespace firesteel::kernels::reference {

void linear(const LinearPart &part, std::int64_t rows, ThreadPool &pool);
void embed(std::span<float> y, std::span<const std::int32_t> ids, const Matrix &table,
           std::int64_t copies);
void copyRows(std::span<float> y, std::int64_t yStride, std::span<const float> x,
              std::int64_t columns, std::int64_t rows);

} // namespace firesteel::kernels::reference

namespace firesteel::kernels::cuda {

void decodeLinears(std::span<const LinearPart> parts, std::int64_t rows, CudaQueue &queue);
void prefillLinear(const LinearPart &part, std::int64_t rows, CudaQueue &queue);
void embed(std::span<float> y, std::span<const std::int32_t> ids, const Matrix &table,
           std::int64_t copies, CudaQueue &queue);
void copyRows(std::span<float> y, std::int64_t yStride, std::span<const float> x,
              std::int64_t columns, std::int64_t rows, CudaQueue &queue);

} // namespace firesteel::kernels::cuda
