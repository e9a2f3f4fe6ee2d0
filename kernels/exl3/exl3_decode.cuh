// SPDX-License-Identifier: MIT
//
// The decode class's product of a few rows with one matrix, shared by exl3_decode_linear.cu and
// exl3_decode_experts.cu.
//
// A block of 16 warps owns 128 columns: 4 warps across (32 columns each) by 4 warps that share the
// depth, every fourth step of 64 each. Weights are the A operand of mma.m16n8k16 (m = columns) and
// 8 rows of x the B operand, so that a decoded tile costs one mma for 8 rows and is reused, in
// registers, by further groups of 8.
//
// A step takes 4 tiles deep by 2 tiles wide: 8 mma a group. Lane 4c + g loads 2 * rate consecutive
// words of the pair of tiles at depth g: the 64 trellis steps of columns c' = 2 (c % 4) + s (s = 0,
// 1) and c' + 8 of tile c / 4. Their bits start at a word, so every shift is a constant, and the
// loads of a warp cover whole lines. Which depth a lane's values have does not matter to a sum, if
// x agrees: in mma m (0..3) lane (c, g) has depths 16 g + {2m, 2m+1, 2m+8, 2m+9} of a step's 64,
// the same for A and B. x is stored in that order (exl3StoreFragments).
//
// Every row's sum has the same order at any number of rows: within a warp by depth, then warps
// 0..3, then blocks that share a matrix's depth.
#pragma once

#include "kernels/exl3/exl3_codec.cuh"
#include "kernels/exl3/exl3_hadamard.cuh"

