// SPDX-License-Identifier: MIT
#include "kernels/linear/linear.h"
#include "tests/support/golden.h"
#include "tests/support/placed.h"
#include "tests/support/random_values.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <doctest/doctest.h>
#include <vector>

using namespace firesteel::kernels;
using firesteel::test::kUnitRoundoff;
using firesteel::test::Placed;
using firesteel::test::RandomValues;
using firesteel::test::testStreams;

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

// The same matrix where a stream runs.
struct PlacedMatrix
{
    PlacedMatrix(const StoredMatrix &m, Stream &stream)
        : values(m.matrix.dtype == DType::F32 ? m.values : std::vector<float>(), stream)
        , halves(m.halves, stream)
        , matrix(m.matrix)
    {
        matrix.data = m.matrix.dtype == DType::F32 ? static_cast<const void *>(values.span().data())
                                                   : halves.span().data();
    }
    Placed<float> values;
    Placed<std::uint16_t> halves;
    Matrix matrix;
};

constexpr RowClass kClasses[] = { RowClass::Decode, RowClass::Prefill };

// y of launchLinear; x [rows, cols].
std::vector<float> product(const StoredMatrix &w, const std::vector<float> &x, std::int64_t rows,
                           RowClass rowClass, Stream &stream)
{
    const PlacedMatrix matrix(w, stream);
    const Placed<float> input(x, stream);
    const Placed<float> output(static_cast<std::size_t>(rows * w.matrix.rows), stream);
    launchLinear(output.span(), input.span(), matrix.matrix, rows, rowClass, stream);
    const std::vector<float> y = output.read();
    CHECK(output.isGuardIntact());
    return y;
}

// How many elements of y differ from the product in double precision by more than the rounding of
// a sum of so many terms in sequence: |error| <= terms u sum |x w|.
int wrongElements(const std::vector<float> &y, const std::vector<float> &x, const StoredMatrix &w,
                  std::int64_t rows, double terms)
{
    const std::int64_t n = w.matrix.rows;
    const std::int64_t k = w.matrix.cols;
    int wrong = 0;
    for (std::int64_t t = 0; t < rows; ++t)
        for (std::int64_t row = 0; row < n; ++row) {
            double exact = 0;
            double magnitude = 0;
            for (std::int64_t c = 0; c < k; ++c) {
                const double term = static_cast<double>(x[static_cast<std::size_t>(t * k + c)])
                    * static_cast<double>(w.values[static_cast<std::size_t>(row * k + c)]);
                exact += term;
                magnitude += std::abs(term);
            }
            const double error
                = std::abs(static_cast<double>(y[static_cast<std::size_t>(t * n + row)]) - exact);
            wrong += error <= terms * kUnitRoundoff * magnitude ? 0 : 1;
        }
    return wrong;
}

} // namespace

TEST_CASE("launchLinear equals a double-precision product within the rounding of its sums")
{
    RandomValues random(1);
    for (Stream *stream : testStreams())
        for (const DType dtype : { DType::F32, DType::F16, DType::BF16 })
            for (const auto &[n, k] :
                 { std::pair { 3, 8 }, { 17, 64 }, { 130, 384 }, { 24, 1536 }, { 5, 136 } })
                for (const std::int64_t rows : { 1, 2, 5, 9, 65 })
                    for (const RowClass rowClass : kClasses) {
                        const StoredMatrix w(dtype, n, k, random);
                        const auto x = random.uniforms(static_cast<std::size_t>(rows * k));
                        // Lanes, at least eight, sum parts of k; the device's prefill class sums
                        // all of k in order.
                        const double terms
                            = stream->backend() == Backend::Cuda && rowClass == RowClass::Prefill
                            ? k + 1
                            : static_cast<double>(k) / 8 + 8;
                        CHECK(
                            wrongElements(product(w, x, rows, rowClass, *stream), x, w, rows, terms)
                            == 0);
                    }
}

