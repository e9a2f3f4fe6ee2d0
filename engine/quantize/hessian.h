// SPDX-License-Identifier: MIT
//
// What calibration knows of a matrix's input: the mean of x x^T over the rows seen, which is the
// Hessian of the squared error of its output. Filled by Calibration, used by MatrixQuantizer.
#pragma once

#include "kernels/common/thread_pool.h"

#include <cstdint>
#include <span>
#include <vector>

namespace firesteel::engine {

class Hessian
{
public:
    explicit Hessian(std::int64_t size)
        : m_size(size)
        , m_sum(static_cast<std::size_t>(size * size))
    {
    }

    // x [rows, size]. Rows with a value that is not finite are left out.
    void add(std::span<const float> x, std::int64_t rows, kernels::ThreadPool &pool);

    // Adds what another one has seen.
    void merge(const Hessian &other);

    std::int64_t size() const { return m_size; }
    std::int64_t rows() const { return m_rows; } // that were added
    // No row was seen, or all of them were zero: it says nothing.
    bool isEmpty() const;

    // The mean plus `regularisation` times the mean of its diagonal on the diagonal, [size, size].
    std::vector<double> regularised(double regularisation) const;

    // As stored in a file: the sums, row-major; both triangles are there.
    std::span<const double> sums() const { return m_sum; }
    static Hessian fromSums(std::int64_t size, std::int64_t rows, std::vector<double> sums);

private:
    std::int64_t m_size;
    std::int64_t m_rows = 0;
    std::vector<double> m_sum; // [size, size]
};

} // namespace firesteel::engine