namespace firesteel::kernels {

inline constexpr int kDecodeColumnWarps = 4;
inline constexpr int kDecodeDepthWarps = 4;
inline constexpr int kDecodeThreads = 32 * kDecodeColumnWarps * kDecodeDepthWarps;
inline constexpr int kDecodeStep = 64; // depth of a step
inline constexpr int kDecodeGroup = 8; // rows of an mma
inline constexpr int kDecodeMaxGroups = 9; // kMaxDecodeStepRows
// Floats between rows of a warp's partial sums: 16-byte aligned, and stores without bank conflicts.
inline constexpr int kDecodeRowStride = kExl3Block + 4;
inline constexpr int kDecodePartialFloats = kDecodeGroup * kDecodeRowStride; // of one depth warp

// Trellis bytes above which the 32-bit offsets of these kernels do not reach.
inline constexpr std::size_t kDecodeMaxTrellis = std::size_t { 1 } << 32;

// Where a thread stands in its block. The warp's index is made uniform, so that branches on it are.
struct DecodeThread
{
    int lane = static_cast<int>(threadIdx.x) % 32;
    int column = lane / 4; // c above
    int depth = lane % 4; // g above
    int warp = __shfl_sync(0xFFFFFFFFU, static_cast<int>(threadIdx.x) / 32, 0);
    int columnWarp = warp % kDecodeColumnWarps;
    int depthWarp = warp / kDecodeColumnWarps;
};

// Elements 4l .. 4l+3 of 128-block `block` of a rotated row, packed, to where the products read
// them: [in / 64][m / 2][g][m % 2][rows 2m.., rows 2m+8..][2].
__device__ __forceinline__ void exl3StoreFragments(std::uint16_t *row, std::int64_t block,
                                                   uint2 values)
{
    const unsigned lane = threadIdx.x % 32;
    auto *pairs = reinterpret_cast<std::uint32_t *>(row + block * kExl3Block)
        + lane / 16 * (kDecodeStep / 2) + lane % 2 * 16 + lane / 4 % 4 * 4 + lane / 2 % 2;
    pairs[0] = values.x;
    pairs[2] = values.y;
}

__device__ __forceinline__ void exl3Mma(float (&sum)[4], const std::uint32_t (&a)[4],
                                        std::uint32_t b0, std::uint32_t b1)
{
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// A lane's 2 * kRate words of a step. Weights are read once, so they do not stay in L1; where
// several loads share a line (any rate but 2) they may until then.
template <int kRate>
__device__ __forceinline__ void exl3LoadStep(std::uint32_t (&words)[2 * kRate], const char *source)
{
    if constexpr (kRate == 2) {
        asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
                     : "l"(source));
    } else if constexpr (kRate % 2 == 0) {
#pragma unroll
        for (int i = 0; i < 2 * kRate; i += 4)
            asm volatile("ld.global.nc.L1::evict_first.v4.u32 {%0, %1, %2, %3}, [%4];"
                         : "=r"(words[i]), "=r"(words[i + 1]), "=r"(words[i + 2]),
                           "=r"(words[i + 3])
                         : "l"(source + 4 * i));
    } else {
#pragma unroll
        for (int i = 0; i < 2 * kRate; i += 2)
            asm volatile("ld.global.nc.L1::evict_first.v2.u32 {%0, %1}, [%2];"
                         : "=r"(words[i]), "=r"(words[i + 1])
                         : "l"(source + 4 * i));
    }
}

// The A fragment of trellis steps kFirst .. kFirst+7.
template <int kRate, int kFirst>
__device__ __forceinline__ void exl3Fragment(std::uint32_t (&a)[4], const std::uint32_t *words)
{
    constexpr auto kMul1 = Exl3Codebook::Mul1;
    a[0] = exl3DecodeSteps<kRate, kMul1, kFirst>(words);
    a[2] = exl3DecodeSteps<kRate, kMul1, kFirst + 2>(words);
    a[1] = exl3DecodeSteps<kRate, kMul1, kFirst + 4>(words);
    a[3] = exl3DecodeSteps<kRate, kMul1, kFirst + 6>(words);
}

// Half a step: mma 2 kHalf and 2 kHalf + 1 of both column sets.
template <int kRate, int kHalf>
__device__ __forceinline__ void exl3Fragments(std::uint32_t (&a)[2][2][4],
                                              const std::uint32_t *words)
{
    exl3Fragment<kRate, 16 * kHalf>(a[0][0], words);
    exl3Fragment<kRate, 16 * kHalf + 8>(a[0][1], words);
    exl3Fragment<kRate, 32 + 16 * kHalf>(a[1][0], words);
    exl3Fragment<kRate, 32 + 16 * kHalf + 8>(a[1][1], words);
}

// Rate and codebook of the matrix at run time; tile: the one that this lane decodes.
__device__ __forceinline__ void exl3Fragments(std::uint32_t (&a)[2][2][4],
                                              const std::uint32_t *tile, const Exl3Matrix &m,
                                              const DecodeThread &thread, int half)
{
#pragma unroll
    for (int i = 0; i < 16; ++i) {
        const int set = i / 8;
        const int j = i % 4 * 2;
        const int step = 32 * (2 * (thread.column % 4) + set) + 16 * half + 8 * (i / 4 % 2) + j;
        a[set][i / 4 % 2][j / 4 + j % 4] = exl3DecodePair(
            m.codebook, exl3StateTwice(tile, m.rate, step), exl3StateTwice(tile, m.rate, step + 1));
    }
}

// The rows of x that a block multiplies: in fragment order, `stride` values apart.
struct DecodeRows
{
    const std::uint16_t *x = nullptr;
    std::int32_t stride = 0;
    std::int32_t count = 0;
};

template <int kGroups> using DecodeSums = float[kGroups][2][4];

// Few groups of rows read x straight from the L1 cache, ahead of the decoding that hides it. With
// many there are no registers to read ahead into: x of a step is copied to shared memory, [2
// stages] [depth warps][groups][halves][lane] of 16 bytes, once for the four warps across.
template <int kGroups> inline constexpr bool kDecodeIsStaged = kGroups > 3;
inline constexpr int kDecodeGroupBytes = 2 * kDecodeGroup * kDecodeStep;
template <int kGroups>
inline constexpr int kDecodeStageBytes
    = kDecodeIsStaged<kGroups> ? kDecodeDepthWarps * kGroups * kDecodeGroupBytes : 0;

// Groups whose partial sums are in shared memory at a time.
template <int kGroups> inline constexpr int kDecodeGroupsAtOnce = kGroups > 1 ? 2 : 1;

// What a block needs: two stages of x, later partial sums in their place.
template <int kGroups>
inline constexpr int kDecodeSharedBytes
    = 2 * kDecodeStageBytes<kGroups> > 2 * 4 * kDecodeDepthWarps *kDecodePartialFloats
    ? 2 * kDecodeStageBytes<kGroups>
    : kDecodeGroupsAtOnce<kGroups> * 4 * kDecodeDepthWarps *kDecodePartialFloats;

// Copies of the rows of one step to a stage, and their arrival, among the four warps across.
template <int kGroups> class DecodeStages
{
public:
    __device__ __forceinline__ DecodeStages(unsigned char *shared, const DecodeRows &rows,
                                            int first, const DecodeThread &thread)
        : m_x(reinterpret_cast<const char *>(rows.x) + 2 * first * kDecodeStep)
        , m_thread(static_cast<int>(threadIdx.x) % kThreads)
        , m_barrier(1 + thread.depthWarp)
        , m_stage(shared + thread.depthWarp * kGroups * kDecodeGroupBytes)
    {
#pragma unroll
        for (int i = 0; i < kCopies; ++i) {
            // Rows that are not there repeat the last one; their sums are never used.
            const int row = min(row0(i) + m_thread / 4 % kDecodeGroup, rows.count - 1);
            m_offsets[i] = static_cast<unsigned>(2 * row * rows.stride + 16 * (m_thread % 4)
                                                 + 64 * (m_thread / 32 % 2));
        }
    }

    __device__ __forceinline__ void copy(int stage, unsigned position, int groups)
    {
        const unsigned target = static_cast<unsigned>(__cvta_generic_to_shared(m_stage))
            + static_cast<unsigned>(stage * kDecodeStageBytes<kGroups> + 16 * m_thread);
#pragma unroll
        for (int i = 0; i < kCopies; ++i)
            if (row0(i) < kDecodeGroup * groups)
                asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(
                                 target + static_cast<unsigned>(16 * kThreads * i)),
                             "l"(m_x + (m_offsets[i] + position))
                             : "memory");
    }
    // The stage copied last is there, and the other one is no longer read. By the four warps
    // across, equally often in all of a block.
    __device__ __forceinline__ void arrive()
    {
        asm volatile("cp.async.wait_all;" ::: "memory");
        if (m_barrier == 1)
            asm volatile("bar.sync 1, %0;" ::"n"(kThreads) : "memory");
        else if (m_barrier == 2)
            asm volatile("bar.sync 2, %0;" ::"n"(kThreads) : "memory");
        else if (m_barrier == 3)
            asm volatile("bar.sync 3, %0;" ::"n"(kThreads) : "memory");
        else
            asm volatile("bar.sync 4, %0;" ::"n"(kThreads) : "memory");
    }
    __device__ __forceinline__ uint4 read(int stage, int group, int half, int lane) const
    {
        return *reinterpret_cast<const uint4 *>(m_stage + stage * kDecodeStageBytes<kGroups>
                                                + group * kDecodeGroupBytes + 512 * half
                                                + 16 * lane);
    }

private:
    static constexpr int kThreads = 32 * kDecodeColumnWarps;
    static constexpr int kCopies = (kGroups + 1) / 2; // two groups at a time