TEST_CASE("a row's product does not depend on the other rows, the thread count or the stride")
{
    RandomValues random(2);
    const StoredMatrix w(DType::BF16, 72, 128, random);
    const std::vector<float> x = random.uniforms(72 * 128);
    for (Stream *stream : testStreams())
        for (const RowClass rowClass : kClasses) {
            const std::vector<float> together = product(w, x, 72, rowClass, *stream);
            Stream one(1);
            for (std::size_t t = 0; t < 72; ++t) {
                const std::vector<float> row(x.begin() + static_cast<std::ptrdiff_t>(t * 128),
                                             x.begin()
                                                 + static_cast<std::ptrdiff_t>((t + 1) * 128));
                const std::vector<float> alone = product(
                    w, row, 1, rowClass, stream->backend() == Backend::Cpu ? one : *stream);
                CHECK(std::equal(alone.begin(), alone.end(),
                                 together.begin() + static_cast<std::ptrdiff_t>(t * 72)));
            }
            const PlacedMatrix matrix(w, *stream);
            const Placed<float> input(x, *stream);
            const Placed<float> strided(std::vector<float>(4 * 100, -7.0F), *stream);
            launchLinear(strided.span(), input.span(), matrix.matrix, 4, rowClass, *stream, 100);
            const std::vector<float> y = strided.read();
            for (std::size_t t = 0; t < 4; ++t) {
                CHECK(std::equal(y.begin() + static_cast<std::ptrdiff_t>(t * 100),
                                 y.begin() + static_cast<std::ptrdiff_t>(t * 100 + 72),
                                 together.begin() + static_cast<std::ptrdiff_t>(t * 72)));
                CHECK(y[t * 100 + 72] == -7.0F);
            }
        }
}

TEST_CASE("products of one call are those of as many calls")
{
    RandomValues random(5);
    const StoredMatrix first(DType::F16, 128, 256, random);
    const StoredMatrix second(DType::F32, 5, 256, random);
    const StoredMatrix third(DType::BF16, 40, 128, random);
    const std::vector<float> x = random.uniforms(9 * 256);
    const std::vector<float> other = random.uniforms(9 * 128);
    for (Stream *stream : testStreams())
        for (const RowClass rowClass : kClasses) {
            const PlacedMatrix a(first, *stream), b(second, *stream), c(third, *stream);
            const Placed<float> in(x, *stream), otherIn(other, *stream);
            const Placed<float> ya(9 * 128, *stream), yb(9 * 5, *stream), yc(9 * 40, *stream);
            const std::array parts { LinearPart { ya.span(), in.span(), a.matrix },
                                     LinearPart { yb.span(), in.span(), b.matrix },
                                     LinearPart { yc.span(), otherIn.span(), c.matrix } };
            launchLinears(parts, 9, rowClass, *stream);
            CHECK(ya.read() == product(first, x, 9, rowClass, *stream));
            CHECK(yb.read() == product(second, x, 9, rowClass, *stream));
            CHECK(yc.read() == product(third, other, 9, rowClass, *stream));
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
    CHECK_THROWS_AS(launchLinear(y, x, odd.matrix, 2, RowClass::Decode, stream), std::logic_error);
    const StoredMatrix even(DType::F32, 4, 8, random);
    CHECK_THROWS_AS(launchLinear(y, x, even.matrix, 3, RowClass::Decode, stream), std::logic_error);
}

TEST_CASE("launchEmbed copies rows exactly, as often as asked, and refuses ids outside the table")
{
    RandomValues random(4);
    for (const DType dtype : { DType::F32, DType::F16, DType::BF16 }) {
        const StoredMatrix table(dtype, 10, 16, random);
        for (Stream *stream : testStreams()) {
            const PlacedMatrix placed(table, *stream);
            const Placed<std::int32_t> ids(std::vector<std::int32_t> { 9, 0, 4 }, *stream);
            const Placed<float> output(3 * 2 * 16, *stream);
            launchEmbed(output.span(), ids.span(), placed.matrix, 2, *stream);
            const std::vector<float> y = output.read();
            for (std::size_t copy = 0; copy < 2; ++copy)
                for (std::size_t c = 0; c < 16; ++c) {
                    CHECK(y[copy * 16 + c] == table.values[9 * 16 + c]);
                    CHECK(y[(2 + copy) * 16 + c] == table.values[c]);
                    CHECK(y[(4 + copy) * 16 + c] == table.values[4 * 16 + c]);
                }
        }
        Stream stream(1);
        std::vector<float> y(16);
        CHECK_THROWS_AS(launchEmbed(y, std::vector<std::int32_t> { 10 }, table.matrix, 1, stream),
                        std::logic_error);
        CHECK_THROWS_AS(launchEmbed(y, std::vector<std::int32_t> { -1 }, table.matrix, 1, stream),
                        std::logic_error);
    }
}
