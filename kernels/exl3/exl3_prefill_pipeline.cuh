// SPDX-License-Identifier: MIT
//
// The inner loop of the prefill class. A block has two sides of four warps; a side multiplies a
// tile of up to 128 rows of rotated activations with 128 columns of C. A warp owns 32 columns and
// all the rows, so that a decoded weight tile goes from registers into the tensor cores for every
// 16 rows and never touches memory. Decoding is interleaved with the products of the half step
// before: it issues while a tensor core is busy with its own warp's product.
//
// A warp of its own per side brings activations and trellis words into a ring of steps, with bulk
// copies that cost the other warps nothing.
//
// Every result is one chain of m16n8k16 products over k in steps of 16, whatever the number of
// rows, and nothing that a row meets depends on the rows beside it: rows are independent bit for
// bit.
#pragma once

#include "kernels/exl3/exl3.h"
#include "kernels/exl3/exl3_codec.cuh"

#include <cuda_fp16.h>

namespace firesteel::kernels::cuda {

inline constexpr int kSides = 2;
inline constexpr int kTileRows = 128;
inline constexpr int kTileColumns = kExl3Block;
inline constexpr int kStepDepth = 32; // of k
inline constexpr int kSideWarps = 4;
inline constexpr int kMultiplyWarps = kSides * kSideWarps;
inline constexpr int kBlockThreads = 32 * (kMultiplyWarps + 4); // registers move by four warps
inline constexpr int kWarpTiles = 2; // 16-column tiles of a warp

// A scheduler's 512 registers per lane are 168 for each of its three warps at launch. A multiplying
// warp holds 128 sums.
inline constexpr int kMultiplyRegisters = 224;
inline constexpr int kCopyRegisters = 56;

// Shared memory of a side: a ring of activations and one of trellis words; then all the barriers.
// 99 KiB are what a block can have on compute 12.1.
inline constexpr int kSlots = 4;
inline constexpr int kActivationBytes = kTileRows * kStepDepth * 2;
inline constexpr int kTrellisBytes = kStepDepth * kTileColumns * kExl3MaxRate / 8;
inline constexpr int kSideBytes = kSlots * (kActivationBytes + kTrellisBytes);
inline constexpr int kBarrierBase = kSides * kSideBytes;
inline constexpr int kSharedBytes = kBarrierBase + kSides * kSlots * 2 * 8;
static_assert(kSharedBytes <= 99 * 1024);

// Rotated rows in memory, F16: panels of 32 columns, [in / 32][rows][32]. The rows of a tile are
// one run of a panel, whatever row they begin with, so one bulk copy brings a step. The four
// 16-byte chunks of a row are permuted so that the eight rows that ldmatrix reads at a time touch
// all the banks: chunk c of row r lies at c ^ (r / 2 % 4).
struct Panels
{
    std::uint16_t *values;
    std::int64_t rows; // of each panel

    // Eight columns from `column` on, a multiple of 8.
    __device__ __forceinline__ std::uint16_t *chunk(std::int64_t row, int column) const
    {
        const int place = (column / 8 % 4) ^ static_cast<int>(row / 2 % 4);
        return values + (column / kStepDepth * rows + row) * kStepDepth + place * 8;
    }
};

// A side's tile.
struct Tile
{
    Panels x;
    std::int64_t firstRow; // in x
    std::int32_t rows; // 1..kTileRows
    const std::uint16_t *trellis; // of its first column
};

// What does not change from tile to tile.
struct Geometry
{
    std::int32_t in;
    std::int32_t columnTiles; // out / 16
    std::int32_t rates[kSides];
    Exl3Codebook codebook;
};

__device__ __forceinline__ std::uint32_t sharedAddress(const void *shared)
{
    return static_cast<std::uint32_t>(__cvta_generic_to_shared(shared));
}

//------------------------------------------------------------------------------------------------
// Barriers in shared memory, per side and slot. Full: a step's activations and words have arrived.
// Done: all four warps have used them, and at a tile's end stored its results.

__device__ __forceinline__ std::uint32_t fullBarrier(std::uint32_t shared, int side, unsigned slot)
{
    return shared + kBarrierBase + (side * kSlots + slot) * 16;
}
__device__ __forceinline__ std::uint32_t doneBarrier(std::uint32_t shared, int side, unsigned slot)
{
    return fullBarrier(shared, side, slot) + 8;
}

__device__ __forceinline__ void initBarrier(std::uint32_t barrier, int arrivals)
{
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}
__device__ __forceinline__ void arrive(std::uint32_t barrier)
{
    asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(barrier) : "memory");
}
__device__ __forceinline__ void arriveExpecting(std::uint32_t barrier, int bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
                 : "memory");
}
__device__ __forceinline__ void copyBulk(std::uint32_t shared, const void *global, int bytes,
                                         std::uint32_t barrier)
{
    asm volatile("cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%0], [%1], "
                 "%2, [%3];" ::"r"(shared),
                 "l"(global), "r"(bytes), "r"(barrier)
                 : "memory");
}
__device__ __forceinline__ void awaitPhase(std::uint32_t barrier, unsigned phase)
{
    asm volatile("{\n"
                 ".reg .pred done;\n"
                 "again:\n"
                 "mbarrier.try_wait.parity.shared.b64 done, [%0], %1;\n"
                 "@!done bra again;\n"
                 "}" ::"r"(barrier),
                 "r"(phase)
                 : "memory");
}
__device__ __forceinline__ void initBarriers(std::uint32_t shared)
{
    if (threadIdx.x == 0) {
        for (int side = 0; side < kSides; ++side)
            for (int slot = 0; slot < kSlots; ++slot) {
                initBarrier(fullBarrier(shared, side, slot), 1);
                initBarrier(doneBarrier(shared, side, slot), kSideWarps);
            }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    }
    __syncthreads();
}

