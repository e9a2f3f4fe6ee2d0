// SPDX-License-Identifier: MIT
//
// What      rotated[t] = F16( (x[t] * suh) H )
// Layout    x [rows, in] float32; rotated [rows, in] F16
// Traffic   rows * in * 6 bytes, and the scales
// Plan      one warp per 128-block and row: a lane holds four elements, 16-byte loads, 8-byte
// stores Measured  not measured
#include "kernels/common/cuda_queue.cuh"
#include "kernels/exl3/exl3_backends.h"
#include "kernels/exl3/exl3_hadamard.cuh"

namespace firesteel::kernels::cuda {

namespace {

constexpr int kWarps = 4;

__global__ void __launch_bounds__(32 * kWarps)
    exl3_rotate_kernel(std::uint16_t *rotated, const float *x, const std::uint16_t *suh,
                       std::int64_t blocks, std::int64_t blocksPerRow)
{
    const std::int64_t block = static_cast<std::int64_t>(blockIdx.x) * kWarps + threadIdx.x / 32;
    if (block >= blocks)
        return;
    const std::int64_t index = block * 32 + threadIdx.x % 32;
    reinterpret_cast<uint2 *>(rotated)[index] = exl3RotateInput(
        reinterpret_cast<const float4 *>(x)[index], suh + block % blocksPerRow * kExl3Block);
}

} // namespace

//------------------------------------------------------------------------------------------------

void exl3Rotate(std::span<std::uint16_t> rotated, std::span<const float> x, const Exl3Matrix &m,
                std::int64_t rows, CudaQueue &queue)
{
    const std::int64_t blocksPerRow = m.in / kExl3Block;
    const std::int64_t blocks = rows * blocksPerRow;
    exl3_rotate_kernel<<<static_cast<unsigned>((blocks + kWarps - 1) / kWarps), 32 * kWarps, 0,
                         queue.stream()>>>(rotated.data(), x.data(), m.suh, blocks, blocksPerRow);
    checkLaunch("exl3_rotate_kernel");
}

} // namespace firesteel::kernels::cuda
