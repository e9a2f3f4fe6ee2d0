// SPDX-License-Identifier: MIT
#include "kernels/common/simd.h"
#include "kernels/linear/dot_block.h"
#include "kernels/moe/moe_backends.h"
#include "kernels/moe/swiglu.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <vector>

namespace firesteel::kernels::reference {

namespace {

FIRESTEEL_SIMD_CLONES void swigluPart(float *y, const float *gate, const float *up, float limit,
                                      std::int64_t count)
{
    for (std::int64_t c = 0; c < count; c += 8)
        store8(y + c, clampedSwiglu8(load8(gate + c), load8(up + c), limit));
}

// Multiplies a block of columns of one expert's matrix with all of that expert's rows.
void expertColumns(std::span<float> y, std::int64_t yWidth, const float *x, std::int64_t xWidth,
                   std::span<const std::int32_t> yRows, std::span<const std::int32_t> xRows,
                   const Matrix &w, std::int64_t first, std::int64_t last)
{
    std::array<const float *, kDotRows> in {};
    std::array<float *, kDotRows> out {};
    for (std::size_t begin = 0; begin < yRows.size(); begin += kDotRows) {
        const std::size_t count = std::min<std::size_t>(kDotRows, yRows.size() - begin);
        for (std::size_t r = 0; r < count; ++r) {
            in[r] = x + xRows[begin + r] * xWidth;
            out[r] = y.data() + yRows[begin + r] * yWidth;
        }
        dotBlock(std::span(out).first(count), std::span(in).first(count), w, first, last);
    }
}

} // namespace

void swiglu(std::span<float> y, std::span<const float> gate, std::span<const float> up, float limit,
            ThreadPool &pool)
{
    pool.parallelFor(static_cast<std::int64_t>(y.size()), 16384,
                     [&](std::int64_t first, std::int64_t last) {
                         swigluPart(y.data() + first, gate.data() + first, up.data() + first, limit,
                                    last - first);
                     });
}

void moeRouter(std::span<std::int32_t> experts, std::span<float> weights,
               std::span<const float> logits, std::span<const float> bias, const MoeShape &shape,
               std::int64_t rows)
{
    std::vector<float> score(static_cast<std::size_t>(shape.experts));
    std::vector<std::int32_t> order(score.size());
    for (std::int64_t t = 0; t < rows; ++t) {
        for (std::size_t e = 0; e < score.size(); ++e)
            score[e] = 1.0F
                / (1.0F + std::exp(-logits[static_cast<std::size_t>(t * shape.experts) + e]));
        std::iota(order.begin(), order.end(), 0);
        std::partial_sort(order.begin(), order.begin() + shape.expertsPerToken, order.end(),
                          [&](std::int32_t a, std::int32_t b) {
                              const float biasedA = score[static_cast<std::size_t>(a)]
                                  + bias[static_cast<std::size_t>(a)];
                              const float biasedB = score[static_cast<std::size_t>(b)]
                                  + bias[static_cast<std::size_t>(b)];
                              return biasedA != biasedB ? biasedA > biasedB : a < b;
                          });
        float sum = 0;
        for (std::int64_t i = 0; i < shape.expertsPerToken; ++i)
            sum += score[static_cast<std::size_t>(order[static_cast<std::size_t>(i)])];
        for (std::int64_t i = 0; i < shape.expertsPerToken; ++i) {
            const std::int32_t expert = order[static_cast<std::size_t>(i)];
            const auto at = static_cast<std::size_t>(t * shape.expertsPerToken + i);
            experts[at] = expert;
            weights[at]
                = score[static_cast<std::size_t>(expert)] / (sum + 1e-20F) * shape.routedScaling;
        }
    }
}

void moeExperts(std::span<float> y, std::span<const float> x, std::span<const std::int32_t> experts,
                std::span<const float> weights, std::span<const ExpertWeights> table,
                const MoeScratch &scratch, const MoeShape &shape, std::int64_t rows,
                ThreadPool &pool)
{
    const std::int64_t assignments = rows * shape.expertsPerToken;
    // Assignments sorted by expert; begins[e] .. begins[e + 1) are those of expert e.
    std::vector<std::int32_t> sorted(static_cast<std::size_t>(assignments));
    std::iota(sorted.begin(), sorted.end(), 0);
    std::stable_sort(sorted.begin(), sorted.end(), [&](std::int32_t a, std::int32_t b) {
        return experts[static_cast<std::size_t>(a)] < experts[static_cast<std::size_t>(b)];
    });
    struct Group
    {
        std::int32_t expert;
        std::size_t begin, count;
    };
    std::vector<Group> groups;
    std::vector<std::int32_t> sourceRows(sorted.size());
    for (std::size_t i = 0; i < sorted.size(); ++i) {
        const std::int32_t expert = experts[static_cast<std::size_t>(sorted[i])];
        if (expert < 0 || expert >= static_cast<std::int32_t>(table.size()))
            throw std::logic_error("launchMoeExperts: expert id out of range");
        if (groups.empty() || groups.back().expert != expert)
            groups.push_back({ expert, i, 0 });
        ++groups.back().count;
        sourceRows[i] = sorted[i] / static_cast<std::int32_t>(shape.expertsPerToken);
    }
    const auto groupCount = static_cast<std::int64_t>(groups.size());

    // Parts are (expert, block of columns), so that one busy expert still occupies every thread.
    const auto forBlocks = [&](std::int64_t columns, const auto &body) {
        constexpr std::int64_t kBlock = 64;
        const std::int64_t blocks = (columns + kBlock - 1) / kBlock;
        pool.parallelFor(groupCount * blocks, 2, [&](std::int64_t first, std::int64_t last) {
            for (std::int64_t part = first; part < last; ++part) {
                const Group &group = groups[static_cast<std::size_t>(part / blocks)];
                const std::int64_t begin = part % blocks * kBlock;
                body(group, std::span(sorted).subspan(group.begin, group.count),
                     std::span(sourceRows).subspan(group.begin, group.count), begin,
                     std::min(begin + kBlock, columns));
            }
        });
    };
    forBlocks(shape.expertWidth,
              [&](const Group &group, std::span<const std::int32_t> slots,
                  std::span<const std::int32_t> sources, std::int64_t first, std::int64_t last) {
                  const ExpertWeights &expert = table[static_cast<std::size_t>(group.expert)];
                  expertColumns(scratch.gate, shape.expertWidth, x.data(), shape.hidden, slots,
                                sources, expert.gate, first, last);
                  expertColumns(scratch.up, shape.expertWidth, x.data(), shape.hidden, slots,
                                sources, expert.up, first, last);
                  for (const std::int32_t slot : slots) {
                      const std::int64_t at = slot * shape.expertWidth + first;
                      swigluPart(scratch.gate.data() + at, scratch.gate.data() + at,
                                 scratch.up.data() + at, shape.swigluLimit, last - first);
                  }
              });
    forBlocks(shape.hidden,
              [&](const Group &group, std::span<const std::int32_t> slots,
                  std::span<const std::int32_t>, std::int64_t first, std::int64_t last) {
                  expertColumns(scratch.output, shape.hidden, scratch.gate.data(),
                                shape.expertWidth, slots, slots,
                                table[static_cast<std::size_t>(group.expert)].down, first, last);
              });
    for (std::int64_t t = 0; t < rows; ++t)
        for (std::int64_t c = 0; c < shape.hidden; ++c) {
            float sum = 0;
            for (std::int64_t i = 0; i < shape.expertsPerToken; ++i) {
                const std::int64_t slot = t * shape.expertsPerToken + i;
                sum += weights[static_cast<std::size_t>(slot)]
                    * scratch.output[static_cast<std::size_t>(slot * shape.hidden + c)];
            }
            y[static_cast<std::size_t>(t * shape.hidden + c)] = sum;
        }
}

} // namespace firesteel::kernels::reference
