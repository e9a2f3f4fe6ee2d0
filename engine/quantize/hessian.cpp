// SPDX-License-Identifier: MIT
#include "engine/quantize/hessian.h"

#include "kernels/common/simd.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

namespace firesteel::engine {

namespace {

// Rows whose products are summed in float32 before they join the float64 sums.
constexpr std::int64_t kRows = 64;

// sums[i, j] += sum over rows of x[row, i] x[row, j], for columns j from `begin` on, i in [first,
// last).
FIRESTEEL_SIMD_CLONES void addProducts(double *sums, const float *x, std::int64_t rows,
                                       std::int64_t size, std::int64_t first, std::int64_t last,
                                       float *products)
{
    for (std::int64_t i = first; i < last; ++i) {
        for (std::int64_t j = i; j < size; ++j)
            products[j] = 0;
        for (std::int64_t row = 0; row < rows; ++row) {
            const float *values = x + row * size;
            const float factor = values[i];
            for (std::int64_t j = i; j < size; ++j)
                products[j] += factor * values[j];
        }
        for (std::int64_t j = i; j < size; ++j)
            sums[i * size + j] += static_cast<double>(products[j]);
    }
}

} // namespace

void Hessian::add(std::span<const float> x, std::int64_t rows, kernels::ThreadPool &pool)
{
    if (static_cast<std::int64_t>(x.size()) != rows * m_size)
        throw std::logic_error("Hessian::add: the rows have another width");
    std::vector<float> finite;
    finite.reserve(x.size());
    for (std::int64_t row = 0; row < rows; ++row) {
        const auto values
            = x.subspan(static_cast<std::size_t>(row * m_size), static_cast<std::size_t>(m_size));
        if (std::ranges::all_of(values, [](float value) { return std::isfinite(value); })) {
            finite.insert(finite.end(), values.begin(), values.end());
            ++m_rows;
        }
    }
    const auto kept = static_cast<std::int64_t>(finite.size()) / m_size;
    pool.parallelFor(m_size, 16, [&](std::int64_t first, std::int64_t last) {
        std::vector<float> products(static_cast<std::size_t>(m_size));
        for (std::int64_t row = 0; row < kept; row += kRows)
            addProducts(m_sum.data(), finite.data() + row * m_size, std::min(kRows, kept - row),
                        m_size, first, last, products.data());
    });
}

void Hessian::merge(const Hessian &other)
{
    if (other.m_size != m_size)
        throw std::logic_error("Hessian::merge: the sizes differ");
    for (std::size_t i = 0; i < m_sum.size(); ++i)
        m_sum[i] += other.m_sum[i];
    m_rows += other.m_rows;
}

bool Hessian::isEmpty() const
{
    double trace = 0;
    for (std::int64_t i = 0; i < m_size; ++i)
        trace += m_sum[static_cast<std::size_t>(i * (m_size + 1))];
    return m_rows == 0 || !(trace > 0) || !std::isfinite(trace);
}

std::vector<double> Hessian::regularised(double regularisation) const
{
    const auto size = static_cast<std::size_t>(m_size);
    std::vector<double> mean(m_sum.size());
    double trace = 0;
    for (std::size_t i = 0; i < size; ++i)
        for (std::size_t j = i; j < size; ++j) {
            const double value = m_sum[i * size + j] / static_cast<double>(m_rows);
            mean[i * size + j] = value;
            mean[j * size + i] = value;
            trace += i == j ? value : 0;
        }
    for (std::size_t i = 0; i < size; ++i)
        mean[i * size + i] += regularisation * trace / static_cast<double>(size);
    return mean;
}

Hessian Hessian::fromSums(std::int64_t size, std::int64_t rows, std::vector<double> sums)
{
    if (static_cast<std::int64_t>(sums.size()) != size * size)
        throw std::logic_error("Hessian::fromSums: the sizes differ");
    Hessian hessian(size);
    hessian.m_rows = rows;
    hessian.m_sum = std::move(sums);
    return hessian;
}

} // namespace firesteel::engine
