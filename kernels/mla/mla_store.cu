// SPDX-License-Identifier: MIT
//
// What      a step's rows into the caches: latents; pooled index keys and the tails they come from
// Layout    latent [rows, 512], key, gate [rows, 128] float32; latents [context, 512], pooledKeys
//           [context / 4, 128] BF16; tails [32, 128] float32
// Traffic   a row: 2048 + 1024 bytes of latents; 1024 bytes of key and gate, 1024 of the tail, and
//           256 a pool
// Plan      A block a row of latents. A block a pool, a thread a channel, which also records the
//           four rows that share its number. New rows may take the tail places that the first pool
//           still reads, once there are more than 29: then the tails are a launch of their own.
// Measured  not measured
#include "kernels/common/cuda_queue.cuh"
#include "kernels/mla/mla_backends.h"
#include "kernels/mla/mla_device.cuh"

#include <algorithm>

namespace firesteel::kernels::cuda {

namespace {

constexpr int kStoreThreads = kLatentDim / 4;
// A pool reads at most kIndexPool - 1 rows before the step's first.
constexpr std::int64_t kRowsBesideTail = kIndexTailRows - (kIndexPool - 1);

__global__ void __launch_bounds__(kStoreThreads)
    mla_store_kernel(const MlaSlot *slots, const float *latent, const StepSequence *sequences,
                     const std::int32_t *sequenceOf)
{
    cudaGridDependencySynchronize();
    const std::int64_t row = blockIdx.x;
    const std::int32_t index = sequenceOf[row];
    const float4 values = reinterpret_cast<const float4 *>(latent + row * kLatentDim)[threadIdx.x];
    auto *to = static_cast<std::uint16_t *>(slots[index].latents)
        + positionOf(sequences[index], row) * kLatentDim;
    reinterpret_cast<uint2 *>(to)[threadIdx.x]
        = make_uint2(roundToBf16(values.x, values.y), roundToBf16(values.z, values.w));
}

struct PoolArguments
{
    const MlaSlot *slots;
    const float *key, *gate, *ape;
    const StepSequence *sequences;
    bool writesPools, writesTails;
};

__global__ void __launch_bounds__(kIndexDim) index_pool_kernel(const PoolArguments arguments)
{
    cudaGridDependencySynchronize();
    const StepSequence sequence = arguments.sequences[blockIdx.y];
    const MlaSlot slot = arguments.slots[blockIdx.y];
    const int c = static_cast<int>(threadIdx.x);
    const std::int64_t first = sequence.firstPosition;
    const std::int64_t end = first + sequence.rows;
    const float *key = arguments.key + std::int64_t { sequence.firstRow } * kIndexDim + c;
    const float *gate = arguments.gate + std::int64_t { sequence.firstRow } * kIndexDim + c;

    const std::int64_t pool = first / kIndexPool + blockIdx.x;
    if (arguments.writesPools && (pool + 1) * kIndexPool <= end) {
        float logits[kIndexPool];
        float keys[kIndexPool];
        float top = -INFINITY;
#pragma unroll
        for (int j = 0; j < kIndexPool; ++j) {
            const std::int64_t position = pool * kIndexPool + j;
            const std::int64_t kept = position % kIndexTailRows * kIndexDim + c;
            const bool isFresh = position >= first;
            const std::int64_t fresh = (position - first) * kIndexDim;
            logits[j]
                = (isFresh ? gate[fresh] : slot.tailGate[kept]) + arguments.ape[j * kIndexDim + c];
            keys[j] = isFresh ? key[fresh] : slot.tailKey[kept];
            top = fmaxf(top, logits[j]);
        }
        float sum = 0;
        float weighted = 0;
#pragma unroll
        for (int j = 0; j < kIndexPool; ++j) {
            const float weight = expf(logits[j] - top);
            sum += weight;
            weighted = fmaf(weight, keys[j], weighted);
        }
        static_cast<__nv_bfloat16 *>(slot.pooledKeys)[pool * kIndexDim + c]
            = __float2bfloat16_rn(weighted / sum);
    }
    if (!arguments.writesTails)
        return;
#pragma unroll
    for (int j = 0; j < kIndexPool; ++j) {
        const std::int64_t position = first + std::int64_t { blockIdx.x } * kIndexPool + j;
        if (position >= end || position < end - kIndexTailRows)
            continue;
        const std::int64_t kept = position % kIndexTailRows * kIndexDim + c;
        slot.tailKey[kept] = key[(position - first) * kIndexDim];
        slot.tailGate[kept] = gate[(position - first) * kIndexDim];
    }
}

} // namespace

//------------------------------------------------------------------------------------------------

void mlaStore(std::span<const MlaSlot> slots, std::span<const float> latent,
              const MlaShape & /*shape*/, const Step &step, CudaQueue &queue)
{
    if (step.rows == 0)
        return;
    launchAhead(mla_store_kernel, dim3(static_cast<unsigned>(step.rows)), kStoreThreads, 0, queue,
                "mla_store_kernel", slots.data(), latent.data(), step.sequences.data(),
                step.sequenceOf.data());
}

void indexPool(std::span<const MlaSlot> slots, std::span<const float> key,
               std::span<const float> gate, std::span<const float> ape,
               const IndexShape & /*shape*/, const Step &step, CudaQueue &queue)
{
    if (step.rows == 0)
        return;
    const std::int64_t mostRows = std::min(step.mostRows, step.rows);
    // Enough for the pools that so many rows complete, and for four rows each.
    const dim3 grid(static_cast<unsigned>(mostRows / kIndexPool + 1),
                    static_cast<unsigned>(step.sequences.size()));
    const auto launch = [&](bool writesPools, bool writesTails) {
        launchAhead(index_pool_kernel, grid, kIndexDim, 0, queue, "index_pool_kernel",
                    PoolArguments { slots.data(), key.data(), gate.data(), ape.data(),
                                    step.sequences.data(), writesPools, writesTails });
    };
    if (mostRows <= kRowsBesideTail)
        return launch(true, true);
    launch(true, false);
    launch(false, true);
}

} // namespace firesteel::kernels::cuda
