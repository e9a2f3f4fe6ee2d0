// SPDX-License-Identifier: MIT
#include "kernels/linear/linear.h"

#include "kernels/linear/dot_block.h"

#include <algorithm>
#include <array>
#include <stdexcept>

namespace firesteel::kernels {

void launchLinear(std::span<float> y, std::span<const float> x, const Matrix &w, std::int64_t rows,
                  Stream &stream, std::int64_t yStride)
{
    if (yStride == 0)
        yStride = w.rows;
    if (static_cast<std::int64_t>(y.size()) < (rows - 1) * yStride + w.rows
        || static_cast<std::int64_t>(x.size()) < rows * w.cols)
        throw std::logic_error("launchLinear: a buffer is smaller than its shape");
    const std::int64_t grain
        = std::max<std::int64_t>(8, kPartWork / std::max<std::int64_t>(1, rows * w.cols) / 8 * 8);
    stream.pool().parallelFor(w.rows, grain, [&](std::int64_t first, std::int64_t last) {
        std::array<const float *, kDotRows> in {};
        std::array<float *, kDotRows> out {};
        for (std::int64_t begin = 0; begin < rows; begin += kDotRows) {
            const auto count
                = static_cast<std::size_t>(std::min<std::int64_t>(kDotRows, rows - begin));
            for (std::size_t r = 0; r < count; ++r) {
                in[r] = x.data() + (begin + static_cast<std::int64_t>(r)) * w.cols;
                out[r] = y.data() + (begin + static_cast<std::int64_t>(r)) * yStride;
            }
            dotBlock(std::span(out).first(count), std::span(in).first(count), w, first, last);
        }
    });
}

void launchEmbed(std::span<float> y, std::span<const std::int32_t> ids, const Matrix &table,
                 Stream & /*stream*/)
{
    for (std::size_t t = 0; t < ids.size(); ++t) {
        if (ids[t] < 0 || ids[t] >= table.rows)
            throw std::logic_error("launchEmbed: token id out of range");
        for (std::int64_t c = 0; c < table.cols; ++c)
            y[t * static_cast<std::size_t>(table.cols) + static_cast<std::size_t>(c)]
                = elementOf(table, ids[t] * table.cols + c);
    }
}

} // namespace firesteel::kernels
