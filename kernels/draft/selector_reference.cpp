// SPDX-License-Identifier: MIT
//
// The drafter's candidates and its walk through them on the CPU.
#include "kernels/draft/draft.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace firesteel::kernels {

namespace {

// Index of the candidate at quantile `uniform` of softmax(scores / temperature), ids ascending.
std::size_t candidateAt(double uniform, std::span<const float> scores,
                        std::span<const std::int32_t> ids, float temperature)
{
    std::vector<std::size_t> order(ids.size());
    std::iota(order.begin(), order.end(), std::size_t { 0 });
    std::ranges::sort(order, {}, [&](std::size_t i) { return ids[i]; });
    const float top = std::ranges::max(scores);
    std::vector<double> weights(ids.size());
    double total = 0;
    for (std::size_t i = 0; i < ids.size(); ++i) {
        weights[i]
            = std::exp(static_cast<double>(scores[i] - top) / static_cast<double>(temperature));
        total += weights[i];
    }
    double below = 0;
    for (const std::size_t i : order) {
        below += weights[i];
        if (uniform * total < below)
            return i;
    }
    return order.back();
}

} // namespace

void launchTopLogits(std::span<std::int32_t> ids, std::span<float> values,
                     std::span<const float> logits, std::int64_t width, std::int64_t count,
                     std::int64_t rows, Stream &stream)
{
    const auto better = [](float a, std::int32_t idA, float b, std::int32_t idB) {
        return a > b || (a == b && idA < idB);
    };
    stream.pool().parallelFor(rows, 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t t = begin; t < end; ++t) {
            const std::span<const float> row = logits.subspan(static_cast<std::size_t>(t * width),
                                                              static_cast<std::size_t>(width));
            const std::span<std::int32_t> topIds
                = ids.subspan(static_cast<std::size_t>(t * count), static_cast<std::size_t>(count));
            const std::span<float> top = values.subspan(static_cast<std::size_t>(t * count),
                                                        static_cast<std::size_t>(count));
            std::size_t held = 0; // sorted, best first
            for (std::size_t id = 0; id < row.size(); ++id) {
                const auto candidate = static_cast<std::int32_t>(id);
                if (held == top.size() && !(row[id] > top.back()))
                    continue;
                std::size_t at = held < top.size() ? held++ : held - 1;
                for (; at > 0 && better(row[id], candidate, top[at - 1], topIds[at - 1]); --at) {
                    top[at] = top[at - 1];
                    topIds[at] = topIds[at - 1];
                }
                top[at] = row[id];
                topIds[at] = candidate;
            }
        }
    });
}

void launchDraftSelect(std::span<std::int32_t> drafts, std::span<float> scores,
                       const DraftSelection &selection, Stream & /*stream*/)
{
    const std::size_t rows = drafts.size();
    const std::size_t candidates = selection.ids.size() / rows;
    const std::int64_t rank = selection.predecessors.cols;
    std::vector<float> transition(static_cast<std::size_t>(rank));
    std::int32_t previous = selection.previous;
    for (std::size_t t = 0; t < rows; ++t) {
        for (std::int64_t r = 0; r < rank; ++r)
            transition[static_cast<std::size_t>(r)]
                = elementOf(selection.predecessors, previous * rank + r)
                * selection
                      .hidden[t * static_cast<std::size_t>(rank) + static_cast<std::size_t>(r)];
        const auto ids = selection.ids.subspan(t * candidates, candidates);
        const auto row = scores.subspan(t * candidates, candidates);
        for (std::size_t c = 0; c < candidates; ++c) {
            float sum = 0;
            for (std::int64_t r = 0; r < rank; ++r)
                sum += transition[static_cast<std::size_t>(r)]
                    * elementOf(selection.successors, ids[c] * rank + r);
            row[c] = selection.logits[t * candidates + c] + sum;
        }
        const std::size_t chosen = selection.temperature > 0
            ? candidateAt(selection.uniforms[t], row, ids, selection.temperature)
            : static_cast<std::size_t>(std::ranges::max_element(row) - row.begin());
        previous = drafts[t] = ids[chosen];
    }
}

} // namespace firesteel::kernels
