// SPDX-License-Identifier: MIT
//
// What      for each tile of 256 values the tail-biting trellis path closest to it (exl3_viterbi.h)
// Layout    tiles f32 [n, 256] in step order -> states u16 [n, 256]
// Plan      A block of 1,024 threads holds one tile at a time. A thread owns 64 of the 65,536
// states
//           for good, so their decoded values stay in 32 registers as half pairs. The nodes' costs
//           are float32 in shared memory: two buffers, or (rate 2, where two exceed the 99 KB of
//           GB10) one that everybody reads before anybody writes; at rate 1 they lie in scratch.
//           Another kernel writes the values in the threads' order first: loaded, they stay pairs;
//           computed here, the assembler takes them apart and spills.
//           The choices go to scratch in 4 or 8 bits a node and are walked back by one warp, which
//           reads every node that the next steps can reach (as many steps as fit 32 lanes) at once.
// Traffic   2 x 256 x nodes / 2 bytes written a tile (rates 2..4); nothing else that matters
// Work      2 passes x 256 steps x 65,536 states, six instructions each; issue-bound
// Registers 60 to 64 a thread, at most 16 bytes spilled; 6.7 instructions a state in SASS (rate 4:
//           430 a step for 64 states; 61 to 65 KiB of shared memory, one block an SM)
// Measured  GB10: not measured
//           H200: 1,056 tiles at rate 4 in 8.3 ms, 126,788 tiles/s (rates 2..6: 108,000 to 131,000;
//           docs/bench/h200/viterbi.csv): 85 % of the issue slots of 132 SMs at 1.98 GHz, which
//           was not read during the run
#include "kernels/common/cuda_queue.cuh"
#include "kernels/exl3/exl3_codec.cuh"
#include "kernels/exl3/exl3_codec.h"
#include "kernels/exl3/exl3_viterbi_backends.h"
#include "kernels/exl3/exl3_viterbi_cost.h"

#include <algorithm>
#include <cstdint>
#include <stdexcept>

