// SPDX-License-Identifier: MIT
//
// What      y = x W + bias for the prefill class: any number of rows
// Layout    x, y float32 row-major; trellis as stored; x rotated to F16 [rows, in] in scratch
// Plan      persistent, one block per multiprocessor with two tiles of 128 rows x 128 columns at
//           a time (exl3_prefill_pipeline.cuh), so that one multiplies while the other finishes. A
//           tile's columns are one Hadamard block: the epilogue rotates, scales, stores float32.
// Flops     2 * rows * in * out, and the decoding of every weight once per 128 rows
// Traffic   from L2, per tile: 256 * in bytes of x and 16 * rate * in bytes of trellis; tiles are
//           walked in groups of 8 row tiles, whose x stays there
// Limits    in, out multiples of 128; fast for MUL1 at rates 2 to 6, any other by the same loop
//           with a decoder that takes the rate at run time
// Flight    two steps of 32 k per tile ahead of the products: 32 KB of x and 2 KB * rate of
//           trellis a multiprocessor; 224 registers
// Measured  H200 limited to 48 multiprocessors, the model's shapes at 2048 rows: 97 to 127 TFLOP/s,
//           42 to 55 % of what mma.sync reaches there (512 columns: 30 %; docs/kernels.md)
#include "kernels/common/cuda_queue.cuh"
#include "kernels/exl3/exl3_backends.h"
#include "kernels/exl3/exl3_prefill.h"
#include "kernels/exl3/exl3_prefill_epilogue.cuh"

namespace firesteel::kernels::cuda {

namespace {

constexpr std::int64_t kRasterRows = 8;
constexpr int kRotateThreads = 256;

struct LinearWork
{
    Exl3Matrix m;
    Panels x; // rotated
    float *y;
    std::int64_t rows;
    std::int64_t firstItem; // of this launch
    std::int32_t itemCount;

    struct Place
    {
        std::int64_t firstRow;
        std::int32_t rows;
        std::int64_t block;
    };
    __device__ Place place(int item) const
    {
        const std::int64_t rasterItems = kRasterRows * (m.out / kTileColumns);
        const std::int64_t index = firstItem + item;
        const std::int64_t firstRowTile = index / rasterItems * kRasterRows;
        const std::int64_t inRaster = index % rasterItems;
        const std::int64_t left = (rows + kTileRows - 1) / kTileRows - firstRowTile;
        const std::int64_t rasterRows = left < kRasterRows ? left : kRasterRows;
        const std::int64_t firstRow = (firstRowTile + inRaster % rasterRows) * kTileRows;
        return { firstRow,
                 static_cast<std::int32_t>(rows - firstRow < kTileRows ? rows - firstRow
                                                                       : kTileRows),
                 inRaster / rasterRows };
    }

    __device__ ItemRange items(int side) const { return itemsOfSide(side, itemCount); }
    __device__ Tile tile(int item, int /*side*/) const
    {
        const Place p = place(item);
        return { x, p.firstRow, p.rows, m.trellis + p.block * kTileColumns * m.rate };
    }
    __device__ Output output(int item) const
    {
        const Place p = place(item);
        const std::int64_t column = p.block * kTileColumns;
        return { y + p.firstRow * m.out + column, m.out, m.svh + column,
                 m.bias == nullptr ? nullptr : m.bias + column };
    }
};

__global__ void __launch_bounds__(kBlockThreads, 1)
    exl3_prefill_linear_kernel(const __grid_constant__ LinearWork work,
                               const __grid_constant__ Geometry geometry)
{
    extern __shared__ __align__(128) unsigned char shared[];
    multiplyItems(work, geometry, shared);
}

// Eight lanes per block of 128 columns; a warp has four rows of a block.
__global__ void __launch_bounds__(kRotateThreads)
    exl3_prefill_rotate_kernel(Panels rotated, const float *x, const std::uint16_t *suh, int in)
{
    const std::int64_t row
        = static_cast<std::int64_t>(blockIdx.x) * (kRotateThreads / 8) + threadIdx.x / 8;
    const bool isRow = row < rotated.rows;
    const int column = static_cast<int>(blockIdx.y) * kExl3Block;
    RowPart values;
    loadRowPart(values, x + (isRow ? row : rotated.rows - 1) * in + column);
    rotateAndStore(rotated, row, column, values, suh + column, isRow);
}

} // namespace

//------------------------------------------------------------------------------------------------

std::size_t exl3PrefillLinearScratchBytes(const Exl3Matrix &m, std::int64_t rows)
{
    ScratchWalk walk;
    walk.take<std::uint16_t>(rows * m.in);
    return walk.used();
}

void exl3PrefillLinear(std::span<float> y, std::span<const float> x, const Exl3Matrix &m,
                       std::int64_t rows, const Exl3Scratch &scratch, CudaQueue &queue)
{
    const Panels rotated { ScratchWalk(scratch).take<std::uint16_t>(rows * m.in), rows };
    const dim3 grid(static_cast<unsigned>((rows * 8 + kRotateThreads - 1) / kRotateThreads),
                    static_cast<unsigned>(m.in / kExl3Block));
    exl3_prefill_rotate_kernel<<<grid, kRotateThreads, 0, queue.stream()>>>(rotated, x.data(),
                                                                            m.suh, m.in);
    checkLaunch("exl3_prefill_rotate_kernel");

    checkCuda(cudaFuncSetAttribute(exl3_prefill_linear_kernel,
                                   cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes),
              "cudaFuncSetAttribute");
    const Geometry geometry { m.in, m.out / kExl3Tile, { m.rate, m.rate }, m.codebook };
    const std::int64_t items = (rows + kTileRows - 1) / kTileRows * (m.out / kTileColumns);
    const std::int64_t atOnce
        = itemsPerLaunch(kLaunchFlopsOfMultiprocessor * queue.multiprocessors(),
                         std::int64_t { 2 } * kTileRows * kTileColumns * m.in);
    for (std::int64_t first = 0; first < items; first += atOnce) {
        const std::int64_t count = std::min(atOnce, items - first);
        const std::int64_t blocks
            = std::min<std::int64_t>(queue.multiprocessors(), (count + kSides - 1) / kSides);
        exl3_prefill_linear_kernel<<<static_cast<unsigned>(blocks), kBlockThreads, kSharedBytes,
                                     queue.stream()>>>(
            { m, rotated, y.data(), rows, first, static_cast<std::int32_t>(count) }, geometry);
        checkLaunch("exl3_prefill_linear_kernel");
    }
}

} // namespace firesteel::kernels::cuda