    __device__ __forceinline__ int row0(int copy) const
    {
        return kDecodeGroup * (2 * copy + m_thread / 64);
    }

    const char *m_x;
    int m_thread;
    int m_barrier;
    unsigned char *m_stage;
    unsigned m_offsets[kCopies];
};

__device__ __forceinline__ void exl3MultiplyGroup(float (&sums)[2][4],
                                                  const std::uint32_t (&a)[2][2][4], uint4 b)
{
#pragma unroll
    for (int set = 0; set < 2; ++set) {
        exl3Mma(sums[set], a[set][0], b.x, b.y);
        exl3Mma(sums[set], a[set][1], b.z, b.w);
    }
}

// sums += this thread's part of rows * columns 128 chunk .. 128 chunk + 127, over steps
// firstStep .. endStep-1. kRate 0: any rate and codebook; else MUL1. `ready` is called once
// weights are on their way and before x is read. shared: kDecodeSharedBytes. All threads call it.
template <int kRate, int kGroups, typename Ready>
__device__ __forceinline__ void
exl3Multiply(DecodeSums<kGroups> &sums, const Exl3Matrix &m, int chunk, int firstStep, int endStep,
             const DecodeRows &rows, const DecodeThread &thread, unsigned char *shared, Ready ready)
{
    constexpr bool kStaged = kDecodeIsStaged<kGroups>;
    const int groups = (rows.count + kDecodeGroup - 1) / kDecodeGroup;
    const int rate = kRate > 0 ? kRate : m.rate;
    const int tilesPerRow = m.out / kExl3Tile;
    const int first = firstStep + thread.depthWarp;
    // Of this warp; with stages a warp takes part in the block's last round even without a step.
    const int count = (endStep - first + kDecodeDepthWarps - 1) / kDecodeDepthWarps;
    const int rounds
        = kStaged ? (endStep - firstStep + kDecodeDepthWarps - 1) / kDecodeDepthWarps : count;
    // Byte offsets inside a matrix and its rows fit 32 bits (kDecodeMaxTrellis).
    const auto tileBytes = static_cast<unsigned>(32 * rate);
    unsigned source = static_cast<unsigned>((4 * first + thread.depth) * tilesPerRow + 8 * chunk
                                            + 2 * thread.columnWarp)
        * tileBytes;
    const unsigned stride = static_cast<unsigned>(4 * kDecodeDepthWarps * tilesPerRow) * tileBytes;
    const auto *trellis = reinterpret_cast<const char *>(m.trellis);

    constexpr unsigned kStepBytes = 2 * kDecodeDepthWarps * kDecodeStep;
    unsigned position = 0;
    DecodeStages<kGroups> stages(shared, rows, first, thread);
    unsigned rowOffsets[kStaged ? 1 : kGroups];
    if constexpr (!kStaged) {
        // Lanes of rows that are not there read the last one; their sums are never used.
#pragma unroll
        for (int group = 0; group < kGroups; ++group)
            rowOffsets[group] = static_cast<unsigned>(
                2 * min(kDecodeGroup * group + thread.column, rows.count - 1) * rows.stride
                + 2 * first * kDecodeStep + 16 * thread.depth);
    }
    using Inputs = uint4[kStaged ? 1 : kGroups];
    const auto readAhead = [&](Inputs &b, int half) {
        if constexpr (!kStaged) {
#pragma unroll
            for (int group = 0; group < kGroups; ++group) {
                if (group > 0 && group >= groups)
                    break;
                b[group] = *reinterpret_cast<const uint4 *>(
                    reinterpret_cast<const char *>(rows.x)
                    + (rowOffsets[group] + position + static_cast<unsigned>(64 * half)));
            }
        }
    };
    const auto multiply = [&](const std::uint32_t(&a)[2][2][4], const Inputs &b, int step,
                              int half) {
#pragma unroll
        for (int group = 0; group < kGroups; ++group) {
            if (group > 0 && group >= groups)
                break;
            if constexpr (kStaged)
                exl3MultiplyGroup(sums[group], a, stages.read(step % 2, group, half, thread.lane));
            else
                exl3MultiplyGroup(sums[group], a, b[group]);
        }
    };
    const auto beginStep = [&](int step) {
        if constexpr (kStaged) {
            stages.arrive();
            if (step + 1 < count)
                stages.copy((step + 1) % 2, position + kStepBytes, groups);
        }
    };
    const auto beginSteps = [&] {
        ready();
        if constexpr (kStaged) {
            __syncthreads(); // what was in the stages was read
            if (count > 0)
                stages.copy(0, 0, groups);
        }
    };

    if constexpr (kRate == 0) {
        beginSteps();
        source += static_cast<unsigned>(thread.column / 4) * tileBytes;
        for (int step = 0; step < rounds; ++step, source += stride, position += kStepBytes) {
            beginStep(step);
            if (kStaged && step >= count)
                break;
            for (int half = 0; half < 2; ++half) {
                Inputs b;
                readAhead(b, half);
                std::uint32_t a[2][2][4];
                exl3Fragments(a, reinterpret_cast<const std::uint32_t *>(trellis + source), m,
                              thread, half);
                multiply(a, b, step, half);
            }
        }
    } else {
        // The word before a lane's bits is its left neighbour's last, around the tile's end.
        const int neighbour = 4 * ((thread.column & 4) + ((thread.column + 3) & 3)) + thread.depth;
        constexpr int kRing = kRate == 2 ? 3 : 2;
        std::uint32_t ring[kRing][2 * kRate];
        source += static_cast<unsigned>(thread.column * 8 * kRate);
#pragma unroll
        for (int i = 0; i < kRing - 1; ++i)
            if (i < count) {
                exl3LoadStep<kRate>(ring[i], trellis + source);
                source += stride;
            }
        beginSteps();
        for (int i = 0; i < rounds; i += kRing) {
#pragma unroll
            for (int j = 0; j < kRing; ++j) {
                if (i + j >= rounds)
                    break;
                if (i + j + kRing - 1 < count) {
                    exl3LoadStep<kRate>(ring[(j + kRing - 1) % kRing], trellis + source);
                    source += stride;
                }
                beginStep(i + j);
                if (kStaged && i + j >= count)
                    break;
                Inputs b0;
                Inputs b1;
                readAhead(b0, 0);
                readAhead(b1, 1);
                std::uint32_t words[2 * kRate + 1];
                words[0] = __shfl_sync(0xFFFFFFFFU, ring[j][2 * kRate - 1], neighbour);
#pragma unroll
                for (int w = 0; w < 2 * kRate; ++w)
                    words[w + 1] = ring[j][w];
                std::uint32_t a[2][2][4];
                exl3Fragments<kRate, 0>(a, words);
                multiply(a, b0, i + j, 0);
                exl3Fragments<kRate, 1>(a, words);
                multiply(a, b1, i + j, 1);
                position += kStepBytes;
            }
        }
    }
}