namespace firesteel::kernels::cuda {

namespace {

constexpr int kThreads = 1024;
constexpr int kWarps = kThreads / 32;
constexpr int kSteps = kExl3TileSize;
constexpr int kHalf = kSteps / 2;
constexpr int kStatesPerThread = 65536 / kThreads;
constexpr int kPairs = kStatesPerThread / 2;

// What a thread keeps in registers, [kPairs + 1, kThreads] words: pairs of F16 values, and the mask
// of a cost without its choice (from memory, so that it is a register in the instruction that also
// puts the choice in).
constexpr std::size_t kTableBytes = sizeof(std::uint32_t) * (kPairs + 1) * kThreads;

template <int kRate> struct Plan
{
    static constexpr int kNodes = 1 << (16 - kRate);
    static constexpr int kChoices = 1 << kRate;
    static constexpr int kRun = 1 << (16 - 2 * kRate); // costs of one choice
    // A thread has several nodes, in groups of neighbours with the same nodes before them; at
    // rates 7 and 8 several threads share a node and split its choices.
    static constexpr int kThreadNodes = kNodes >= kThreads ? kNodes / kThreads : 1;
    static constexpr int kSharers = kNodes >= kThreads ? 1 : kThreads / kNodes;
    static constexpr int kThreadChoices = kChoices / kSharers;
    static constexpr int kGroup = kThreadNodes < kChoices ? kThreadNodes : kChoices;
    static constexpr int kGroups = kThreadNodes / kGroup;
    static constexpr int kTraceBits = kRate <= 4 ? 4 : 8;
    static constexpr int kTraceBytes = kNodes * kTraceBits / 8; // of a step
    static constexpr bool kInShared = kRate >= 2;
    static constexpr int kBuffers = kRate == 2 ? 1 : 2;
    static constexpr std::size_t kCostBytes = sizeof(float) * kBuffers * kNodes;
    static constexpr std::size_t kBlockBytes
        = static_cast<std::size_t>(kSteps) * kTraceBytes + (kInShared ? 0 : kCostBytes);
    // Steps that one read of 32 lanes covers: 1 + 2^rate + 2^(2 rate) ... nodes.
    static constexpr int kLevels = kRate == 1 ? 5 : kRate == 2 ? 3 : kRate <= 4 ? 2 : 1;

    static __device__ int groupNode(int g, int owner) { return (g * kThreads + owner) * kGroup; }
    static __device__ int firstChoice(int thread) { return thread % kSharers * kThreadChoices; }

    // The i-th state of a thread: groups, then choices, then nodes.
    static __device__ std::uint32_t state(int i, int thread)
    {
        const int node = groupNode(i / (kThreadChoices * kGroup), thread / kSharers) + i % kGroup;
        const int k = firstChoice(thread) + i / kGroup % kThreadChoices;
        return static_cast<std::uint32_t>(k << (16 - kRate) | node);
    }
};

__device__ std::uint32_t decodedPair(std::uint32_t state0, std::uint32_t state1,
                                     Exl3Codebook codebook)
{
    constexpr std::uint32_t kTwice = 0x10001U;
    switch (codebook) {
    case Exl3Codebook::ThreeInst:
        return exl3DecodePair<Exl3Codebook::ThreeInst>(state0 * kTwice, state1 * kTwice);
    case Exl3Codebook::Mcg:
        return exl3DecodePair<Exl3Codebook::Mcg>(state0 * kTwice, state1 * kTwice);
    case Exl3Codebook::Mul1:
        break;
    }
    return exl3DecodePair<Exl3Codebook::Mul1>(state0 * kTwice, state1 * kTwice);
}

template <int kRate> class TileSearch
{
    using P = Plan<kRate>;

public:
    __device__ TileSearch(float *costs, std::uint8_t *trace, const std::uint32_t *table)
        : m_costs(costs)
        , m_trace(trace)
        , m_owner(static_cast<int>(threadIdx.x) / P::kSharers)
        , m_firstChoice(P::firstChoice(static_cast<int>(threadIdx.x)))
        , m_costMask(table[kPairs * kThreads + threadIdx.x])
    {
#pragma unroll
        for (int i = 0; i < kPairs; ++i)
            m_values[i] = table[i * kThreads + threadIdx.x];
    }

    // Costs before the first step, in buffer 0: of every node, or of all but one.
    __device__ void begin(float cost, int exception, float exceptionCost)
    {
#pragma unroll
        for (int i = 0; i < P::kThreadNodes; ++i) {
            const int node = i * kThreads + static_cast<int>(threadIdx.x);
            if (node < P::kNodes)
                m_costs[node] = node == exception ? exceptionCost : cost;
        }
        __syncthreads();
    }

    // Step t, the i-th of its pass.
    __device__ void step(int i, int t, float w, bool traced)
    {
        // The values look changed to the compiler here, or it would widen all 64 ahead of the loop
        // over steps and spill them.
#pragma unroll
        for (std::uint32_t &pair : m_values)
            asm volatile("" : "+r"(pair));
        const float *before = m_costs + (P::kBuffers == 2 ? i % 2 * P::kNodes : 0);
        float *after = m_costs + (P::kBuffers == 2 ? (i + 1) % 2 * P::kNodes : 0);
        if constexpr (P::kBuffers == 2) {
#pragma unroll
            for (int g = 0; g < P::kGroups; ++g) {
                int best[P::kGroup];
                choose(g, before, w, best);
                keep(g, t, after, best, traced);
            }
        } else {
            int best[P::kGroups][P::kGroup];
#pragma unroll
            for (int g = 0; g < P::kGroups; ++g)
                choose(g, before, w, best[g]);
            __syncthreads();
#pragma unroll
            for (int g = 0; g < P::kGroups; ++g)
                keep(g, t, after, best[g], traced);
        }
        __syncthreads();
    }

    // The cheapest node after a whole pass, the lowest among equals.
    __device__ int cheapest(unsigned long long *shared) const
    {
        // A pass has an even number of steps: the costs are in buffer 0.
        unsigned long long best = ~0ULL;
        for (int node = static_cast<int>(threadIdx.x); node < P::kNodes; node += kThreads) {
            const unsigned long long key
                = static_cast<unsigned long long>(__float_as_uint(m_costs[node])) << 32U
                | static_cast<unsigned>(node);
            best = min(best, key);
        }
        for (unsigned offset = 16; offset > 0; offset /= 2)
            best = min(best, __shfl_xor_sync(0xFFFFFFFFU, best, offset));
        if (threadIdx.x % 32 == 0)
            shared[threadIdx.x / 32] = best;
        __syncthreads();
        best = shared[threadIdx.x % kWarps];
        for (unsigned offset = 16; offset > 0; offset /= 2)
            best = min(best, __shfl_xor_sync(0xFFFFFFFFU, best, offset));
        return static_cast<int>(best & 0xFFFFU);
    }

    // By one warp: from the node after step `last` back; the node before step 0. Writes the states
    // unless null.
    __device__ int walkBack(int node, int last, std::uint16_t *states) const
    {
        const int lane = static_cast<int>(threadIdx.x % 32);
        int level = 0;
        while (level + 1 < P::kLevels && levelBegin(level + 1) <= lane)
            ++level;
        const int path = lane - levelBegin(level);
        const bool isUsed = path < 1 << level * kRate;
        for (int t = last; t >= 0; t -= P::kLevels) {
            const int candidate = path << (16 - kRate - level * kRate) | node >> level * kRate;
            const int found = isUsed && level <= t ? choiceAt(t - level, candidate) : 0;
            int taken = 0;
            for (int i = 0; i < P::kLevels && i <= t; ++i) {
                const int k = __shfl_sync(0xFFFFFFFFU, found, levelBegin(i) + taken);
                const int state = k << (16 - kRate) | node;
                if (states != nullptr && lane == 0)
                    states[t - i] = static_cast<std::uint16_t>(state);
                taken |= k << i * kRate;
                node = state >> kRate;
            }
        }
        return node;
    }

private:
    __device__ int groupNode(int g) const { return P::groupNode(g, m_owner); }

    __device__ float value(int i) const
    {
        const std::uint32_t pair = m_values[i / 2];
        return __half2float(
            __ushort_as_half(static_cast<unsigned short>(i % 2 == 0 ? pair : pair >> 16U)));
    }

    __device__ void choose(int g, const float *before, float w, int (&best)[P::kGroup]) const
    {
        const float *costs = before + (groupNode(g) >> kRate);
#pragma unroll
        for (int &b : best)
            b = 0x7F7FFFFF; // the largest number
#pragma unroll
        for (int c = 0; c < P::kThreadChoices; ++c) {
            const int k = m_firstChoice + c;
            const float cost = costs[k * P::kRun];
#pragma unroll
            for (int n = 0; n < P::kGroup; ++n) {
                const float d = __fsub_rn(value((g * P::kThreadChoices + c) * P::kGroup + n), w);
                const float sum = __fadd_rn(cost, __fmul_rn(d, d));
                const std::uint32_t key
                    = (__float_as_uint(sum) & m_costMask) | static_cast<std::uint32_t>(k);
                best[n] = min(best[n], static_cast<int>(key));
            }
        }
#pragma unroll
        for (int offset = 1; offset < P::kSharers; offset *= 2)
            best[0] = min(best[0], __shfl_xor_sync(0xFFFFFFFFU, best[0], offset));
    }

    __device__ void keep(int g, int t, float *after, const int (&best)[P::kGroup], bool traced)
    {
        const int node = groupNode(g);
        std::uint32_t choices = 0;
#pragma unroll
        for (int n = 0; n < P::kGroup; ++n) {
            after[node + n] = __int_as_float(best[n]);
            choices |= (static_cast<std::uint32_t>(best[n]) & kViterbiChoiceMask<kRate>) << n
                    * P::kTraceBits;
        }
        if (!traced)
            return;
        std::uint8_t *at
            = m_trace + static_cast<std::size_t>(t) * P::kTraceBytes + node * P::kTraceBits / 8;
        constexpr int kBytes = P::kGroup * P::kTraceBits / 8;
        if constexpr (kBytes == 4)
            *reinterpret_cast<std::uint32_t *>(at) = choices;
        else if constexpr (kBytes == 2)
            *reinterpret_cast<std::uint16_t *>(at) = static_cast<std::uint16_t>(choices);
        else
            *at = static_cast<std::uint8_t>(choices);
    }

    __device__ static constexpr int levelBegin(int level)
    {
        return ((1 << level * kRate) - 1) / ((1 << kRate) - 1);
    }

    __device__ int choiceAt(int t, int node) const
    {
        const std::uint8_t *row = m_trace + static_cast<std::size_t>(t) * P::kTraceBytes;
        if constexpr (P::kTraceBits == 8)
            return row[node];
        else
            return row[node / 2] >> node % 2 * 4 & 0xF;
    }

    float *m_costs; // [buffer, node]
    std::uint8_t *m_trace; // [step, node], kTraceBits each
    int m_owner; // which nodes
    int m_firstChoice;
    std::uint32_t m_costMask;
    std::uint32_t m_values[kPairs]; // of F16
};

template <int kRate>
__global__ void exl3_viterbi_values_kernel(std::uint32_t *table, Exl3Codebook codebook)
{
    const auto thread = static_cast<int>(threadIdx.x);
    const auto i = static_cast<int>(blockIdx.x);
    std::uint32_t word = ~kViterbiChoiceMask<kRate>;
    if (i < kPairs)
        word = decodedPair(Plan<kRate>::state(2 * i, thread), Plan<kRate>::state(2 * i + 1, thread),
                           codebook);
    table[i * kThreads + thread] = word;
}

template <int kRate>
__global__ void __launch_bounds__(kThreads, 1)
    exl3_viterbi_kernel(std::uint16_t *states, const float *tiles, std::uint8_t *scratch, int count)
{
    using P = Plan<kRate>;
    extern __shared__ float sharedCosts[];
    __shared__ float tile[kSteps];
    __shared__ unsigned long long minima[kWarps];
    __shared__ int border;

    std::uint8_t *own = scratch + kTableBytes + blockIdx.x * P::kBlockBytes;
    float *costs = P::kInShared
        ? sharedCosts
        : reinterpret_cast<float *>(own + static_cast<std::size_t>(kSteps) * P::kTraceBytes);
    TileSearch<kRate> search(costs, own, reinterpret_cast<const std::uint32_t *>(scratch));
    const bool isWalker = threadIdx.x < 32;
    for (int n = static_cast<int>(blockIdx.x); n < count; n += static_cast<int>(gridDim.x)) {
        if (threadIdx.x < kSteps)
            tile[threadIdx.x] = tiles[static_cast<std::size_t>(n) * kSteps + threadIdx.x];
        // The barrier in begin() covers the tile.
        search.begin(kViterbiStart, -1, 0);
        for (int i = 0; i < kSteps; ++i) {
            const int t = (i + kHalf) % kSteps;
            search.step(i, t, tile[t], i >= kHalf);
        }
        int node = search.cheapest(minima);
        if (isWalker) {
            node = search.walkBack(node, kHalf - 1, nullptr);
            if (threadIdx.x == 0)
                border = node;
        }
        __syncthreads();
        node = border;
        search.begin(kViterbiFar, node, kViterbiStart);
        for (int t = 0; t < kSteps; ++t)
            search.step(t, t, tile[t], true);
        if (isWalker)
            search.walkBack(node, kSteps - 1, states + static_cast<std::size_t>(n) * kSteps);
        __syncthreads();
    }
}

template <int kRate>
void launch(std::uint16_t *states, const float *tiles, std::span<std::byte> scratch, int count,
            Exl3Codebook codebook, CudaQueue &queue)
{
    using P = Plan<kRate>;
    constexpr std::size_t kShared = P::kInShared ? P::kCostBytes : 0;
    checkCuda(cudaFuncSetAttribute(exl3_viterbi_kernel<kRate>,
                                   cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   static_cast<int>(kShared)),
              "cudaFuncSetAttribute");
    if (scratch.size() < kTableBytes + P::kBlockBytes)
        throw std::logic_error("launchExl3Viterbi: the scratch holds not one block");
    const int blocks
        = std::min({ count, queue.multiprocessors(),
                     static_cast<int>((scratch.size() - kTableBytes) / P::kBlockBytes) });
    exl3_viterbi_values_kernel<kRate><<<kPairs + 1, kThreads, 0, queue.stream()>>>(
        reinterpret_cast<std::uint32_t *>(scratch.data()), codebook);
    checkLaunch("exl3_viterbi_values_kernel");
    exl3_viterbi_kernel<kRate><<<blocks, kThreads, kShared, queue.stream()>>>(
        states, tiles, reinterpret_cast<std::uint8_t *>(scratch.data()), count);
    checkLaunch("exl3_viterbi_kernel");
}

template <int kRate> std::size_t blockBytes() { return Plan<kRate>::kBlockBytes; }

using Launch = void (*)(std::uint16_t *, const float *, std::span<std::byte>, int, Exl3Codebook,
                        CudaQueue &);
constexpr Launch kLaunch[]
    = { launch<1>, launch<2>, launch<3>, launch<4>, launch<5>, launch<6>, launch<7>, launch<8> };
using BlockBytes = std::size_t (*)();
constexpr BlockBytes kBlockBytes[] = { blockBytes<1>, blockBytes<2>, blockBytes<3>, blockBytes<4>,
                                       blockBytes<5>, blockBytes<6>, blockBytes<7>, blockBytes<8> };

} // namespace

// ---------------------------------------------------------------------------------------------

std::size_t exl3ViterbiScratchBytes(std::int64_t tiles, int rate, CudaQueue &queue)
{
    return kTableBytes
        + kBlockBytes[rate - 1]()
        * static_cast<std::size_t>(std::min<std::int64_t>(tiles, queue.multiprocessors()));
}

void exl3Viterbi(std::span<std::uint16_t> states, std::span<const float> tiles, int rate,
                 Exl3Codebook codebook, const Exl3Scratch &scratch, CudaQueue &queue)
{
    const std::size_t count = tiles.size() / kSteps;
    if (count == 0)
        return;
    kLaunch[rate - 1](states.data(), tiles.data(), scratch.bytes, static_cast<int>(count), codebook,
                      queue);
}

} // namespace firesteel::kernels::cuda