//------------------------------------------------------------------------------------------------
// Copies

// The items that a side of this block works on: first, first + stride, ...
struct ItemRange
{
    int first;
    int stride;
    int end;
};

// What the warps after the multiplying ones do: one lane per side copies. Work: items(side),
// tile(item, side).
template <typename Work>
__device__ __forceinline__ void copySteps(const Work &work, const Geometry &geometry,
                                          std::uint32_t shared)
{
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kCopyRegisters));
    const int side = static_cast<int>(threadIdx.x) / 32 - kMultiplyWarps;
    if (side >= kSides || threadIdx.x % 32 != 0)
        return;
    const std::uint32_t activations = shared + side * kSideBytes;
    const std::uint32_t words = activations + kSlots * kActivationBytes;
    const unsigned steps = static_cast<unsigned>(geometry.in) / kStepDepth;
    const int tileBytes = 32 * geometry.rates[side];
    const int stripBytes = kTileColumns / 16 * tileBytes; // of 16 k
    const std::size_t stripStride = static_cast<std::size_t>(geometry.columnTiles) * tileBytes;

    const ItemRange items = work.items(side);
    unsigned lap = 0; // of the ring; a tile has whole laps
    for (int item = items.first; item < items.end; item += items.stride) {
        const Tile tile = work.tile(item, side);
        const int rowBytes = tile.rows * (kStepDepth * 2);
        const std::int64_t panel = tile.x.rows * kStepDepth;
        const std::uint16_t *rows = tile.x.values + tile.firstRow * kStepDepth;
        const auto *strip = reinterpret_cast<const unsigned char *>(tile.trellis);
        for (unsigned step = 0; step < steps; ++step) {
            const unsigned slot = step % kSlots;
            if (lap > 0)
                awaitPhase(doneBarrier(shared, side, slot), (lap - 1) & 1);
            const std::uint32_t barrier = fullBarrier(shared, side, slot);
            arriveExpecting(barrier, rowBytes + 2 * stripBytes);
            copyBulk(activations + slot * kActivationBytes, rows, rowBytes, barrier);
            copyBulk(words + slot * kTrellisBytes, strip, stripBytes, barrier);
            copyBulk(words + slot * kTrellisBytes + stripBytes, strip + stripStride, stripBytes,
                     barrier);
            rows += panel;
            strip += 2 * stripStride;
            lap += slot == kSlots - 1 ? 1 : 0;
        }
    }
}

__device__ __forceinline__ void takeRegisters()
{
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kMultiplyRegisters));
}

//------------------------------------------------------------------------------------------------
// Decoding

// A warp's two tiles: loadWords() fetches a lane's words from shared memory ahead of decode(),
// which yields B fragments of mma.m16n8k16. The fast decoders know the rate at compile time, the
// other one is for every rate and codebook.
template <int kRate> class FastDecoder
{
    static constexpr int kSource = Exl3Window<kRate>::kSource;

public:
    struct Words
    {
        std::uint32_t source[kWarpTiles][kSource];
    };
    __device__ FastDecoder(const Geometry & /*g*/, int /*side*/, int lane)
        : m_bits(lane)
    {
    }
    static constexpr __device__ int rate() { return kRate; }
    __device__ __forceinline__ Words loadWords(const std::uint32_t *tiles) const
    {
        Words words;
#pragma unroll
        for (int n = 0; n < kWarpTiles; ++n)
#pragma unroll
            for (int i = 0; i < kSource; ++i)
                words.source[n][i] = tiles[n * 8 * kRate + m_bits.word(i)];
        return words;
    }
    __device__ __forceinline__ void decode(std::uint32_t (&b)[kWarpTiles][4],
                                           const Words &words) const
    {
#pragma unroll
        for (int n = 0; n < kWarpTiles; ++n)
            exl3Decode8<kRate, Exl3Codebook::Mul1>(
                b[n], Exl3Window<kRate>(words.source[n], m_bits.shift));
    }

private:
    Exl3LaneBits<kRate> m_bits;
};

