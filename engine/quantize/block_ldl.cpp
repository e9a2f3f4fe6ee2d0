// SPDX-License-Identifier: MIT
#include "engine/quantize/block_ldl.h"

#include "kernels/common/simd.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <stdexcept>

namespace firesteel::engine {

namespace {

constexpr std::int64_t kBlock = 16;
constexpr int kAttempts = 10;
constexpr double kDamping = 0.05;

using Block = std::array<double, kBlock * kBlock>;

// y[j] -= factor * x[j]
FIRESTEEL_SIMD_CLONES void subtract(double *y, const double *x, double factor, std::int64_t count)
{
    for (std::int64_t j = 0; j < count; ++j)
        y[j] -= factor * x[j];
}

// The Cholesky factor of the diagonal block at `at`, in place; false: not positive definite.
bool factorDiagonal(double *a, std::int64_t size, std::int64_t at)
{
    for (std::int64_t j = at; j < at + kBlock; ++j) {
        double diagonal = a[j * size + j];
        for (std::int64_t k = at; k < j; ++k)
            diagonal -= a[j * size + k] * a[j * size + k];
        if (!(diagonal > 0) || !std::isfinite(diagonal))
            return false;
        a[j * size + j] = std::sqrt(diagonal);
        for (std::int64_t i = j + 1; i < at + kBlock; ++i) {
            double sum = a[i * size + j];
            for (std::int64_t k = at; k < j; ++k)
                sum -= a[i * size + k] * a[j * size + k];
            a[i * size + j] = sum / a[j * size + j];
        }
    }
    return true;
}

// Right-looking Cholesky by blocks of 16 columns: a's lower triangle becomes the factor.
bool cholesky(std::vector<double> &a, std::int64_t size, kernels::ThreadPool &pool)
{
    std::vector<double> panel(static_cast<std::size_t>(kBlock * size)); // transposed: [k, row]
    for (std::int64_t at = 0; at < size; at += kBlock) {
        if (!factorDiagonal(a.data(), size, at))
            return false;
        const std::int64_t below = at + kBlock;
        pool.parallelFor(size - below, 64, [&](std::int64_t first, std::int64_t last) {
            for (std::int64_t i = below + first; i < below + last; ++i)
                for (std::int64_t j = at; j < below; ++j) {
                    double sum = a[static_cast<std::size_t>(i * size + j)];
                    for (std::int64_t k = at; k < j; ++k)
                        sum -= a[static_cast<std::size_t>(i * size + k)]
                            * a[static_cast<std::size_t>(j * size + k)];
                    sum /= a[static_cast<std::size_t>(j * size + j)];
                    a[static_cast<std::size_t>(i * size + j)] = sum;
                    panel[static_cast<std::size_t>((j - at) * size + i)] = sum;
                }
        });
        pool.parallelFor(size - below, 32, [&](std::int64_t first, std::int64_t last) {
            for (std::int64_t i = below + first; i < below + last; ++i)
                for (std::int64_t k = 0; k < kBlock; ++k)
                    subtract(a.data() + i * size + below, panel.data() + k * size + below,
                             panel[static_cast<std::size_t>(k * size + i)], i - below + 1);
        });
    }
    return true;
}

// The inverse of a lower triangular block.
Block invertedLower(const double *a, std::int64_t size, std::int64_t at)
{
    Block inverse {};
    const auto entry
        = [](std::int64_t i, std::int64_t j) { return static_cast<std::size_t>(i * kBlock + j); };
    for (std::int64_t column = 0; column < kBlock; ++column)
        for (std::int64_t i = column; i < kBlock; ++i) {
            double sum = i == column ? 1 : 0;
            for (std::int64_t k = column; k < i; ++k)
                sum -= a[(at + i) * size + at + k] * inverse[entry(k, column)];
            inverse[entry(i, column)] = sum / a[(at + i) * size + at + i];
        }
    return inverse;
}

} // namespace

std::vector<float> blockLdl(std::vector<double> h, std::int64_t size, kernels::ThreadPool &pool)
{
    double trace = 0;
    for (std::int64_t i = 0; i < size; ++i)
        trace += h[static_cast<std::size_t>(i * (size + 1))];
    std::vector<double> factor = h;
    for (int attempt = 0; !cholesky(factor, size, pool); ++attempt) {
        if (attempt == kAttempts)
            throw std::runtime_error("blockLdl: the matrix cannot be made positive definite");
        for (std::int64_t i = 0; i < size; ++i)
            h[static_cast<std::size_t>(i * (size + 1))]
                += kDamping * trace / static_cast<double>(size);
        factor = h;
    }
    std::vector<float> l(h.size());
    for (std::int64_t at = 0; at < size; at += kBlock) {
        const Block inverse = invertedLower(factor.data(), size, at);
        for (std::int64_t i = at + kBlock; i < size; ++i)
            for (std::int64_t j = 0; j < kBlock; ++j) {
                double sum = 0;
                for (std::int64_t k = j; k < kBlock; ++k)
                    sum += factor[static_cast<std::size_t>(i * size + at + k)]
                        * inverse[static_cast<std::size_t>(k * kBlock + j)];
                l[static_cast<std::size_t>(i * size + at + j)] = static_cast<float>(sum);
            }
    }
    return l;
}

} // namespace firesteel::engine
