// SPDX-License-Identifier: MIT
#include "kernels/linear/dot_block.h"
#include "kernels/linear/linear.h"

#include <algorithm>
#include <array>
#include <bit>
#include <stdexcept>

namespace firesteel::kernels {

namespace {

// Work below this many multiply-adds is not worth waking another thread for (waking costs about 10
// us).
constexpr std::int64_t kPartWork = 256 * 1024;

float widen(const Matrix &m, std::int64_t index)
{
    if (m.dtype == DType::F32)
        return static_cast<const float *>(m.data)[index];
    const std::uint16_t bits = static_cast<const std::uint16_t *>(m.data)[index];
    if (m.dtype == DType::BF16)
        return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
    return static_cast<float>(std::bit_cast<_Float16>(bits));
}

} // namespace

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
                = widen(table, ids[t] * table.cols + c);
    }
}

} // namespace firesteel::kernels
