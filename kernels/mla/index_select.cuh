// SPDX-License-Identifier: MIT
//
// The two steps of the indexer's selection on the GPU, for a slice of a step's rows.
#pragma once

#include "kernels/common/cuda_queue.cuh"
#include "kernels/mla/mla.h"

#include <cstdint>

namespace firesteel::kernels::cuda {

// Scores of the slice's rows: row r's pool p at scores[(r - firstRow) * stride + p], for the pools
// that are complete at a row which has to choose among them; the others are not written.
struct IndexSlice
{
    float *scores = nullptr;
    std::int64_t stride = 0; // a multiple of 4
    std::int64_t firstRow = 0;
    std::int64_t rows = 0;
};

// queryParts: for indexQueryBytes() a row.
std::size_t indexQueryBytes(const IndexShape &shape);
void indexScore(const IndexSlice &slice, void *queryParts, std::span<const float> query,
                std::span<const float> weights, std::span<const MlaSlot> slots,
                const IndexShape &shape, const Step &step, CudaQueue &queue);

// Without scores where no row of the step drops any token.
void selectBest(const Selection &selection, const IndexSlice &slice, const IndexShape &shape,
                const Step &step, CudaQueue &queue);

} // namespace firesteel::kernels::cuda
