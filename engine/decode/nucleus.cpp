// SPDX-License-Identifier: MIT
#include "engine/decode/nucleus.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>

namespace firesteel::engine {

namespace {

// Beyond this a weight is below 1.7e-38 and counts as 0: nothing is ever drawn there, and nothing
// there needs a cut.
constexpr float kLargestDistance = 87.0F;

// 1/16 nat per bin. All of it stays in the first-level cache, and a bin of a usual distribution
// holds a few thousand ids.
constexpr float kBinsPerNat = 16.0F;
constexpr std::size_t kWeightlessBin = 87 * 16; // and the last one
constexpr std::size_t kBins = kWeightlessBin + 1;
constexpr std::size_t kBlock = 256;

std::size_t binOf(float distance)
{
    return static_cast<std::size_t>(
        static_cast<std::int32_t>(std::min(distance, kLargestDistance) * kBinsPerNat));
}

} // namespace

void expNegative(std::span<const float> distance, std::span<float> weights)
{
    // exp(y) = 2^n * exp(r) with n = round(y / ln 2), |r| <= ln 2 / 2 in two parts (Cody & Waite),
    // exp(r) by its series up to r^7 (error 5e-9). Branch-free, so that the compiler makes vector
    // code of it on any target.
    constexpr auto kLog2E = std::numbers::log2e_v<float>;
    constexpr float kLn2High = 355.0F / 512; // 9 bits: n * kLn2High is exact
    constexpr float kLn2Low = -2.12194440e-4F;
    constexpr float kRoundToInteger = 12582912.0F; // 1.5 * 2^23
    for (std::size_t i = 0; i < weights.size(); ++i) {
        const float d = distance[i];
        const float y = d < kLargestDistance ? -d : -kLargestDistance;
        const float n = (y * kLog2E + kRoundToInteger) - kRoundToInteger;
        const float r = (y - n * kLn2High) - n * kLn2Low;
        float series = 1.0F / 5040;
        series = series * r + 1.0F / 720;
        series = series * r + 1.0F / 120;
        series = series * r + 1.0F / 24;
        series = series * r + 1.0F / 6;
        series = series * r + 0.5F;
        series = series * r + 1.0F;
        series = series * r + 1.0F;
        const std::int32_t scale = (static_cast<std::int32_t>(n) + 127) << 23;
        weights[i] = series * std::bit_cast<float>(d < kLargestDistance ? scale : 0);
    }
}

void Nucleus::weigh(std::span<float> logits, float largest, float temperature, bool needsBins)
{
    m_weights.resize(logits.size());
    if (needsBins)
        m_bins.assign(kBins, {});
    std::array<float, kBlock> distance;
    std::array<std::int32_t, kBlock> bin;
    for (std::size_t begin = 0; begin < logits.size(); begin += kBlock) {
        const std::size_t count = std::min(kBlock, logits.size() - begin);
        const std::span<float> gaps = logits.subspan(begin, count);
        const std::span<float> weights = std::span(m_weights).subspan(begin, count);
        for (std::size_t i = 0; i < count; ++i) {
            gaps[i] = largest - gaps[i];
            distance[i] = gaps[i] / temperature; // a division: 1 / temperature may overflow
        }
        expNegative(std::span(distance).first(count), weights);
        if (!needsBins)
            continue;
        for (std::size_t i = 0; i < count; ++i)
            bin[i] = static_cast<std::int32_t>(binOf(distance[i]));
        for (std::size_t i = 0; i < count; ++i) {
            Bin &entry = m_bins[static_cast<std::size_t>(bin[i])];
            ++entry.count;
            entry.mass += static_cast<double>(weights[i]);
        }
    }
}

void Nucleus::gather(std::span<const float> gaps, float temperature, std::size_t bin)
{
    m_candidates.clear();
    m_candidates.reserve(gaps.size());
    // Most ids are far from the bin; the division is for those in it or next to it.
    const float nearest = (static_cast<float>(bin) - 1) * temperature / kBinsPerNat;
    const float farthest = (static_cast<float>(bin) + 2) * temperature / kBinsPerNat;
    for (std::size_t i = 0; i < gaps.size(); ++i) {
        if (gaps[i] >= nearest && gaps[i] <= farthest && binOf(gaps[i] / temperature) == bin)
            m_candidates.push_back({ gaps[i], m_weights[i], static_cast<std::int32_t>(i) });
    }
}

namespace {

constexpr auto kLikelierFirst
    = [](const auto &a, const auto &b) { return a.gap != b.gap ? a.gap < b.gap : a.id < b.id; };

double massOf(auto first, auto last)
{
    double mass = 0;
    for (; first != last; ++first)
        mass += static_cast<double>(first->weight);
    return mass;
}

} // namespace

Nucleus::Cut Nucleus::cutAtCount(std::span<const float> gaps, float temperature, std::int64_t count)
{
    Cut cut;
    for (std::size_t bin = 0; bin < kBins; ++bin) {
        if (m_bins[bin].count < count || bin == kWeightlessBin) {
            count -= m_bins[bin].count;
            cut.mass += m_bins[bin].mass;
            continue;
        }
        gather(gaps, temperature, bin);
        const auto last = m_candidates.begin() + (count - 1);
        std::nth_element(m_candidates.begin(), last, m_candidates.end(), kLikelierFirst);
        cut.mass += massOf(m_candidates.begin(), last + 1);
        return { last->gap, last->id, cut.mass, false };
    }
    return cut;
}

Nucleus::Cut Nucleus::cutAtMass(std::span<const float> gaps, float temperature, double mass)
{
    Cut cut;
    for (std::size_t bin = 0; bin < kWeightlessBin; ++bin) {
        if (cut.mass + m_bins[bin].mass < mass) {
            cut.mass += m_bins[bin].mass;
            continue;
        }
        // A binary search for the id that reaches `mass`, ordering only as much as each step needs.
        gather(gaps, temperature, bin);
        auto first = m_candidates.begin();
        auto last = m_candidates.end();
        while (last - first > 1) {
            const auto middle = first + (last - first) / 2;
            std::nth_element(first, middle, last, kLikelierFirst);
            const double before = massOf(first, middle);
            if (cut.mass + before >= mass) {
                last = middle;
            } else {
                cut.mass += before;
                first = middle;
            }
        }
        return { first->gap, first->id, cut.mass + static_cast<double>(first->weight), false };
    }
    return cut;
}

std::span<const float> Nucleus::weights(std::span<float> logits, float largest,
                                        const NucleusParams &params)
{
    const bool hasTopK = params.topK > 0 && static_cast<std::size_t>(params.topK) < logits.size();
    const bool hasTopP = params.topP < 1.0F;
    weigh(logits, largest, params.temperature, hasTopK || hasTopP);
    const std::span<const float> gaps = logits;

    Cut cut;
    if (hasTopK)
        cut = cutAtCount(gaps, params.temperature, params.topK);
    if (hasTopP) {
        double mass = cut.mass;
        if (cut.keepsAll) {
            mass = 0;
            for (const Bin &bin : m_bins)
                mass += bin.mass;
        }
        const Cut byMass
            = cutAtMass(gaps, params.temperature, static_cast<double>(params.topP) * mass);
        if (!byMass.keepsAll && (cut.keepsAll || kLikelierFirst(byMass, cut)))
            cut = byMass;
    }
    const float lastGap = cut.keepsAll ? std::numeric_limits<float>::infinity() : cut.gap;
    const std::int32_t lastId = cut.keepsAll ? std::numeric_limits<std::int32_t>::max() : cut.id;
    if (!cut.keepsAll || params.minP > 0) {
        for (std::size_t i = 0; i < gaps.size(); ++i) {
            const bool isKept = gaps[i] < lastGap
                || (gaps[i] == lastGap && static_cast<std::int32_t>(i) <= lastId);
            if (!isKept || m_weights[i] < params.minP)
                m_weights[i] = 0.0F;
        }
    }
    return m_weights;
}

} // namespace firesteel::engine
