// SPDX-License-Identifier: MIT
#include "kernels/exl3/exl3_block.h"

#include "kernels/common/simd.h"
#include "kernels/exl3/exl3_codec.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstring>

namespace firesteel::kernels {

namespace {

constexpr int kLanes = 8;
constexpr int kVectors = kExl3Block / kLanes; // of a block
constexpr int kBlockTiles = kExl3Block / kExl3Tile;
constexpr float kRootOf128 = 0.088388347648F; // 1 / sqrt(128)

// One stage of the butterfly inside a vector: new = partner + (upper half ? -own : own).
template <int kStride> FIRESTEEL_INLINE Vec8 butterfly(Vec8 own)
{
    static_assert(kStride == 1 || kStride == 2 || kStride == 4);
    Vec8 partner;
    Bits8 sign;
    constexpr std::uint32_t kMinus = 0x80000000U;
    if constexpr (kStride == 1) {
        partner = __builtin_shufflevector(own, own, 1, 0, 3, 2, 5, 4, 7, 6);
        sign = Bits8 { 0, kMinus, 0, kMinus, 0, kMinus, 0, kMinus };
    } else if constexpr (kStride == 2) {
        partner = __builtin_shufflevector(own, own, 2, 3, 0, 1, 6, 7, 4, 5);
        sign = Bits8 { 0, 0, kMinus, kMinus, 0, 0, kMinus, kMinus };
    } else {
        partner = __builtin_shufflevector(own, own, 4, 5, 6, 7, 0, 1, 2, 3);
        sign = Bits8 { 0, 0, 0, 0, kMinus, kMinus, kMinus, kMinus };
    }
    return bitsAs<Vec8>(bitsAs<Bits8>(own) ^ sign) + partner;
}

// values <- values H * sqrt(128), 128 of them: natural order, strides 1 to 64.
FIRESTEEL_INLINE void hadamard(Vec8 *values)
{
    for (int i = 0; i < kVectors; ++i)
        values[i] = butterfly<4>(butterfly<2>(butterfly<1>(values[i])));
    for (int stride = 1; stride < kVectors; stride *= 2)
        for (int i = 0; i < kVectors; ++i)
            if ((i & stride) == 0) {
                const Vec8 low = values[i];
                const Vec8 high = values[i + stride];
                values[i] = low + high;
                values[i + stride] = low - high;
            }
}

// Where step t of a tile goes in a block of rows `stride` apart.
constexpr auto kRows = [] {
    std::array<std::uint8_t, kExl3TileSize> rows {};
    for (int t = 0; t < kExl3TileSize; ++t)
        rows[static_cast<std::size_t>(t)] = static_cast<std::uint8_t>(exl3StepRow(t));
    return rows;
}();
constexpr auto kColumns = [] {
    std::array<std::uint8_t, kExl3TileSize> columns {};
    for (int t = 0; t < kExl3TileSize; ++t)
        columns[static_cast<std::size_t>(t)] = static_cast<std::uint8_t>(exl3StepColumn(t));
    return columns;
}();

template <typename T>
void decodeStrip(T *strip, std::int64_t stride, const T *values, const Exl3Matrix &m,
                 std::int64_t tileRow, std::int64_t block)
{
    const std::int64_t tileWords = std::int64_t { kExl3Tile } * m.rate;
    const std::int64_t tilesPerRow = m.out / kExl3Tile;
    std::array<std::uint16_t, kExl3TileSize> states;
    for (std::int64_t c = 0; c < kBlockTiles; ++c) {
        const std::int64_t tile = tileRow * tilesPerRow + block * kBlockTiles + c;
        exl3UnpackTile(states, m.trellis + tile * tileWords, m.rate);
        T *corner = strip + c * kExl3Tile;
        for (std::size_t t = 0; t < states.size(); ++t)
            corner[kRows[t] * stride + kColumns[t]] = values[states[t]];
    }
}

// sums[r] += x[r][0..15] strip, in the order of the 16.
FIRESTEEL_SIMD_CLONES void multiplyStrip(float *sums, const float *strip,
                                         const std::uint16_t *const *x, std::int64_t offset,
                                         std::int64_t rows)
{
    constexpr int kPart = kVectors / 2; // sums in registers at a time
    for (std::int64_t r = 0; r < rows; ++r) {
        float inputs[kExl3Tile];
        store8(inputs, load8F16(x[r] + offset));
        store8(inputs + kLanes, load8F16(x[r] + offset + kLanes));
        for (int part = 0; part < kVectors; part += kPart) {
            float *out = sums + r * kExl3Block + part * kLanes;
            const float *weights = strip + part * kLanes;
            Vec8 partial[kPart];
            for (int v = 0; v < kPart; ++v)
                partial[v] = load8(out + v * kLanes);
            for (int k = 0; k < kExl3Tile; ++k) {
                const Vec8 input = splat(inputs[k]);
                for (int v = 0; v < kPart; ++v)
                    partial[v] += input * load8(weights + k * kExl3Block + v * kLanes);
            }
            for (int v = 0; v < kPart; ++v)
                store8(out + v * kLanes, partial[v]);
        }
    }
}

FIRESTEEL_SIMD_CLONES void rotateOutput(float *y, const float *sums, const std::uint16_t *svh,
                                        const std::uint16_t *bias)
{
    Vec8 values[kVectors];
    for (int i = 0; i < kVectors; ++i)
        values[i] = load8(sums + i * kLanes);
    hadamard(values);
    for (int i = 0; i < kVectors; ++i) {
        Vec8 value = values[i] * splat(kRootOf128) * load8F16(svh + i * kLanes);
        if (bias != nullptr)
            value += load8F16(bias + i * kLanes);
        store8(y + i * kLanes, value);
    }
}

// A butterfly over the rows of a 128x128 block, all columns side by side.
FIRESTEEL_SIMD_CLONES void hadamardRows(float *block)
{
    for (int stride = 1; stride < kExl3Block; stride *= 2)
        for (int row = 0; row < kExl3Block; ++row) {
            if ((row & stride) != 0)
                continue;
            float *low = block + row * kExl3Block;
            float *high = low + stride * kExl3Block;
            for (int c = 0; c < kExl3Block; c += kLanes) {
                const Vec8 a = load8(low + c);
                const Vec8 b = load8(high + c);
                store8(low + c, a + b);
                store8(high + c, a - b);
            }
        }
}

FIRESTEEL_SIMD_CLONES void scaleRow(float *w, const float *row, const std::uint16_t *suh,
                                    float scale)
{
    for (int i = 0; i < kExl3Block; i += kLanes)
        store8(w + i, load8(row + i) * load8F16(suh + i) * splat(scale));
}

void transpose(float *to, const float *from)
{
    for (int r = 0; r < kExl3Block; r += kLanes)
        for (int c = 0; c < kExl3Block; ++c)
            for (int i = 0; i < kLanes; ++i)
                to[c * kExl3Block + r + i] = from[(r + i) * kExl3Block + c];
}

FIRESTEEL_SIMD_CLONES void rotateInput(std::uint16_t *rotated, const float *x,
                                       const std::uint16_t *suh)
{
    Vec8 values[kVectors];
    for (int i = 0; i < kVectors; ++i)
        values[i] = load8(x + i * kLanes) * load8F16(suh + i * kLanes);
    hadamard(values);
    for (int i = 0; i < kVectors; ++i) {
        const Half8 bits = roundToF16(values[i] * splat(kRootOf128));
        std::memcpy(rotated + i * kLanes, &bits, sizeof bits);
    }
}

} // namespace

void exl3RotateInput(std::uint16_t *rotated, const float *x, const std::uint16_t *suh)
{
    rotateInput(rotated, x, suh);
}

void exl3DecodeStrip(std::uint16_t *strip, std::int64_t stride, const Exl3Matrix &m,
                     std::int64_t tileRow, std::int64_t block)
{
    decodeStrip(strip, stride, exl3Values(m.codebook).data(), m, tileRow, block);
}

void exl3MultiplyBlock(std::span<float *const> y, std::span<const std::uint16_t *const> x,
                       const Exl3Matrix &m, std::int64_t block)
{
    std::array<float, std::size_t { kExl3Tile } * kExl3Block> strip;
    std::array<float, std::size_t { kExl3BlockRows } * kExl3Block> sums;
    const auto rows = static_cast<std::int64_t>(x.size());
    std::fill_n(sums.begin(), rows * kExl3Block, 0.0F);
    const float *values = exl3FloatValues(m.codebook).data();
    for (std::int64_t tileRow = 0; tileRow < m.in / kExl3Tile; ++tileRow) {
        decodeStrip(strip.data(), kExl3Block, values, m, tileRow, block);
        multiplyStrip(sums.data(), strip.data(), x.data(), tileRow * kExl3Tile, rows);
    }
    const std::int64_t first = block * kExl3Block;
    const std::uint16_t *bias = m.bias == nullptr ? nullptr : m.bias + first;
    for (std::size_t r = 0; r < y.size(); ++r)
        rotateOutput(y[r], sums.data() + r * kExl3Block, m.svh + first, bias);
}

void exl3DequantizeBlock(float *w, std::int64_t stride, const Exl3Matrix &m, std::int64_t inBlock,
                         std::int64_t outBlock)
{
    constexpr std::size_t kSize = std::size_t { kExl3Block } * kExl3Block;
    std::array<float, kSize> block;
    std::array<float, kSize> turned;
    const float *values = exl3FloatValues(m.codebook).data();
    for (std::int64_t tileRow = 0; tileRow < kBlockTiles; ++tileRow)
        decodeStrip(block.data() + tileRow * kExl3Tile * kExl3Block, kExl3Block, values, m,
                    inBlock * kBlockTiles + tileRow, outBlock);
    hadamardRows(block.data());
    transpose(turned.data(), block.data());
    hadamardRows(turned.data());
    for (int o = 0; o < kExl3Block; ++o) {
        const std::uint16_t svh = m.svh[outBlock * kExl3Block + o];
        scaleRow(w + o * stride, turned.data() + std::ptrdiff_t { o } * kExl3Block,
                 m.suh + inBlock * kExl3Block,
                 static_cast<float>(std::bit_cast<_Float16>(svh)) / kExl3Block);
    }
}

} // namespace firesteel::kernels
