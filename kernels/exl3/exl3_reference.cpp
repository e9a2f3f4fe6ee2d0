// SPDX-License-Identifier: MIT
#include "kernels/exl3/exl3_backends.h"
#include "kernels/exl3/exl3_block.h"
#include "kernels/moe/swiglu.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <stdexcept>
#include <vector>

namespace firesteel::kernels {

namespace {

// Decoding a weight costs about as much as five multiply-adds.
constexpr std::int64_t kDecodeWork = 5;

std::int64_t partsWorth(std::int64_t workPerIndex)
{
    return std::max<std::int64_t>(1, kPartWork / std::max<std::int64_t>(1, workPerIndex));
}

// Scratch handed out from its start; what is asked for is what ...ScratchBytes counted.
class ScratchReader
{
public:
    explicit ScratchReader(std::span<std::byte> bytes)
        : m_bytes(bytes)
    {
    }
    template <typename T> T *take(std::int64_t count)
    {
        const auto bytes = static_cast<std::size_t>(count) * sizeof(T);
        if (bytes > m_bytes.size())
            throw std::logic_error("EXL3 scratch is smaller than its launcher asks for");
        auto *values = reinterpret_cast<T *>(m_bytes.data());
        m_bytes = m_bytes.subspan(bytes);
        return values;
    }

private:
    std::span<std::byte> m_bytes;
};

// Rows that chose one expert, at most kExl3BlockRows of them: sorted[begin .. begin + count).
struct ExpertRows
{
    std::int32_t expert = 0;
    std::size_t begin = 0;
    std::size_t count = 0;
};

struct Grouping
{
    std::vector<std::int32_t> sorted; // assignments (row * expertsPerToken + i) by expert
    std::vector<ExpertRows> groups;
};

Grouping groupByExpert(std::span<const std::int32_t> experts, std::int64_t expertCount)
{
    Grouping grouping;
    grouping.sorted.resize(experts.size());
    std::iota(grouping.sorted.begin(), grouping.sorted.end(), 0);
    std::stable_sort(
        grouping.sorted.begin(), grouping.sorted.end(), [&](std::int32_t a, std::int32_t b) {
            return experts[static_cast<std::size_t>(a)] < experts[static_cast<std::size_t>(b)];
        });
    auto &groups = grouping.groups;
    for (std::size_t i = 0; i < grouping.sorted.size(); ++i) {
        const std::int32_t expert = experts[static_cast<std::size_t>(grouping.sorted[i])];
        if (expert < 0 || expert >= expertCount)
            throw std::logic_error("launchExl3Experts: expert id out of range");
        if (groups.empty() || groups.back().expert != expert
            || groups.back().count == kExl3BlockRows)
            groups.push_back({ expert, i, 0 });
        ++groups.back().count;
    }
    return grouping;
}

// gate <- silu(min(gate, limit)) * clamp(up, -limit, limit), 128 columns.
FIRESTEEL_SIMD_CLONES void activate(float *gate, const float *up, float limit)
{
    for (int c = 0; c < kExl3Block; c += 8)
        store8(gate + c, clampedSwiglu8(load8(gate + c), load8(up + c), limit));
}

// Calls body(group, block of 128 columns) for all of them, spread over the threads.
template <typename Body>
void forGroupBlocks(const Grouping &grouping, std::int64_t columns, std::int64_t workPerBlock,
                    ThreadPool &pool, const Body &body)
{
    const std::int64_t blocks = columns / kExl3Block;
    pool.parallelFor(static_cast<std::int64_t>(grouping.groups.size()) * blocks,
                     partsWorth(workPerBlock), [&](std::int64_t first, std::int64_t last) {
                         for (std::int64_t part = first; part < last; ++part)
                             body(grouping.groups[static_cast<std::size_t>(part / blocks)],
                                  part % blocks);
                     });
}

} // namespace

namespace reference {

void exl3Reconstruct(std::span<std::uint16_t> inner, const Exl3Matrix &m, ThreadPool &pool)
{
    const std::int64_t blocks = m.out / kExl3Block;
    const std::int64_t strips = m.in / kExl3Tile * blocks;
    pool.parallelFor(strips, partsWorth(kDecodeWork * kExl3Tile * kExl3Block),
                     [&](std::int64_t first, std::int64_t last) {
                         for (std::int64_t i = first; i < last; ++i) {
                             const std::int64_t tileRow = i / blocks;
                             const std::int64_t block = i % blocks;
                             exl3DecodeStrip(inner.data() + tileRow * kExl3Tile * m.out
                                                 + block * kExl3Block,
                                             m.out, m, tileRow, block);
                         }
                     });
}

void exl3Rotate(std::span<std::uint16_t> rotated, std::span<const float> x, const Exl3Matrix &m,
                std::int64_t rows, ThreadPool &pool)
{
    const std::int64_t blocks = m.in / kExl3Block;
    pool.parallelFor(rows * blocks, partsWorth(std::int64_t { 8 } * kExl3Block),
                     [&](std::int64_t first, std::int64_t last) {
                         for (std::int64_t i = first; i < last; ++i)
                             exl3RotateInput(rotated.data() + i * kExl3Block,
                                             x.data() + i * kExl3Block,
                                             m.suh + i % blocks * kExl3Block);
                     });
}

std::size_t exl3LinearScratchBytes(const Exl3Matrix &m, std::int64_t rows)
{
    return static_cast<std::size_t>(rows * m.in) * sizeof(std::uint16_t);
}

void exl3Linear(std::span<float> y, std::span<const float> x, const Exl3Matrix &m,
                std::int64_t rows, const Exl3Scratch &scratch, ThreadPool &pool)
{
    auto *rotated = ScratchReader(scratch.bytes).take<std::uint16_t>(rows * m.in);
    exl3Rotate({ rotated, static_cast<std::size_t>(rows * m.in) }, x, m, rows, pool);
    const std::int64_t blocks = m.out / kExl3Block;
    const std::int64_t groups = (rows + kExl3BlockRows - 1) / kExl3BlockRows;
    const std::int64_t work
        = m.in * kExl3Block * (kDecodeWork + std::min<std::int64_t>(rows, kExl3BlockRows));
    pool.parallelFor(groups * blocks, partsWorth(work), [&](std::int64_t first, std::int64_t last) {
        std::array<const std::uint16_t *, kExl3BlockRows> in {};
        std::array<float *, kExl3BlockRows> out {};
        for (std::int64_t part = first; part < last; ++part) {
            const std::int64_t row = part / blocks * kExl3BlockRows;
            const std::int64_t block = part % blocks;
            const auto count
                = static_cast<std::size_t>(std::min<std::int64_t>(kExl3BlockRows, rows - row));
            for (std::size_t r = 0; r < count; ++r) {
                const std::int64_t t = row + static_cast<std::int64_t>(r);
                in[r] = rotated + t * m.in;
                out[r] = y.data() + t * m.out + block * kExl3Block;
            }
            exl3MultiplyBlock(std::span(out).first(count), std::span(in).first(count), m, block);
        }
    });
}

// Per assignment: the input rotated for gate and for up as F16, whose place the float32 output
// takes later, and the activation rotated for down.
std::size_t exl3ExpertsScratchBytes(const Exl3MoeShape &shape, std::int64_t rows)
{
    const std::int64_t assignments = rows * shape.expertsPerToken;
    return static_cast<std::size_t>(assignments)
        * (2 * static_cast<std::size_t>(shape.hidden) * sizeof(std::uint16_t)
           + static_cast<std::size_t>(shape.width) * sizeof(std::uint16_t));
}

void exl3Experts(std::span<float> y, std::span<const float> x,
                 std::span<const std::int32_t> experts, std::span<const float> weights,
                 std::span<const Exl3Expert> table, const Exl3MoeShape &shape, std::int64_t rows,
                 const Exl3Scratch &scratch, ThreadPool &pool)
{
    const std::int64_t assignments = rows * shape.expertsPerToken;
    const std::int64_t hidden = shape.hidden;
    const std::int64_t width = shape.width;
    const Grouping grouping
        = groupByExpert(experts.first(static_cast<std::size_t>(assignments)), shape.experts);
    ScratchReader reader(scratch.bytes);
    auto *inputs = reader.take<std::uint16_t>(assignments * hidden * 2);
    auto *activations = reader.take<std::uint16_t>(assignments * width);
    auto *outputs = reinterpret_cast<float *>(inputs);

    const auto slots = [&](const ExpertRows &group) {
        return std::span(grouping.sorted).subspan(group.begin, group.count);
    };
    const auto expertOf
        = [&](const ExpertRows &group) { return table[static_cast<std::size_t>(group.expert)]; };

    forGroupBlocks(grouping, hidden, std::int64_t { 16 } * kExl3Block, pool,
                   [&](const ExpertRows &group, std::int64_t block) {
                       const Exl3Expert expert = expertOf(group);
                       const std::int64_t first = block * kExl3Block;
                       for (const std::int32_t slot : slots(group)) {
                           const float *row
                               = x.data() + slot / shape.expertsPerToken * hidden + first;
                           std::uint16_t *rotated = inputs + slot * hidden * 2 + first;
                           exl3RotateInput(rotated, row, expert.gate.suh + first);
                           exl3RotateInput(rotated + hidden, row, expert.up.suh + first);
                       }
                   });

    forGroupBlocks(grouping, width, 2 * hidden * kExl3Block * kDecodeWork, pool,
                   [&](const ExpertRows &group, std::int64_t block) {
                       const Exl3Expert expert = expertOf(group);
                       std::array<float, std::size_t { kExl3BlockRows } * kExl3Block> gate;
                       std::array<float, std::size_t { kExl3BlockRows } * kExl3Block> up;
                       std::array<float *, kExl3BlockRows> gateRows {};
                       std::array<float *, kExl3BlockRows> upRows {};
                       std::array<const std::uint16_t *, kExl3BlockRows> gateInputs {};
                       std::array<const std::uint16_t *, kExl3BlockRows> upInputs {};
                       const auto chosen = slots(group);
                       for (std::size_t r = 0; r < chosen.size(); ++r) {
                           gateRows[r] = gate.data() + r * kExl3Block;
                           upRows[r] = up.data() + r * kExl3Block;
                           gateInputs[r] = inputs + chosen[r] * hidden * 2;
                           upInputs[r] = gateInputs[r] + hidden;
                       }
                       exl3MultiplyBlock(std::span(gateRows).first(group.count),
                                         std::span(gateInputs).first(group.count), expert.gate,
                                         block);
                       exl3MultiplyBlock(std::span(upRows).first(group.count),
                                         std::span(upInputs).first(group.count), expert.up, block);
                       const std::int64_t first = block * kExl3Block;
                       for (std::size_t r = 0; r < chosen.size(); ++r) {
                           activate(gateRows[r], upRows[r], shape.swigluLimit);
                           exl3RotateInput(activations + chosen[r] * width + first, gateRows[r],
                                           expert.down.suh + first);
                       }
                   });

    forGroupBlocks(grouping, hidden, width * kExl3Block * kDecodeWork, pool,
                   [&](const ExpertRows &group, std::int64_t block) {
                       std::array<float *, kExl3BlockRows> out {};
                       std::array<const std::uint16_t *, kExl3BlockRows> in {};
                       const auto chosen = slots(group);
                       for (std::size_t r = 0; r < chosen.size(); ++r) {
                           out[r] = outputs + chosen[r] * hidden + block * kExl3Block;
                           in[r] = activations + chosen[r] * width;
                       }
                       exl3MultiplyBlock(std::span(out).first(group.count),
                                         std::span(in).first(group.count), expertOf(group).down,
                                         block);
                   });

    pool.parallelFor(rows, partsWorth(hidden * shape.expertsPerToken),
                     [&](std::int64_t first, std::int64_t last) {
                         for (std::int64_t t = first; t < last; ++t)
                             for (std::int64_t c = 0; c < hidden; ++c) {
                                 float sum = 0;
                                 for (std::int64_t i = 0; i < shape.expertsPerToken; ++i) {
                                     const std::int64_t slot = t * shape.expertsPerToken + i;
                                     sum += weights[static_cast<std::size_t>(slot)]
                                         * outputs[slot * hidden + c];
                                 }
                                 y[static_cast<std::size_t>(t * hidden + c)] = sum;
                             }
                     });
}

} // namespace reference

void dequantizeExl3(std::span<float> w, const Exl3Matrix &m, ThreadPool &pool)
{
    const std::int64_t inBlocks = m.in / kExl3Block;
    const std::int64_t outBlocks = m.out / kExl3Block;
    pool.parallelFor(inBlocks * outBlocks, partsWorth(kDecodeWork * kExl3Block * kExl3Block),
                     [&](std::int64_t first, std::int64_t last) {
                         for (std::int64_t i = first; i < last; ++i) {
                             const std::int64_t outBlock = i / inBlocks;
                             const std::int64_t inBlock = i % inBlocks;
                             exl3DequantizeBlock(w.data() + outBlock * kExl3Block * m.in
                                                     + inBlock * kExl3Block,
                                                 m.in, m, inBlock, outBlock);
                         }
                     });
}

} // namespace firesteel::kernels
