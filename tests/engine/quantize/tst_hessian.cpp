// SPDX-License-Identifier: MIT
//
// Sums over inputs, and the factor of them that error feedback uses.
#include "engine/quantize/block_ldl.h"
#include "engine/quantize/hessian.h"
#include "tests/support/random_values.h"

#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>
#include <limits>
#include <vector>

using namespace firesteel;
using engine::Hessian;

namespace {

constexpr std::size_t kSize = 48;

std::vector<double> naiveMean(const std::vector<float> &x)
{
    const std::size_t rows = x.size() / kSize;
    std::vector<double> mean(kSize * kSize);
    for (std::size_t row = 0; row < rows; ++row)
        for (std::size_t i = 0; i < kSize; ++i)
            for (std::size_t j = 0; j < kSize; ++j)
                mean[i * kSize + j] += static_cast<double>(x[row * kSize + i])
                    * static_cast<double>(x[row * kSize + j]) / static_cast<double>(rows);
    return mean;
}

// Sums of at most 64 products in float32, each of magnitude one at most, over 64.
constexpr double kSumError = 64 * 0x1p-24;

std::vector<double> product(const std::vector<double> &a, const std::vector<double> &b)
{
    std::vector<double> c(kSize * kSize);
    for (std::size_t i = 0; i < kSize; ++i)
        for (std::size_t k = 0; k < kSize; ++k)
            for (std::size_t j = 0; j < kSize; ++j)
                c[i * kSize + j] += a[i * kSize + k] * b[k * kSize + j];
    return c;
}

} // namespace

TEST_CASE("the mean of x x^T, in any pieces, on any threads")
{
    test::RandomValues random(3);
    const std::vector<float> x = random.uniforms(200 * kSize);
    const std::vector<double> expected = naiveMean(x);
    kernels::ThreadPool pool(3);
    Hessian whole(kSize);
    whole.add(x, 200, pool);
    Hessian pieces(kSize);
    pieces.add(std::span(x).first(64 * kSize), 64, pool);
    pieces.add(std::span(x).subspan(64 * kSize), 136, pool);
    Hessian merged(kSize);
    Hessian rest(kSize);
    merged.add(std::span(x).first(64 * kSize), 64, pool);
    rest.add(std::span(x).subspan(64 * kSize), 136, pool);
    merged.merge(rest);
    for (const Hessian *hessian : { &whole, &pieces, &merged }) {
        CHECK(hessian->rows() == 200);
        const std::vector<double> mean = hessian->regularised(0);
        double worst = 0;
        for (std::size_t i = 0; i < mean.size(); ++i)
            worst = std::max(worst, std::abs(mean[i] - expected[i]));
        CHECK(worst <= kSumError);
    }
    CHECK(whole.regularised(0) == pieces.regularised(0));

    // The diagonal grows by a part of its own mean.
    const std::vector<double> plain = whole.regularised(0);
    const std::vector<double> more = whole.regularised(0.5);
    double trace = 0;
    for (std::size_t i = 0; i < kSize; ++i)
        trace += plain[i * kSize + i];
    CHECK(more[0] == plain[0] + 0.5 * trace / kSize);
    CHECK(more[1] == plain[1]);
}

TEST_CASE("rows that are not finite are left out, nothing seen says nothing")
{
    kernels::ThreadPool pool(1);
    Hessian hessian(kSize);
    CHECK(hessian.isEmpty());
    std::vector<float> x(3 * kSize, 1.0F);
    x[5] = std::numeric_limits<float>::quiet_NaN();
    x[kSize + 1] = std::numeric_limits<float>::infinity();
    hessian.add(x, 3, pool);
    CHECK(hessian.rows() == 1);
    CHECK_FALSE(hessian.isEmpty());
    CHECK(hessian.regularised(0) == std::vector<double>(kSize * kSize, 1.0));

    Hessian zeros(kSize);
    zeros.add(std::vector<float>(2 * kSize), 2, pool);
    CHECK(zeros.isEmpty());
}

TEST_CASE("L is unit lower triangular in blocks, and L^-1 H L^-T has blocks on the diagonal only")
{
    test::RandomValues random(5);
    kernels::ThreadPool pool(2);
    Hessian hessian(kSize);
    hessian.add(random.uniforms(100 * kSize), 100, pool);
    const std::vector<double> h = hessian.regularised(0.01);
    const std::vector<float> l = engine::blockLdl(h, kSize, pool);
    constexpr std::size_t kBlock = 16;
    std::vector<double> unit(kSize * kSize);
    for (std::size_t i = 0; i < kSize; ++i)
        for (std::size_t j = 0; j < kSize; ++j) {
            if (j / kBlock >= i / kBlock)
                CHECK(l[i * kSize + j] == 0);
            unit[i * kSize + j] = i == j ? 1 : static_cast<double>(l[i * kSize + j]);
        }
    // By forward substitution, L being unit lower triangular.
    std::vector<double> inverse(kSize * kSize);
    for (std::size_t column = 0; column < kSize; ++column)
        for (std::size_t i = 0; i < kSize; ++i) {
            double sum = i == column ? 1 : 0;
            for (std::size_t k = 0; k < i; ++k)
                sum -= unit[i * kSize + k] * inverse[k * kSize + column];
            inverse[i * kSize + column] = sum;
        }
    std::vector<double> inverseTransposed(kSize * kSize);
    for (std::size_t i = 0; i < kSize; ++i)
        for (std::size_t j = 0; j < kSize; ++j)
            inverseTransposed[i * kSize + j] = inverse[j * kSize + i];
    const std::vector<double> d = product(product(inverse, h), inverseTransposed);
    double largest = 0;
    double off = 0;
    for (std::size_t i = 0; i < kSize; ++i)
        for (std::size_t j = 0; j < kSize; ++j)
            (i / kBlock == j / kBlock ? largest : off)
                = std::max(i / kBlock == j / kBlock ? largest : off, std::abs(d[i * kSize + j]));
    // L is rounded to float32; an entry off the diagonal is a sum of 48 x 48 such products.
    CHECK(off <= kSize * kSize * 0x1p-24 * largest);
}

TEST_CASE("a matrix that is not positive definite is damped, one that cannot be is an error")
{
    kernels::ThreadPool pool(1);
    std::vector<double> h(kSize * kSize);
    for (std::size_t i = 0; i < kSize; ++i)
        for (std::size_t j = 0; j < kSize; ++j)
            h[i * kSize + j] = 1; // rank one
    const std::vector<float> l = engine::blockLdl(h, kSize, pool);
    CHECK(std::ranges::all_of(l, [](float value) { return std::isfinite(value); }));
    h[0] = std::numeric_limits<double>::quiet_NaN();
    CHECK_THROWS_AS(engine::blockLdl(h, kSize, pool), std::runtime_error);
}
