// SPDX-License-Identifier: MIT
#include "tests/engine/decode/reference_sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

namespace firesteel::test {

namespace {

std::vector<double> penalised(std::span<const float> logits, const engine::SamplingParams &params,
                              const ReferenceHistory &history, const std::vector<bool> &allowed)
{
    std::vector<double> x(logits.begin(), logits.end());
    for (std::size_t i = 0; i < x.size(); ++i) {
        if (!allowed.empty() && !allowed[i])
            x[i] = -std::numeric_limits<double>::infinity();
    }
    for (const auto &[id, bias] : params.logitBias)
        x[static_cast<std::size_t>(id)]
            += bias <= -100 ? -std::numeric_limits<double>::infinity() : static_cast<double>(bias);
    std::set<std::int32_t> seen(history.prompt.begin(), history.prompt.end());
    seen.insert(history.answer.begin(), history.answer.end());
    for (const std::int32_t id : seen) {
        double &logit = x[static_cast<std::size_t>(id)];
        const auto penalty = static_cast<double>(params.repetitionPenalty);
        logit = logit > 0 ? logit / penalty : logit * penalty;
        const auto count = std::ranges::count(history.answer, id);
        if (count > 0)
            logit -= static_cast<double>(params.presencePenalty)
                + static_cast<double>(params.frequencyPenalty) * static_cast<double>(count);
    }
    return x;
}

} // namespace

std::vector<double> referenceDistribution(std::span<const float> logits,
                                          const engine::SamplingParams &params,
                                          const ReferenceHistory &history,
                                          const std::vector<bool> &allowed)
{
    const std::vector<double> x = penalised(logits, params, history, allowed);
    std::vector<std::size_t> order(x.size());
    std::iota(order.begin(), order.end(), std::size_t { 0 });
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return x[a] > x[b]; });

    std::vector<double> weights(x.size());
    for (std::size_t i = 0; i < x.size(); ++i)
        weights[i] = std::exp((x[i] - x[order[0]]) / static_cast<double>(params.temperature));
    if (params.topK > 0 && static_cast<std::size_t>(params.topK) < order.size())
        order.resize(static_cast<std::size_t>(params.topK));
    double total = 0;
    for (const std::size_t id : order)
        total += weights[id];
    if (params.topP < 1) {
        double mass = 0;
        std::size_t kept = 0;
        while (kept < order.size() && mass < static_cast<double>(params.topP) * total)
            mass += weights[order[kept++]];
        order.resize(kept);
    }
    std::erase_if(order,
                  [&](std::size_t id) { return weights[id] < static_cast<double>(params.minP); });

    std::vector<double> distribution(x.size(), 0.0);
    total = 0;
    for (const std::size_t id : order)
        total += weights[id];
    for (const std::size_t id : order)
        distribution[id] = weights[id] / total;
    return distribution;
}

std::optional<std::int32_t> referenceDraw(std::span<const double> distribution, double uniform,
                                          double margin)
{
    double cumulated = 0;
    for (std::size_t i = 0; i < distribution.size(); ++i) {
        if (distribution[i] == 0)
            continue;
        const double next = cumulated + distribution[i];
        if (uniform < next) {
            const bool isClear
                = (uniform - cumulated > margin || cumulated == 0) && (next - uniform > margin);
            return isClear ? std::optional(static_cast<std::int32_t>(i)) : std::nullopt;
        }
        cumulated = next;
    }
    return std::nullopt;
}

} // namespace firesteel::test
