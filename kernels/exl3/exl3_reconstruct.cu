// SPDX-License-Identifier: MIT
//
// What      inner = C, the decoded matrix in the rotated basis
// Layout    trellis [in/16, out/16, 16 * rate] 16-bit words; inner [in, out] F16 row-major
// Limits    any rate 1..8 and codebook, chosen at run time; in, out multiples of 128
// Traffic   in * out * (rate / 8 + 2) bytes
// Plan      one warp decodes a tile, eight of them 16 rows of 128 columns, collected in shared
// memory
//           so that whole lines are written. For tests and for products that are not worth a kernel
//           of their own.
// Measured  not measured
#include "kernels/common/cuda_queue.cuh"
#include "kernels/exl3/exl3_backends.h"
#include "kernels/exl3/exl3_codec.cuh"

namespace firesteel::kernels::cuda {

namespace {

constexpr int kTilesPerBlock = kExl3Block / kExl3Tile;

__global__ void __launch_bounds__(32 * kTilesPerBlock)
    exl3_reconstruct_kernel(std::uint16_t *inner, Exl3Matrix m)
{
    __shared__ __align__(16) std::uint16_t strip[kExl3Tile][kExl3Block];
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int warp = static_cast<int>(threadIdx.x) / 32;
    const std::size_t tileIndex = static_cast<std::size_t>(blockIdx.y) * (m.out / kExl3Tile)
        + blockIdx.x * kTilesPerBlock + warp;
    const auto *tile = reinterpret_cast<const std::uint32_t *>(m.trellis) + tileIndex * 8 * m.rate;
#pragma unroll
    for (int j = 0; j < 8; j += 2) {
        const std::uint32_t pair
            = exl3DecodePair(m.codebook, exl3StateTwice(tile, m.rate, 8 * lane + j),
                             exl3StateTwice(tile, m.rate, 8 * lane + j + 1));
        const int row = 2 * (lane % 4) + 4 * (j & 2);
        const int column = warp * kExl3Tile + lane / 4 + 2 * (j & 4);
        strip[row][column] = static_cast<std::uint16_t>(pair);
        strip[row + 1][column] = static_cast<std::uint16_t>(pair >> 16);
    }
    __syncthreads();
    const int row = static_cast<int>(threadIdx.x) / 16;
    const int column = static_cast<int>(threadIdx.x) % 16 * 8;
    std::uint16_t *target = inner + (static_cast<std::size_t>(blockIdx.y) * kExl3Tile + row) * m.out
        + blockIdx.x * kExl3Block + column;
    *reinterpret_cast<uint4 *>(target) = *reinterpret_cast<const uint4 *>(&strip[row][column]);
}

} // namespace

//------------------------------------------------------------------------------------------------

void exl3Reconstruct(std::span<std::uint16_t> inner, const Exl3Matrix &m, CudaQueue &queue)
{
    const dim3 grid(static_cast<unsigned>(m.out / kExl3Block),
                    static_cast<unsigned>(m.in / kExl3Tile));
    exl3_reconstruct_kernel<<<grid, 32 * kTilesPerBlock, 0, queue.stream()>>>(inner.data(), m);
    checkLaunch("exl3_reconstruct_kernel");
}

} // namespace firesteel::kernels::cuda
