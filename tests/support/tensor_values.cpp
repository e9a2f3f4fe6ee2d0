// SPDX-License-Identifier: MIT
#include "tests/support/tensor_values.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <stdexcept>

namespace firesteel::test {

namespace {

std::uint16_t toBf16(float value)
{
    const auto bits = std::bit_cast<std::uint32_t>(value);
    return static_cast<std::uint16_t>((bits + 0x7FFFU + (bits >> 16U & 1U)) >> 16U);
}

// For |value| < 65520.
std::uint16_t toF16(float value)
{
    const int sign = std::signbit(value) ? 0x8000 : 0;
    const float magnitude = std::fabs(value);
    int exponent = -100; // of zero: anything below the subnormals
    if (magnitude > 0)
        std::frexp(magnitude, &exponent); // magnitude in [2^(exponent-1), 2^exponent)
    const int biased = std::max(exponent + 14, 1); // 1 also scales the subnormals
    // In units of the last place: nearbyint rounds to even, ldexp is exact. A normal number's
    // implicit bit (1024) raises the exponent field by one, as does a carry out of the mantissa.
    const auto units = static_cast<int>(std::nearbyint(std::ldexp(magnitude, 25 - biased)));
    return static_cast<std::uint16_t>(sign + (biased - 1) * 1024 + units);
}

} // namespace

float normal(RandomValues &random)
{
    // The sum of four uniforms: no logarithm whose last bit depends on the C library.
    const std::uint64_t bits = random.bits();
    std::int32_t sum = -4 * 32768 + 2;
    for (unsigned i = 0; i < 4; ++i)
        sum += static_cast<std::int32_t>(bits >> 16 * i & 0xFFFFU);
    return static_cast<float>(sum) * (1.7320508F / 65536.0F); // the sum's variance is 4/12
}

void appendElement(std::string &bytes, engine::TensorType type, float value)
{
    std::uint32_t bits = 0;
    if (type == engine::TensorType::F32)
        bits = std::bit_cast<std::uint32_t>(value);
    else if (type == engine::TensorType::BF16)
        bits = toBf16(value);
    else if (type == engine::TensorType::F16)
        bits = toF16(value);
    else
        throw std::logic_error("appendElement: not a plain type");
    for (std::size_t i = 0; i < engine::tensorTypeBytes(type); ++i)
        bytes += static_cast<char>(bits >> 8 * i & 0xFFU);
}

} // namespace firesteel::test