class AnyDecoder
{
public:
    using Words = const std::uint32_t *;
    __device__ AnyDecoder(const Geometry &g, int side, int lane)
        : m_rate(g.rates[side])
        , m_codebook(g.codebook)
        , m_step(8 * lane)
    {
    }
    __device__ int rate() const { return m_rate; }
    __device__ __forceinline__ Words loadWords(const std::uint32_t *tiles) const { return tiles; }
    __device__ __forceinline__ void decode(std::uint32_t (&b)[kWarpTiles][4],
                                           const Words &words) const
    {
#pragma unroll
        for (int n = 0; n < kWarpTiles; ++n)
#pragma unroll
            for (int j = 0; j < 8; j += 2)
                b[n][j / 2] = exl3DecodePair(
                    m_codebook, exl3StateTwice(words + n * 8 * m_rate, m_rate, m_step + j),
                    exl3StateTwice(words + n * 8 * m_rate, m_rate, m_step + j + 1));
    }

private:
    int m_rate;
    Exl3Codebook m_codebook;
    int m_step;
};

//------------------------------------------------------------------------------------------------
// Products

__device__ __forceinline__ void multiplyAccumulate(float (&c)[4], const std::uint32_t (&a)[4],
                                                   std::uint32_t b0, std::uint32_t b1)
{
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, "
        "{%8,%9}, {%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

__device__ __forceinline__ void loadActivations(std::uint32_t (&a)[4], std::uint32_t address)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3])
                 : "r"(address)
                 : "memory");
}

// The lane as a value that the compiler keeps instead of reading it again in every step.
__device__ __forceinline__ int keptLane()
{
    int lane = 0;
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
    return lane;
}

__device__ __forceinline__ int sideOfWarp()
{
    return static_cast<int>(threadIdx.x) / (32 * kSideWarps);
}
__device__ __forceinline__ int warpOfSide()
{
    return static_cast<int>(threadIdx.x) / 32 % kSideWarps;
}

using Accumulators = float[kTileRows / 16][2 * kWarpTiles][4];

__device__ __forceinline__ void release(std::uint32_t shared, int side, unsigned slot)
{
    __syncwarp();
    if (threadIdx.x % 32 == 0)
        arrive(doneBarrier(shared, side, slot));
}

// acc[m][n] += rows 16 m.. of the tile times the warp's columns 8 n..; the first kRowBlocks m are
// computed. firstRow: of the tile in its panels, modulo 8. lap: of the ring so far. The slots of
// the last two steps are not released: they are the epilogue's memory.
template <typename Decoder, int kRowBlocks>
__device__ __forceinline__ void multiplySteps(Accumulators &acc, const Geometry &geometry,
                                              int firstRow, const unsigned char *sharedBytes,
                                              unsigned lap)
{
    const int lane = keptLane();
    const int side = sideOfWarp();
    const unsigned steps = static_cast<unsigned>(geometry.in) / kStepDepth;
    const std::uint32_t shared = sharedAddress(sharedBytes);
    const Decoder decoder(geometry, side, lane);
    const int row = lane % 16;
    const std::uint32_t activations
        = shared + side * kSideBytes + row * 64 + ((lane / 16 ^ ((firstRow + row) / 2 % 4)) * 16);
    const unsigned char *words = sharedBytes + side * kSideBytes + kSlots * kActivationBytes
        + warpOfSide() * kWarpTiles * 32 * decoder.rate();
    const int stripBytes = kTileColumns / 16 * 32 * decoder.rate();

    const auto loadWords = [&](unsigned slot, int half) {
        return decoder.loadWords(reinterpret_cast<const std::uint32_t *>(
            words + slot * kTrellisBytes + half * stripBytes));
    };
    constexpr int kAhead = 2; // row blocks whose activations are loaded ahead of their products
    std::uint32_t x[kAhead][4];
    const auto loadBlock = [&](std::uint32_t(&block)[4], unsigned slot, int half, int m) {
        loadActivations(block,
                        (activations ^ (half * 32)) + slot * kActivationBytes + m * (16 * 64));
    };
    // Products of a half step; leaves in x the first blocks of the one after.
    const auto multiply = [&](const std::uint32_t(&b)[kWarpTiles][4], unsigned slot, int half,
                              unsigned nextSlot, int nextHalf) {
#pragma unroll
        for (int m = 0; m < kRowBlocks; ++m) {
#pragma unroll
            for (int n = 0; n < kWarpTiles; ++n) {
                multiplyAccumulate(acc[m][2 * n], x[m % kAhead], b[n][0], b[n][1]);
                multiplyAccumulate(acc[m][2 * n + 1], x[m % kAhead], b[n][2], b[n][3]);
            }
            if (m + kAhead < kRowBlocks)
                loadBlock(x[m % kAhead], slot, half, m + kAhead);
            else
                loadBlock(x[m % kAhead], nextSlot, nextHalf, m + kAhead - kRowBlocks);
        }
    };
    static_assert(kRowBlocks % kAhead == 0);

    awaitPhase(fullBarrier(shared, side, 0), lap & 1);
    std::uint32_t first[kWarpTiles][4];
    std::uint32_t second[kWarpTiles][4];
    decoder.decode(first, loadWords(0, 0));
    typename Decoder::Words secondWords = loadWords(0, 1);
#pragma unroll
    for (int m = 0; m < kAhead; ++m)
        loadBlock(x[m], 0, 0, m);
#pragma unroll 1
    for (unsigned step = 0; step < steps; ++step) {
        const unsigned next = step + 1;
        const unsigned slot = step % kSlots;
        const unsigned nextSlot = next % kSlots;
        // After the last step what lies in the next slot is decoded, and not used.
        if (next < steps)
            awaitPhase(fullBarrier(shared, side, nextSlot), (lap + next / kSlots) & 1);
        const typename Decoder::Words firstWords = loadWords(nextSlot, 0);
        decoder.decode(second, secondWords);
        multiply(first, slot, 0, slot, 1);
        secondWords = loadWords(nextSlot, 1);
        decoder.decode(first, firstWords);
        multiply(second, slot, 1, nextSlot, 0);
        if (step + 2 < steps)
            release(shared, side, slot);
    }
}

