// SPDX-License-Identifier: MIT
#include "kernels/linear/linear.h"
#include "tests/support/golden.h"
#include "tests/support/random_values.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <doctest/doctest.h>
#include <vector>

using namespace firesteel::kernels;
using firesteel::test::kUnitRoundoff;
using firesteel::test::RandomValues;

namespace {

// A random weight matrix stored in one of the three types, and its exact values.
struct StoredMatrix
{
    StoredMatrix(DType dtype, std::int64_t rows, std::int64_t cols, RandomValues &random)
    {
        const auto count = static_cast<std::size_t>(rows * cols);
        values = random.uniforms(count);
        halves.resize(count);
        for (std::size_t i = 0; i < count; ++i) {
            if (dtype == DType::BF16) {
                halves[i]
                    = static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(values[i]) >> 16);
                values[i] = std::bit_cast<float>(static_cast<std::uint32_t>(halves[i]) << 16);
            } else if (dtype == DType::F16) {
                halves[i] = std::bit_cast<std::uint16_t>(static_cast<_Float16>(values[i]));
                values[i] = static_cast<float>(std::bit_cast<_Float16>(halves[i]));
            }
        }
        matrix = { dtype == DType::F32 ? static_cast<const void *>(values.data()) : halves.data(),
                   dtype, rows, cols };
    }
    std::vector<float> values;
    std::vector<std::uint16_t> halves;
    Matrix matrix;
};

} // namespace

TEST_CASE("launchLinear equals a double-precision product within the rounding of its sums")
{
    RandomValues random(1);
    Stream stream(2);
    for (const DType dtype : { DType::F32, DType::F16, DType::BF16 })
        for (const auto &[n, k] : { std::pair { 3, 8 }, { 17, 64 }, { 130, 384 }, { 24, 1536 } })
            for (const std::int64_t rows : { 1, 2, 5, 9, 65 }) {
                const StoredMatrix w(dtype, n, k, random);
                const std::vector<float> x = random.uniforms(static_cast<std::size_t>(rows * k));
                std::vector<float> y(static_cast<std::size_t>(rows * n), NAN);
                launchLinear(y, x, w.matrix, rows, stream);
                // Every lane sums k / 8 products, then three additions: |error| <= (k / 8 + 4) u
                // sum |x w|.
                const double gamma = (static_cast<double>(k) / 8 + 4) * kUnitRoundoff;
                int wrong = 0;
                for (std::int64_t t = 0; t < rows; ++t)
                    for (std::int64_t row = 0; row < n; ++row) {
                        double exact = 0;
                        double magnitude = 0;
                        for (std::int64_t c = 0; c < k; ++c) {
                            const double product
                                = static_cast<double>(x[static_cast<std::size_t>(t * k + c)])
                                * static_cast<double>(
                                      w.values[static_cast<std::size_t>(row * k + c)]);
                            exact += product;
                            magnitude += std::abs(product);
                        }
                        const double error = std::abs(
                            static_cast<double>(y[static_cast<std::size_t>(t * n + row)]) - exact);
                        wrong += error <= gamma * magnitude ? 0 : 1;
                    }
                CHECK(wrong == 0);
            }
}

TEST_CASE("a row's product does not depend on the other rows, the thread count or the stride")
{
    RandomValues random(2);
    const StoredMatrix w(DType::BF16, 72, 128, random);
    const std::vector<float> x = random.uniforms(72 * 128);
    Stream one(1);
    Stream three(3);
    std::vector<float> together(72 * 72);
    launchLinear(together, x, w.matrix, 72, three);
    for (std::size_t t = 0; t < 72; ++t) {
        std::vector<float> alone(72);
        launchLinear(alone, std::span(x).subspan(t * 128, 128), w.matrix, 1, one);
        CHECK(std::equal(alone.begin(), alone.end(),
                         together.begin() + static_cast<std::ptrdiff_t>(t * 72)));
    }
    std::vector<float> strided(4 * 100, -7.0F);
    launchLinear(strided, std::span(x).first(4 * 128), w.matrix, 4, three, 100);
    for (std::size_t t = 0; t < 4; ++t) {
        CHECK(std::equal(strided.begin() + static_cast<std::ptrdiff_t>(t * 100),
                         strided.begin() + static_cast<std::ptrdiff_t>(t * 100 + 72),
                         together.begin() + static_cast<std::ptrdiff_t>(t * 72)));
        CHECK(strided[t * 100 + 72] == -7.0F);
    }
}

TEST_CASE(
    "launchLinear refuses an inner dimension it cannot vectorise and buffers that are too small")
{
    RandomValues random(3);
    Stream stream(1);
    const StoredMatrix odd(DType::F32, 4, 12, random);
    std::vector<float> x(24);
    std::vector<float> y(8);
    CHECK_THROWS_AS(launchLinear(y, x, odd.matrix, 2, stream), std::logic_error);
    const StoredMatrix even(DType::F32, 4, 8, random);
    CHECK_THROWS_AS(launchLinear(y, x, even.matrix, 3, stream), std::logic_error);
}

TEST_CASE("launchEmbed copies rows exactly and refuses ids outside the table")
{
    RandomValues random(4);
    Stream stream(1);
    for (const DType dtype : { DType::F32, DType::F16, DType::BF16 }) {
        const StoredMatrix table(dtype, 10, 16, random);
        std::vector<float> y(3 * 16);
        launchEmbed(y, std::vector<std::int32_t> { 9, 0, 4 }, table.matrix, stream);
        for (std::size_t c = 0; c < 16; ++c) {
            CHECK(y[c] == table.values[9 * 16 + c]);
            CHECK(y[16 + c] == table.values[c]);
            CHECK(y[32 + c] == table.values[4 * 16 + c]);
        }
        CHECK_THROWS_AS(launchEmbed(y, std::vector<std::int32_t> { 10 }, table.matrix, stream),
                        std::logic_error);
        CHECK_THROWS_AS(launchEmbed(y, std::vector<std::int32_t> { -1 }, table.matrix, stream),
                        std::logic_error);
    }
}
