// SPDX-License-Identifier: MIT
#include "engine/decode/sampler.h"

#include "engine/decode/philox.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <stdexcept>

namespace firesteel::engine {

namespace {

constexpr float kBanned = -std::numeric_limits<float>::infinity();
constexpr float kBanningBias = -100.0F;
constexpr std::size_t kBitsPerWord = 64;
constexpr std::size_t kDrawBlock = 256;
constexpr std::size_t kLanes = 8;

bool isFinite(std::span<const float> values)
{
    constexpr std::uint32_t kExponent = 0x7F800000;
    std::uint32_t found = 0; // an integer reduction, which the compiler may vectorise
    for (const float value : values)
        found |= static_cast<std::uint32_t>((std::bit_cast<std::uint32_t>(value) & kExponent)
                                            == kExponent);
    return found == 0;
}

float largestOf(std::span<const float> values)
{
    float lanes[kLanes];
    std::fill_n(lanes, kLanes, kBanned);
    std::size_t i = 0;
    for (; i + kLanes <= values.size(); i += kLanes) {
        for (std::size_t lane = 0; lane < kLanes; ++lane)
            lanes[lane] = values[i + lane] > lanes[lane] ? values[i + lane] : lanes[lane];
    }
    float largest = *std::max_element(lanes, lanes + kLanes);
    for (; i < values.size(); ++i)
        largest = std::max(largest, values[i]);
    return largest;
}

double sumOf(std::span<const float> values)
{
    double lanes[kLanes] = {};
    std::size_t i = 0;
    for (; i + kLanes <= values.size(); i += kLanes) {
        for (std::size_t lane = 0; lane < kLanes; ++lane)
            lanes[lane] += static_cast<double>(values[i + lane]);
    }
    for (; i < values.size(); ++i)
        lanes[i % kLanes] += static_cast<double>(values[i]);
    double sum = 0;
    for (const double lane : lanes)
        sum += lane;
    return sum;
}

} // namespace

Sampler::Sampler(SamplingParams params, TokenMask mapped, std::uint64_t seed)
    : m_params(std::move(params))
    , m_mapped(mapped)
    , m_seed(seed)
    , m_history(m_params, mapped.size() * kBitsPerWord)
{
}

void Sampler::addPrompt(std::span<const std::int32_t> tokens) { m_history.addPrompt(tokens); }

void Sampler::accept(std::int32_t token) { m_history.accept(token); }

void Sampler::undo(int tokens) { m_history.undo(tokens); }

void Sampler::applyMask(std::span<float> logits, TokenMask mask) const
{
    constexpr std::uint64_t kAll = ~std::uint64_t { 0 };
    const std::size_t words = (logits.size() + kBitsPerWord - 1) / kBitsPerWord;
    if (m_mapped.size() < words || (!mask.empty() && mask.size() < words))
        throw std::logic_error("Sampler: a token mask is shorter than the vocabulary");
    for (std::size_t word = 0; word < words; ++word) {
        const std::uint64_t allowed = m_mapped[word] & (mask.empty() ? kAll : mask[word]);
        if (allowed == kAll)
            continue;
        const std::size_t begin = word * kBitsPerWord;
        const std::size_t end = std::min(begin + kBitsPerWord, logits.size());
        for (std::size_t i = begin; i < end; ++i)
            logits[i] = ((allowed >> (i - begin)) & 1) != 0 ? logits[i] : kBanned;
    }
}

void Sampler::applyBias(std::span<float> logits) const
{
    for (const auto &[id, bias] : m_params.logitBias) {
        float &logit = logits[static_cast<std::size_t>(id)];
        logit = bias <= kBanningBias ? kBanned : logit + bias;
    }
}

std::optional<std::int32_t> Sampler::sample(std::span<float> logits, std::uint64_t position,
                                            TokenMask mask)
{
    if (!isFinite(logits))
        throw std::logic_error("Sampler: the model's logits are not finite");
    applyMask(logits, mask);
    applyBias(logits);
    m_history.penalise(logits);
    const float largest = largestOf(logits);
    if (largest == kBanned)
        return std::nullopt;
    if (m_params.temperature == 0)
        return static_cast<std::int32_t>(std::ranges::find(logits, largest) - logits.begin());
    return draw(
        m_nucleus.weights(logits, largest,
                          { m_params.temperature, m_params.topK, m_params.topP, m_params.minP }),
        position);
}

// Walks the ids upwards until their summed weight passes the uniform number, by blocks first.
std::int32_t Sampler::draw(std::span<const float> weights, std::uint64_t position)
{
    const std::size_t blocks = (weights.size() + kDrawBlock - 1) / kDrawBlock;
    const auto block = [&](std::size_t index) {
        return weights.subspan(index * kDrawBlock,
                               std::min(kDrawBlock, weights.size() - index * kDrawBlock));
    };
    m_blockSums.resize(blocks);
    double total = 0;
    for (std::size_t i = 0; i < blocks; ++i) {
        m_blockSums[i] = sumOf(block(i));
        total += m_blockSums[i];
    }

    const double target = uniformAt(m_seed, position) * total;
    double passed = 0;
    std::size_t chosen = 0;
    for (std::size_t i = 0; i < blocks; ++i) {
        if (m_blockSums[i] == 0)
            continue;
        chosen = i; // the last one with weight, should rounding carry the target past the end
        if (passed + m_blockSums[i] > target)
            break;
        passed += m_blockSums[i];
    }
    std::size_t id = 0;
    const std::span<const float> candidates = block(chosen);
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        if (candidates[i] == 0)
            continue;
        id = chosen * kDrawBlock + i;
        passed += static_cast<double>(candidates[i]);
        if (passed > target)
            break;
    }
    return static_cast<std::int32_t>(id);
}

} // namespace firesteel::engine