template <typename Decoder>
__device__ __forceinline__ void multiplyRows(Accumulators &acc, const Geometry &geometry,
                                             const Tile &tile, const unsigned char *shared,
                                             unsigned lap)
{
    // A multiple of 32 rows is computed.
    const auto firstRow = static_cast<int>(tile.firstRow % 8);
    if (tile.rows > 96)
        multiplySteps<Decoder, 8>(acc, geometry, firstRow, shared, lap);
    else if (tile.rows > 64)
        multiplySteps<Decoder, 6>(acc, geometry, firstRow, shared, lap);
    else if (tile.rows > 32)
        multiplySteps<Decoder, 4>(acc, geometry, firstRow, shared, lap);
    else
        multiplySteps<Decoder, 2>(acc, geometry, firstRow, shared, lap);
}

// acc = a whole tile's product; rows past its end are undefined. lap: lapsOfTile() for each tile
// before. Afterwards endTile() must be called.
__device__ __forceinline__ void multiplyTile(Accumulators &acc, const Geometry &geometry,
                                             const Tile &tile, const unsigned char *shared,
                                             unsigned lap)
{
#pragma unroll
    for (auto &block : acc)
#pragma unroll
        for (auto &columns : block)
#pragma unroll
            for (float &value : columns)
                value = 0;
    const int rate = geometry.rates[sideOfWarp()];
    switch (geometry.codebook == Exl3Codebook::Mul1 ? rate : 0) {
    case 2:
        return multiplyRows<FastDecoder<2>>(acc, geometry, tile, shared, lap);
    case 3:
        return multiplyRows<FastDecoder<3>>(acc, geometry, tile, shared, lap);
    case 4:
        return multiplyRows<FastDecoder<4>>(acc, geometry, tile, shared, lap);
    case 5:
        return multiplyRows<FastDecoder<5>>(acc, geometry, tile, shared, lap);
    case 6:
        return multiplyRows<FastDecoder<6>>(acc, geometry, tile, shared, lap);
    default:
        return multiplyRows<AnyDecoder>(acc, geometry, tile, shared, lap);
    }
}

__device__ __forceinline__ unsigned lapsOfTile(const Geometry &geometry)
{
    return static_cast<unsigned>(geometry.in) / (kStepDepth * kSlots);
}

// Releases the slots of the last two steps. A tile has a multiple of kSlots steps, so they are the
// last two slots.
__device__ __forceinline__ void endTile(std::uint32_t shared)
{
    static_assert(kExl3Block / kStepDepth % kSlots == 0);
    // Results were stored and read as ordinary values; copies follow.
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    release(shared, sideOfWarp(), kSlots - 2);
    release(shared, sideOfWarp(), kSlots - 1);
}

__device__ __forceinline__ void syncSide(int side)
{
    asm volatile("bar.sync %0, %1;" ::"r"(side + 1), "n"(32 * kSideWarps) : "memory");
}
__device__ __forceinline__ void syncSides()
{
    asm volatile("bar.sync %0, %1;" ::"n"(kSides + 1), "n"(32 * kMultiplyWarps) : "memory");
}

} // namespace firesteel::kernels::cuda
