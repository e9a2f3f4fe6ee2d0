// SPDX-License-Identifier: MIT
#include "kernels/common/simd.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <doctest/doctest.h>
#include <limits>

using namespace firesteel::kernels;

TEST_CASE("half and bfloat16 loads are exact for all 65,536 patterns")
{
    int wrong = 0;
    for (std::uint32_t base = 0; base < 65536; base += 8) {
        std::uint16_t bits[8];
        for (std::uint32_t lane = 0; lane < 8; ++lane)
            bits[lane] = static_cast<std::uint16_t>(base + lane);
        const Vec8 half = load8F16(bits);
        const Vec8 brain = load8Bf16(bits);
        for (int lane = 0; lane < 8; ++lane) {
            const auto expectedHalf = static_cast<float>(std::bit_cast<_Float16>(bits[lane]));
            const auto expectedBrain
                = std::bit_cast<float>(static_cast<std::uint32_t>(bits[lane]) << 16);
            const float h = half[lane];
            const float b = brain[lane];
            const bool halfEqual = std::isnan(expectedHalf)
                ? std::isnan(h)
                : std::bit_cast<std::uint32_t>(h) == std::bit_cast<std::uint32_t>(expectedHalf);
            wrong += halfEqual ? 0 : 1;
            wrong += std::bit_cast<std::uint32_t>(b) == std::bit_cast<std::uint32_t>(expectedBrain)
                ? 0
                : 1;
        }
    }
    CHECK(wrong == 0);
}

TEST_CASE(
    "rounding to half keeps every half, breaks ties to even and saturates like the conversion")
{
    int wrong = 0;
    const auto check = [&](float value) {
        const auto expected = std::bit_cast<std::uint16_t>(static_cast<_Float16>(value));
        const std::uint16_t actual = roundToF16(splat(value))[5];
        const bool bothNan = (expected & 0x7FFF) > 0x7C00 && (actual & 0x7FFF) > 0x7C00;
        wrong += bothNan || expected == actual ? 0 : 1;
    };
    for (std::uint32_t bits = 0; bits < 65536; ++bits) {
        const auto half = std::bit_cast<_Float16>(static_cast<std::uint16_t>(bits));
        const auto next = std::bit_cast<_Float16>(static_cast<std::uint16_t>(bits + 1));
        const auto value = static_cast<float>(half);
        const float middle = (value + static_cast<float>(next)) / 2;
        check(value);
        check(middle);
        check(std::nextafter(middle, 0.0F));
        check(std::nextafter(middle, 1e30F));
    }
    check(65519.996F);
    check(65520.0F);
    check(1e30F);
    check(std::numeric_limits<float>::denorm_min());
    check(-std::numeric_limits<float>::infinity());
    CHECK(wrong == 0);
}

TEST_CASE("exp8 stays within 2 ulp of exp and never returns a subnormal")
{
    double worst = 0;
    for (float x = -86.9F; x < 88.0F; x += 0.00917F) {
        const Vec8 result = exp8(splat(x));
        const double exact = std::exp(static_cast<double>(x));
        const double ulp = static_cast<double>(std::nextafter(
                               static_cast<float>(exact), std::numeric_limits<float>::infinity()))
            - static_cast<double>(static_cast<float>(exact));
        worst = std::max(worst, std::abs(static_cast<double>(result[3]) - exact) / ulp);
    }
    CHECK(worst <= 2.0);
    CHECK(exp8(splat(0.0F))[0] == 1.0F);
    CHECK(exp8(splat(-87.5F))[1] == 0.0F);
    CHECK(exp8(splat(-std::numeric_limits<float>::infinity()))[7] == 0.0F);
    CHECK(exp8(splat(1000.0F))[2] == doctest::Approx(std::exp(88.0)).epsilon(1e-6));
}

TEST_CASE("sum8 adds every lane once")
{
    const Vec8 v { 1, 2, 4, 8, 16, 32, 64, 128 };
    CHECK(sum8(v) == 255.0F);
}
