// SPDX-License-Identifier: MIT
//
// What mla.cpp chooses between. Same contracts as the launchers of mla.h.
#pragma once

#include "kernels/mla/mla.h"

namespace firesteel::kernels::reference {

void mlaStore(std::span<const MlaSlot> slots, std::span<const float> latent, const MlaShape &shape,
              const Step &step);
void indexPool(std::span<const MlaSlot> slots, std::span<const float> key,
               std::span<const float> gate, std::span<const float> ape, const IndexShape &shape,
               const Step &step);
std::size_t indexScratchBytes(const IndexShape &shape, std::int64_t rows,
                              std::int64_t longestContext);
void indexSelect(const Selection &selection, std::span<std::byte> scratch,
                 std::span<const float> query, std::span<const float> weights,
                 std::span<const MlaSlot> slots, const IndexShape &shape, const Step &step,
                 ThreadPool &pool);
void mlaAbsorbQuery(std::span<float> absorbed, std::span<const float> query, const Matrix &kvB,
                    const MlaShape &shape, std::int64_t rows, ThreadPool &pool);
void mlaAttend(std::span<float> mixed, std::span<const float> absorbed,
               std::span<const MlaSlot> slots, const Selection &selection, const MlaShape &shape,
               const Step &step, ThreadPool &pool);
void mlaExpandValue(std::span<float> out, std::span<const float> mixed, const Matrix &kvB,
                    const MlaShape &shape, std::int64_t rows, ThreadPool &pool);

// The two halves of indexSelect, for consecutive rows of one sequence.
// Scores of the first `pools` pools, -inf for those that are not complete at a row. scores [rows,
// pools].
void indexScores(std::span<float> scores, std::span<const float> query,
                 std::span<const float> weights, std::span<const float> pooledKeys,
                 const IndexShape &shape, std::int64_t firstPosition, std::int64_t rows,
                 std::int64_t pools, ThreadPool &pool);
// `scores` may be empty where every visible token is selected.
void selectBest(const Selection &selection, std::span<const float> scores, const IndexShape &shape,
                std::int64_t firstPosition, std::int64_t rows, std::int64_t pools,
                ThreadPool &pool);

} // namespace firesteel::kernels::reference

namespace firesteel::kernels::cuda {

// mla_store.cu
void mlaStore(std::span<const MlaSlot> slots, std::span<const float> latent, const MlaShape &shape,
              const Step &step, CudaQueue &queue);
void indexPool(std::span<const MlaSlot> slots, std::span<const float> key,
               std::span<const float> gate, std::span<const float> ape, const IndexShape &shape,
               const Step &step, CudaQueue &queue);

// index_score.cu, index_select.cu
std::size_t indexScratchBytes(const IndexShape &shape, std::int64_t rows,
                              std::int64_t longestContext);
void indexSelect(const Selection &selection, std::span<std::byte> scratch,
                 std::span<const float> query, std::span<const float> weights,
                 std::span<const MlaSlot> slots, const IndexShape &shape, const Step &step,
                 CudaQueue &queue);

// mla_attend.cu
std::size_t attendScratchBytes(const MlaShape &shape, std::int64_t maxSelected, std::int64_t rows,
                               RowClass rowClass);
void mlaAttend(std::span<float> mixed, std::span<const float> absorbed,
               std::span<const MlaSlot> slots, const Selection &selection,
               std::span<std::byte> scratch, const MlaShape &shape, const Step &step,
               RowClass rowClass, CudaQueue &queue);

// mla_project_decode.cu
void mlaAbsorbQueryDecode(std::span<float> absorbed, std::span<const float> query,
                          const Matrix &kvB, const MlaShape &shape, std::int64_t rows,
                          CudaQueue &queue);
void mlaExpandValueDecode(std::span<float> out, std::span<const float> mixed, const Matrix &kvB,
                          const MlaShape &shape, std::int64_t rows, CudaQueue &queue);

// mla_project_prefill.cu
void mlaAbsorbQueryPrefill(std::span<float> absorbed, std::span<const float> query,
                           const Matrix &kvB, const MlaShape &shape, std::int64_t rows,
                           CudaQueue &queue);
void mlaExpandValuePrefill(std::span<float> out, std::span<const float> mixed, const Matrix &kvB,
                           const MlaShape &shape, std::int64_t rows, CudaQueue &queue);

} // namespace firesteel::kernels::cuda
