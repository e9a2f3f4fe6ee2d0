// SPDX-License-Identifier: MIT
//
// What kda.cpp chooses between. Same contracts as the launchers of kda.h.
#pragma once

#include "kernels/kda/kda.h"

namespace firesteel::kernels::reference {

void kdaPrepare(std::span<float> u, std::span<float> g, std::span<float> beta,
                std::span<const float> z, std::span<const float> conv,
                std::span<const float> dtBias, std::span<const float> aLog,
                std::span<const KdaSlot> slots, const Step &step, RowClass rowClass,
                const KdaShape &shape, ThreadPool &pool);
void kdaDecode(std::span<float> o, std::span<const float> u, std::span<const float> g,
               std::span<const float> beta, std::span<const KdaSlot> slots, const Step &step,
               const KdaShape &shape, ThreadPool &pool);
void kdaPrefill(std::span<float> o, std::span<const float> u, std::span<const float> g,
                std::span<const float> beta, std::span<const KdaSlot> slots, const Step &step,
                const KdaShape &shape, ThreadPool &pool);
void kdaFinish(std::span<float> y, std::span<const float> o, std::span<const float> gate,
               std::span<const float> weight, float eps, std::span<const float> u,
               std::span<const float> g, std::span<const float> beta,
               std::span<const KdaSlot> slots, const Step &step, RowClass rowClass,
               const KdaShape &shape, ThreadPool &pool);

} // namespace firesteel::kernels::reference

namespace firesteel::kernels::cuda {

// kda_prepare.cu
void kdaPrepare(std::span<float> u, std::span<float> g, std::span<float> beta,
                std::span<const float> z, std::span<const float> conv,
                std::span<const float> dtBias, std::span<const float> aLog,
                std::span<const KdaSlot> slots, const Step &step, RowClass rowClass,
                const KdaShape &shape, CudaQueue &queue);
// kda_decode.cu
void kdaDecode(std::span<float> o, std::span<const float> u, std::span<const float> g,
               std::span<const float> beta, std::span<const KdaSlot> slots, const Step &step,
               const KdaShape &shape, CudaQueue &queue);
// The recorded rows alone.
void kdaApplyRecords(std::span<const KdaSlot> slots, const Step &step, const KdaShape &shape,
                     CudaQueue &queue);
// kda_prefill.cu
std::size_t kdaPrefillScratchBytes(const KdaShape &shape, std::int64_t rows);
void kdaPrefill(std::span<float> o, std::span<const float> u, std::span<const float> g,
                std::span<const float> beta, std::span<const KdaSlot> slots, const Step &step,
                const KdaShape &shape, std::span<std::byte> scratch, CudaQueue &queue);
// kda_finish.cu
void kdaFinish(std::span<float> y, std::span<const float> o, std::span<const float> gate,
               std::span<const float> weight, float eps, std::span<const float> u,
               std::span<const float> g, std::span<const float> beta,
               std::span<const KdaSlot> slots, const Step &step, RowClass rowClass,
               const KdaShape &shape, CudaQueue &queue);

} // namespace firesteel::kernels::cuda
