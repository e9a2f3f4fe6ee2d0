// SPDX-License-Identifier: MIT
#include "kernels/linear/dot_block.h"
#include "kernels/linear/linear_backends.h"

#include <algorithm>
#include <array>
#include <stdexcept>

namespace firesteel::kernels::reference {

void linear(const LinearPart &part, std::int64_t rows, ThreadPool &pool)
{
    const Matrix &w = part.w;
    const std::int64_t grain = std::max<std::int64_t>(8, kPartWork / (rows * w.cols) / 8 * 8);
    pool.parallelFor(w.rows, grain, [&](std::int64_t first, std::int64_t last) {
        std::array<const float *, kDotRows> in {};
        std::array<float *, kDotRows> out {};
        for (std::int64_t begin = 0; begin < rows; begin += kDotRows) {
            const auto count
                = static_cast<std::size_t>(std::min<std::int64_t>(kDotRows, rows - begin));
            for (std::size_t r = 0; r < count; ++r) {
                const std::int64_t t = begin + static_cast<std::int64_t>(r);
                in[r] = part.x.data() + t * w.cols;
                out[r] = part.y.data() + t * part.yStride;
            }
            dotBlock(std::span(out).first(count), std::span(in).first(count), w, first, last);
        }
    });
}

void embed(std::span<float> y, std::span<const std::int32_t> ids, const Matrix &table,
           std::int64_t copies)
{
    float *row = y.data();
    for (const std::int32_t id : ids) {
        if (id < 0 || id >= table.rows)
            throw std::logic_error("launchEmbed: token id out of range");
        for (std::int64_t c = 0; c < table.cols; ++c)
            row[c] = elementOf(table, id * table.cols + c);
        for (std::int64_t copy = 1; copy < copies; ++copy)
            std::copy_n(row, table.cols, row + copy * table.cols);
        row += copies * table.cols;
    }
}

void copyRows(std::span<float> y, std::int64_t yStride, std::span<const float> x,
              std::int64_t columns, std::int64_t rows)
{
    for (std::int64_t t = 0; t < rows; ++t)
        std::copy_n(x.data() + t * columns, columns, y.data() + t * yStride);
}

} // namespace firesteel::kernels::reference
