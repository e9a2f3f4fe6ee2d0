// SPDX-License-Identifier: MIT
//
// From sums in registers to rotated rows: a side's results pass through shared memory 32 rows at a
// time (in the last two slots of the ring) and come back with eight lanes per row.
#pragma once

#include "kernels/exl3/exl3_prefill_pipeline.cuh"

namespace firesteel::kernels::cuda {

inline constexpr int kChunkRows = 32;
static_assert(kChunkRows * kTileColumns * 4 == 2 * kActivationBytes);

// Sixteen values of a block of 128 columns: [h][c] is column 64 h + 8 (lane % 8) + c.
using RowPart = float[2][8];

// The block times H, spread over eight neighbouring lanes. Additions in the order of exl3Hadamard,
// so the results are the same bits.
__device__ __forceinline__ void hadamardByEight(RowPart &values)
{
#pragma unroll
    for (int stride = 1; stride < 8; stride *= 2)
#pragma unroll
        for (auto &run : values)
#pragma unroll
            for (int c = 0; c < 8; ++c)
                if ((c & stride) == 0) {
                    const float a = run[c];
                    run[c] = a + run[c + stride];
                    run[c + stride] = a - run[c + stride];
                }
#pragma unroll
    for (unsigned stride = 1; stride < 8; stride *= 2) {
        const bool isUpper = (threadIdx.x & stride) != 0;
#pragma unroll
        for (auto &run : values)
#pragma unroll
            for (float &value : run) {
                const float partner = __shfl_xor_sync(0xFFFFFFFFU, value, static_cast<int>(stride));
                value = (isUpper ? -value : value) + partner;
            }
    }
#pragma unroll
    for (int c = 0; c < 8; ++c) {
        const float a = values[0][c];
        values[0][c] = (a + values[1][c]) * 0.088388347648F;
        values[1][c] = (a - values[1][c]) * 0.088388347648F;
    }
}

__device__ __forceinline__ int rowPartColumn() { return static_cast<int>(threadIdx.x) % 8 * 8; }

// Eight F16 from an address that is a multiple of 16.
__device__ __forceinline__ void loadHalves(float (&values)[8], const std::uint16_t *source)
{
    const uint4 packed = __ldg(reinterpret_cast<const uint4 *>(source));
    const std::uint32_t words[4] = { packed.x, packed.y, packed.z, packed.w };
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        const float2 pair = __half22float2(reinterpret_cast<const __half2 &>(words[i]));
        values[2 * i] = pair.x;
        values[2 * i + 1] = pair.y;
    }
}

// (a row of C's product) H * svh + bias; svh and bias: of the block's first column.
__device__ __forceinline__ void finishOutput(RowPart &values, const std::uint16_t *svh,
                                             const std::uint16_t *bias)
{
    hadamardByEight(values);
#pragma unroll
    for (int h = 0; h < 2; ++h) {
        float scales[8];
        loadHalves(scales, svh + rowPartColumn() + 64 * h);
        float biases[8] = {};
        if (bias != nullptr)
            loadHalves(biases, bias + rowPartColumn() + 64 * h);
#pragma unroll
        for (int c = 0; c < 8; ++c)
            values[h][c] = __fadd_rn(__fmul_rn(values[h][c], scales[c]), biases[c]);
    }
}

// F16( (values * suh) H ), stored by the lanes that `isRow` as a row's columns from `column` on.
// suh: of that column.
__device__ __forceinline__ void rotateAndStore(const Panels &target, std::int64_t row, int column,
                                               RowPart &values, const std::uint16_t *suh,
                                               bool isRow)
{
#pragma unroll
    for (int h = 0; h < 2; ++h) {
        float scales[8];
        loadHalves(scales, suh + rowPartColumn() + 64 * h);
#pragma unroll
        for (int c = 0; c < 8; ++c)
            values[h][c] = __fmul_rn(values[h][c], scales[c]);
    }
    hadamardByEight(values);
    if (!isRow)
        return;
#pragma unroll
    for (int h = 0; h < 2; ++h) {
        __half2 packed[4];
#pragma unroll
        for (int i = 0; i < 4; ++i)
            packed[i] = __floats2half2_rn(values[h][2 * i], values[h][2 * i + 1]);
        *reinterpret_cast<uint4 *>(target.chunk(row, column + rowPartColumn() + 64 * h))
            = reinterpret_cast<const uint4 &>(packed);
    }
}

__device__ __forceinline__ void storeRowPart(float *target, const RowPart &values)
{
#pragma unroll
    for (int h = 0; h < 2; ++h)
#pragma unroll
        for (int c = 0; c < 8; c += 4)
            *reinterpret_cast<float4 *>(target + rowPartColumn() + 64 * h + c)
                = make_float4(values[h][c], values[h][c + 1], values[h][c + 2], values[h][c + 3]);
}

__device__ __forceinline__ void loadRowPart(RowPart &values, const float *source)
{
#pragma unroll
    for (int h = 0; h < 2; ++h)
#pragma unroll
        for (int c = 0; c < 8; c += 4) {
            const float4 four
                = *reinterpret_cast<const float4 *>(source + rowPartColumn() + 64 * h + c);
            values[h][c] = four.x;
            values[h][c + 1] = four.y;
            values[h][c + 2] = four.z;
            values[h][c + 3] = four.w;
        }
}