// The same with the loop of the matrix's rate.
template <int kGroups, typename Ready>
__device__ __forceinline__ void
exl3MultiplyAnyRate(DecodeSums<kGroups> &sums, const Exl3Matrix &m, int chunk, int firstStep,
                    int endStep, const DecodeRows &rows, const DecodeThread &thread,
                    unsigned char *shared, Ready ready)
{
    switch (m.codebook == Exl3Codebook::Mul1 ? m.rate : 0) {
    case 2:
        exl3Multiply<2, kGroups>(sums, m, chunk, firstStep, endStep, rows, thread, shared, ready);
        break;
    case 3:
        exl3Multiply<3, kGroups>(sums, m, chunk, firstStep, endStep, rows, thread, shared, ready);
        break;
    case 4:
        exl3Multiply<4, kGroups>(sums, m, chunk, firstStep, endStep, rows, thread, shared, ready);
        break;
    case 5:
        exl3Multiply<5, kGroups>(sums, m, chunk, firstStep, endStep, rows, thread, shared, ready);
        break;
    case 6:
        exl3Multiply<6, kGroups>(sums, m, chunk, firstStep, endStep, rows, thread, shared, ready);
        break;
    default:
        exl3Multiply<0, kGroups>(sums, m, chunk, firstStep, endStep, rows, thread, shared, ready);
        break;
    }
}

