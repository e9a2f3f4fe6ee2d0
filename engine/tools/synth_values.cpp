// SPDX-License-Identifier: MIT
#include "engine/tools/synth_values.h"

#include "kernels/exl3/exl3_codec.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <numbers>

namespace firesteel::engine {

namespace {

std::uint64_t hashOf(std::string_view text)
{
    std::uint64_t hash = 0xCBF29CE484222325U; // FNV-1a
    for (const char character : text)
        hash = (hash ^ static_cast<unsigned char>(character)) * 0x100000001B3U;
    return hash;
}

std::uint16_t bf16Bits(float value)
{
    const auto bits = std::bit_cast<std::uint32_t>(value); // finite
    return static_cast<std::uint16_t>((bits + 0x7FFFU + (bits >> 16U & 1U)) >> 16U);
}

std::uint16_t f16Bits(float value)
{
    return std::bit_cast<std::uint16_t>(static_cast<_Float16>(value));
}

} // namespace

ValueDistribution syntheticValues(std::string_view name, const std::vector<std::int64_t> &shape)
{
    if (name.ends_with("norm.weight") || name.ends_with("norm1.weight")
        || name.ends_with("norm2.weight"))
        return { 1, 0.1F };
    if (name.ends_with("conv1d.weight"))
        return { 0, 0.5F };
    if (name.ends_with("A_log"))
        return { 0, 0.5F };
    if (name.ends_with("dt_bias")) // decays of about 0.8 per token: the state remembers
        return { -3, 1 };
    if (name.ends_with("_scale"))
        return { 0.5F, 0.1F };
    if (name.ends_with("_base"))
        return { 0, 0.5F };
    if (name.ends_with("e_score_correction_bias"))
        return { 0, 0.05F };
    if (name.ends_with(".bias"))
        return { 0, 0.1F };
    if (name.ends_with("compress_ape"))
        return { 0, 0.3F };
    if (name.ends_with("embed_tokens.weight"))
        return { 0, 1 };
    float inputs = 1;
    for (std::size_t i = 1; i < shape.size(); ++i)
        inputs *= static_cast<float>(shape[i]);
    // A head that has favourites, so that greedy choices rarely tie.
    return { 0, (name == "lm_head.weight" ? 3.0F : 1.0F) / std::sqrt(inputs) };
}

SyntheticTensor::SyntheticTensor(std::string_view name, TensorType type,
                                 const std::vector<std::int64_t> &shape, std::uint64_t seed)
    : m_type(type)
    , m_values(syntheticValues(name, shape))
    , m_state(seed ^ hashOf(name))
{
    if (name.ends_with(".trellis")) {
        m_kind = Kind::Bits; // any bits are a valid trellis; decoded values have a spread of 1
    } else if (name.ends_with(".suh")) {
        m_kind = Kind::Scales;
        m_values.spread = 1 / std::sqrt(static_cast<float>(shape.front()));
    } else if (name.ends_with(".svh")) {
        m_kind = Kind::Scales;
        m_values.spread = name == "lm_head.svh" ? 3 : 1;
    } else if (name.ends_with(".mul1")) {
        m_kind = Kind::Marker;
    }
}

// SplitMix64, of which any number can be asked for.
std::uint64_t SyntheticTensor::bitsAt(std::uint64_t index) const
{
    std::uint64_t z = m_state + (index + 1) * 0x9E3779B97F4A7C15U;
    z = (z ^ z >> 30U) * 0xBF58476D1CE4E5B9U;
    z = (z ^ z >> 27U) * 0x94D049BB133111EBU;
    return z ^ z >> 31U;
}

float SyntheticTensor::valueAt(std::uint64_t index) const
{
    const std::uint64_t bits = bitsAt(index);
    if (m_kind == Kind::Scales) {
        const float magnitude = 0.5F + static_cast<float>(bits >> 40U) * 0x1p-24F; // 0.5 .. 1.5
        return ((bits & 1U) != 0 ? -magnitude : magnitude) * m_values.spread;
    }
    // The sum of four uniforms is near enough to a normal deviate; its variance is 4 / 12.
    std::int32_t sum = -4 * 32768 + 2;
    for (unsigned i = 0; i < 4; ++i)
        sum += static_cast<std::int32_t>(bits >> 16U * i & 0xFFFFU);
    return m_values.mean
        + m_values.spread * static_cast<float>(sum) * (std::numbers::sqrt3_v<float> / 65536.0F);
}

void SyntheticTensor::fill(std::span<std::byte> bytes, std::uint64_t first) const
{
    const std::size_t size = tensorTypeBytes(m_type);
    for (std::size_t i = 0; i < bytes.size() / size; ++i) {
        std::byte *place = bytes.data() + i * size;
        const std::uint64_t index = first + i;
        if (m_kind == Kind::Bits) {
            const auto word = static_cast<std::uint16_t>(bitsAt(index / 4) >> index % 4 * 16);
            std::memcpy(place, &word, sizeof word);
        } else if (m_kind == Kind::Marker) {
            std::memcpy(place, &kernels::kExl3Mul1Multiplier, sizeof(std::uint32_t));
        } else if (m_type == TensorType::F32) {
            const float value = valueAt(index);
            std::memcpy(place, &value, sizeof value);
        } else {
            const float value = valueAt(index);
            const std::uint16_t half
                = m_type == TensorType::BF16 ? bf16Bits(value) : f16Bits(value);
            std::memcpy(place, &half, sizeof half);
        }
    }
}

} // namespace firesteel::engine