//------------------------------------------------------------------------------------------------
// Where a column of a chunk's row lies: the fragments' writes (8 bytes, four rows of a half warp)
// and the reads of 16 bytes by eight lanes both touch every bank once.
__device__ __forceinline__ int chunkIndex(int row, int column)
{
    return row * kTileColumns + (column ^ (row % 4 * 8) ^ (column / 8 & 4));
}

template <int kChunk>
__device__ __forceinline__ void storeChunk(float *results, const Accumulators &acc)
{
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int column = warpOfSide() * (kWarpTiles * 16) + lane % 4 * 2;
#pragma unroll
    for (int m = 0; m < kChunkRows / 16; ++m)
#pragma unroll
        for (int n = 0; n < 2 * kWarpTiles; ++n) {
            const float(&c)[4] = acc[kChunk * (kChunkRows / 16) + m][n];
            const int row = 16 * m + lane / 4;
            *reinterpret_cast<float2 *>(&results[chunkIndex(row, column + 8 * n)])
                = make_float2(c[0], c[1]);
            *reinterpret_cast<float2 *>(&results[chunkIndex(row + 8, column + 8 * n)])
                = make_float2(c[2], c[3]);
        }
}

__device__ __forceinline__ void loadChunkRow(RowPart &values, const float *results, int row)
{
#pragma unroll
    for (int h = 0; h < 2; ++h)
#pragma unroll
        for (int c = 0; c < 8; c += 4) {
            const float4 four = *reinterpret_cast<const float4 *>(
                &results[chunkIndex(row, 64 * h + rowPartColumn() + c)]);
            values[h][c] = four.x;
            values[h][c + 1] = four.y;
            values[h][c + 2] = four.z;
            values[h][c + 3] = four.w;
        }
}

__device__ __forceinline__ float *sideResults(unsigned char *shared, int side)
{
    return reinterpret_cast<float *>(shared + side * kSideBytes + (kSlots - 2) * kActivationBytes);
}

// Hands the chunks of a tile one after another to finish(first row): between sync() and sync(),
// when all of a chunk's results lie in shared memory.
template <typename Sync, typename Finish>
__device__ __forceinline__ void forChunks(float *results, const Accumulators &acc, int rows,
                                          const Sync &sync, const Finish &finish)
{
    // One copy of the code, so that it stays in the instruction cache; only accumulators need
    // constant indices.
#pragma unroll 1
    for (int chunk = 0; chunk * kChunkRows < rows; ++chunk) {
        sync(); // the last steps, or the chunk before, have been read
        switch (chunk) {
        case 0:
            storeChunk<0>(results, acc);
            break;
        case 1:
            storeChunk<1>(results, acc);
            break;
        case 2:
            storeChunk<2>(results, acc);
            break;
        default:
            storeChunk<3>(results, acc);
        }
        sync();
        finish(chunk * kChunkRows);
    }
}

//------------------------------------------------------------------------------------------------
// Plain products: y = (x C) H * svh + bias

// Where a side's results go.
struct Output
{
    float *y; // the tile's first row, the block's first column
    std::int64_t stride;
    const std::uint16_t *svh; // of the block's first column
    const std::uint16_t *bias; // likewise, or null
};

// The kernel of plain products; the sides work on items of their own. Work: items(side), tile(item,
// side), output(item).
template <typename Work>
__device__ __forceinline__ void multiplyItems(const Work &work, const Geometry &geometry,
                                              unsigned char *shared)
{
    const std::uint32_t base = sharedAddress(shared);
    initBarriers(base);
    if (threadIdx.x >= 32 * kMultiplyWarps)
        return copySteps(work, geometry, base);
    takeRegisters();
    const int side = sideOfWarp();
    float *results = sideResults(shared, side);
    unsigned lap = 0;
    const ItemRange items = work.items(side);
    for (int item = items.first; item < items.end; item += items.stride) {
        const Tile tile = work.tile(item, side);
        Accumulators acc;
        multiplyTile(acc, geometry, tile, shared, lap);
        lap += lapsOfTile(geometry);
        const Output output = work.output(item);
        forChunks(
            results, acc, tile.rows, [&] { syncSide(side); },
            [&](int firstRow) {
#pragma unroll 1
                for (int r = static_cast<int>(threadIdx.x) % (32 * kSideWarps) / 8; r < kChunkRows;
                     r += 4 * kSideWarps) {
                    RowPart values;
                    loadChunkRow(values, results, r);
                    finishOutput(values, output.svh, output.bias);
                    if (firstRow + r < tile.rows)
                        storeRowPart(output.y + (firstRow + r) * output.stride, values);
                }
            });
        endTile(base);
    }
}

// Items for sides that work on their own.
__device__ __forceinline__ ItemRange itemsOfSide(int side, int items)
{
    return { static_cast<int>(blockIdx.x) * kSides + side, static_cast<int>(gridDim.x) * kSides,
             items };
}

} // namespace firesteel::kernels::cuda