// A thread's sums of one group to shared memory [depth warps][8 rows][kDecodeRowStride].
__device__ __forceinline__ void exl3StoreSums(float *partials, const float (&sums)[2][4],
                                              const DecodeThread &thread)
{
    float *target = partials + thread.depthWarp * kDecodePartialFloats
        + 2 * thread.depth * kDecodeRowStride + 32 * thread.columnWarp + 16 * (thread.column / 4)
        + 2 * (thread.column % 4);
#pragma unroll
    for (int i = 0; i < 4; ++i)
        *reinterpret_cast<float2 *>(target + i % 2 * kDecodeRowStride + i / 2 * 8)
            = make_float2(sums[0][i], sums[1][i]);
}

// Columns 4 lane .. 4 lane + 3 of a row of the group, summed over the depth warps.
__device__ __forceinline__ float4 exl3RowSum(const float *partials, int row, int lane)
{
    const float *source = partials + row * kDecodeRowStride + 4 * lane;
    float4 sum = *reinterpret_cast<const float4 *>(source);
#pragma unroll
    for (int i = 1; i < kDecodeDepthWarps; ++i) {
        const float4 part = *reinterpret_cast<const float4 *>(source + i * kDecodePartialFloats);
        sum = make_float4(sum.x + part.x, sum.y + part.y, sum.z + part.z, sum.w + part.w);
    }
    return sum;
}

// (sum H) * svh: a row's four columns in the original basis. svh points to the block's first scale.
__device__ __forceinline__ float4 exl3RotateOutput(float4 sum, const std::uint16_t *svh, int lane)
{
    float values[4] = { sum.x, sum.y, sum.z, sum.w };
    exl3Hadamard(values);
    const uint2 scales = reinterpret_cast<const uint2 *>(svh)[lane];
    const float2 low = __half22float2(reinterpret_cast<const __half2 &>(scales.x));
    const float2 high = __half22float2(reinterpret_cast<const __half2 &>(scales.y));
    return make_float4(values[0] * low.x, values[1] * low.y, values[2] * high.x,
                       values[3] * high.y);
}

// One arrival of a block at a counter, after everything that its threads wrote before a barrier.
__device__ __forceinline__ void exl3Arrive(unsigned *counter)
{
    asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(counter) : "memory");
}

// The same by all threads: true in the block that arrives last, which then sees what all wrote.
// `flag` is shared memory.
__device__ __forceinline__ bool exl3ArriveLast(unsigned *counter, unsigned arrivals, int *flag)
{
    __syncthreads();
    if (threadIdx.x == 0) {
        unsigned before = 0;
        asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], 1;"
                     : "=r"(before)
                     : "l"(counter)
                     : "memory");
        *flag = before == arrivals - 1 ? 1 : 0;
    }
    __syncthreads();
    return *flag != 0;
}

} // namespace firesteel::kernels
