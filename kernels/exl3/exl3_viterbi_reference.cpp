// SPDX-License-Identifier: MIT
//
// A state s of step t has the node s >> rate before it and the node s mod 2^(16 - rate) after it.
// For every node after a step, the cheapest of the 2^rate states that end in it is kept:
//     cost'[node] = min over k of cost[state >> rate] + (value[state] - w[t])^2,
//     state = k << (16 - rate) | node.
// 65,536 states a step, 512 steps a tile.
#include "kernels/common/simd.h"
#include "kernels/exl3/exl3_codec.h"
#include "kernels/exl3/exl3_viterbi_backends.h"
#include "kernels/exl3/exl3_viterbi_cost.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

namespace firesteel::kernels::reference {

namespace {

using Bytes8 = std::uint8_t __attribute__((vector_size(8)));

// Nodes that step() takes at a time.
constexpr int kValueGroup = 16;

constexpr int kHalf = kExl3TileSize / 2;

// The nodes' costs lie in 2^rate runs, one per choice, which a step reads side by side. Runs of a
// power of two bytes would share few cache sets, so each is followed by a cache line of padding
// where runs are long.
template <int kRate> struct Layout
{
    static constexpr int kNodes = 1 << (16 - kRate);
    static constexpr int kChoices = 1 << kRate;
    static constexpr int kRun = 1 << (16 - 2 * kRate);
    static constexpr int kPadding = kRun >= 64 ? 16 : 0;
    static constexpr int kCosts = kNodes + kChoices * kPadding;
    static constexpr int at(int node) { return node + node / kRun * kPadding; }
};

constexpr Ints8 kLowerHalf { -1, -1, -1, -1, 0, 0, 0, 0 };
constexpr Ints8 kEvenPairs { -1, -1, 0, 0, -1, -1, 0, 0 };

// Costs of the eight states that follow choice k into the nodes from `node` on: states of one node
// before differ in the low kRate bits only.
template <int kRate> FIRESTEEL_INLINE Vec8 costsBefore(const float *costs, int k, int node)
{
    using L = Layout<kRate>;
    const float *run = costs + k * (L::kRun + L::kPadding) + (node >> kRate);
    if constexpr (kRate >= 3) {
        return splat(*run);
    } else if constexpr (kRate == 2) {
        return kLowerHalf ? splat(run[0]) : splat(run[1]);
    } else {
        const Vec8 lower = kEvenPairs ? splat(run[0]) : splat(run[1]);
        const Vec8 upper = kEvenPairs ? splat(run[2]) : splat(run[3]);
        return kLowerHalf ? lower : upper;
    }
}

// One step over all nodes. values: as orderedValues() gives them. trace: the choice of each node,
// or null where nobody will ask.
template <int kRate>
FIRESTEEL_INLINE void step(float *after, const float *before, std::uint8_t *trace,
                           const float *values, float w)
{
    using L = Layout<kRate>;
    const Bits8 keep = Bits8 {} + ~kViterbiChoiceMask<kRate>;
    const Bits8 choiceMask = Bits8 {} + kViterbiChoiceMask<kRate>;
    const Vec8 target = splat(w);
    constexpr int kVectors = kValueGroup / 8;
    for (int node = 0; node < L::kNodes; node += kValueGroup) {
        const float *value = values + static_cast<std::ptrdiff_t>(node) * L::kChoices;
        Ints8 best[kVectors];
        for (Ints8 &b : best)
            b = Ints8 {} + 0x7F7FFFFF; // the largest number
        Bits8 choice {};
#pragma GCC unroll 8
        for (int k = 0; k < L::kChoices; ++k, value += kValueGroup) {
            for (int i = 0; i < kVectors; ++i) {
                const Vec8 d = load8(value + 8 * i) - target;
                const Vec8 cost = costsBefore<kRate>(before, k, node + 8 * i) + d * d;
                const auto key = bitsAs<Ints8>((bitsAs<Bits8>(cost) & keep) | choice);
                best[i] = key < best[i] ? key : best[i];
            }
            choice += 1;
        }
        for (int i = 0; i < kVectors; ++i) {
            store8(after + L::at(node + 8 * i), bitsAs<Vec8>(best[i]));
            if (trace != nullptr) {
                const Bytes8 choices
                    = __builtin_convertvector(bitsAs<Bits8>(best[i]) & choiceMask, Bytes8);
                std::memcpy(trace + node + 8 * i, &choices, sizeof choices);
            }
        }
    }
}

struct Work
{
    explicit Work(int rate)
        : costs(2)
        , trace(std::make_unique_for_overwrite<std::uint8_t[]>(
              static_cast<std::size_t>(kExl3TileSize) << (16 - rate)))
    {
        for (std::vector<float> &buffer : costs)
            buffer.resize((std::size_t { 1 } << (16 - rate)) + 4096); // and the padding
    }
    std::vector<std::vector<float>> costs;
    std::unique_ptr<std::uint8_t[]> trace; // [step, node]
};

template <int kRate>
FIRESTEEL_INLINE void search(std::uint16_t *states, const float *tile, const float *values,
                             Work &work)
{
    using L = Layout<kRate>;
    float *before = work.costs[0].data();
    float *after = work.costs[1].data();
    const auto traceOf
        = [&](int t) { return work.trace.get() + static_cast<std::ptrdiff_t>(t) * L::kNodes; };

    // Pass 1: from the middle round to the middle; which state crosses the border between steps 255
    // and 0?
    std::fill_n(before, L::kCosts, kViterbiStart);
    for (int i = 0; i < kExl3TileSize; ++i) {
        const int t = (i + kHalf) % kExl3TileSize;
        step<kRate>(after, before, i < kHalf ? nullptr : traceOf(t), values, tile[t]);
        std::swap(before, after);
    }
    int node = 0;
    for (int other = 1; other < L::kNodes; ++other)
        if (before[L::at(other)] < before[L::at(node)])
            node = other;
    for (int t = kHalf - 1; t >= 0; --t)
        node = (traceOf(t)[node] << (16 - kRate) | node) >> kRate;

    // Pass 2: the whole tile, from this node to itself.
    std::fill_n(before, L::kCosts, kViterbiFar);
    before[L::at(node)] = kViterbiStart;
    for (int t = 0; t < kExl3TileSize; ++t) {
        step<kRate>(after, before, traceOf(t), values, tile[t]);
        std::swap(before, after);
    }
    for (int t = kExl3TileSize - 1; t >= 0; --t) {
        const int state = traceOf(t)[node] << (16 - kRate) | node;
        states[t] = static_cast<std::uint16_t>(state);
        node = state >> kRate;
    }
}

#define FIRESTEEL_VITERBI(RATE)                                                                    \
    FIRESTEEL_SIMD_CLONES void search##RATE(std::uint16_t *states, const float *tile,              \
                                            const float *values, Work &work)                       \
    {                                                                                              \
        search<RATE>(states, tile, values, work);                                                  \
    }
FIRESTEEL_VITERBI(1)
FIRESTEEL_VITERBI(2)
FIRESTEEL_VITERBI(3)
FIRESTEEL_VITERBI(4)
FIRESTEEL_VITERBI(5)
FIRESTEEL_VITERBI(6)
FIRESTEEL_VITERBI(7)
FIRESTEEL_VITERBI(8)
#undef FIRESTEEL_VITERBI

using Search = void (*)(std::uint16_t *, const float *, const float *, Work &);
constexpr Search kSearch[]
    = { search1, search2, search3, search4, search5, search6, search7, search8 };

// The codebook in the order of step(): for each group of nodes, each choice.
std::vector<float> orderedValues(int rate, Exl3Codebook codebook)
{
    const std::span<const float> table = exl3FloatValues(codebook);
    const std::size_t nodes = table.size() >> rate;
    std::vector<float> values;
    values.reserve(table.size());
    for (std::size_t node = 0; node < nodes; node += kValueGroup)
        for (std::size_t k = 0; k < table.size(); k += nodes)
            for (std::size_t lane = 0; lane < kValueGroup; ++lane)
                values.push_back(table[k + node + lane]);
    return values;
}

} // namespace

void exl3Viterbi(std::span<std::uint16_t> states, std::span<const float> tiles, int rate,
                 Exl3Codebook codebook, ThreadPool &pool)
{
    const std::vector<float> values = orderedValues(rate, codebook);
    const auto count = static_cast<std::int64_t>(tiles.size() / kExl3TileSize);
    // Enough parts that threads end together; few enough that a part's buffers are worth making.
    const std::int64_t grain = std::clamp<std::int64_t>(count / (4 * pool.size()), 1, 64);
    pool.parallelFor(count, grain, [&](std::int64_t first, std::int64_t last) {
        Work work(rate);
        for (std::int64_t n = first; n < last; ++n)
            kSearch[rate - 1](states.data() + n * kExl3TileSize, tiles.data() + n * kExl3TileSize,
                              values.data(), work);
    });
}

} // namespace firesteel::kernels::reference
