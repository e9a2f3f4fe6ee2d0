// SPDX-License-Identifier: MIT
#include "kernels/linear/dot_block.h"

#include "kernels/common/simd.h"

#include <stdexcept>
#include <utility>

namespace firesteel::kernels {

namespace {

struct LoadF32
{
    using Element = float;
    static FIRESTEEL_INLINE Vec8 load(const float *p) { return load8(p); }
};
struct LoadF16
{
    using Element = std::uint16_t;
    static FIRESTEEL_INLINE Vec8 load(const std::uint16_t *p) { return load8F16(p); }
};
struct LoadBf16
{
    using Element = std::uint16_t;
    static FIRESTEEL_INLINE Vec8 load(const std::uint16_t *p) { return load8Bf16(p); }
};

// kRows x kColumns sums at a time: enough independent chains to hide the addition's latency, few
// enough for 16 registers.
template <typename Load, int kRows, int kColumns>
FIRESTEEL_INLINE void tile(float *const *y, const float *const *x, const typename Load::Element *w,
                           std::int64_t cols, std::int64_t column)
{
    Vec8 sums[kRows][kColumns] = {};
    for (std::int64_t k = 0; k < cols; k += 8) {
        Vec8 weights[kColumns];
        for (int n = 0; n < kColumns; ++n)
            weights[n] = Load::load(w + n * cols + k);
        for (int r = 0; r < kRows; ++r) {
            const Vec8 input = load8(x[r] + k);
            for (int n = 0; n < kColumns; ++n)
                sums[r][n] += input * weights[n];
        }
    }
    for (int r = 0; r < kRows; ++r)
        for (int n = 0; n < kColumns; ++n)
            y[r][column + n] = sum8(sums[r][n]);
}

template <typename Load, int kRows, int kColumns>
FIRESTEEL_INLINE void columns(float *const *y, const float *const *x,
                              const typename Load::Element *w, std::int64_t cols,
                              std::int64_t first, std::int64_t last)
{
    std::int64_t n = first;
    for (; n + kColumns <= last; n += kColumns)
        tile<Load, kRows, kColumns>(y, x, w + n * cols, cols, n);
    for (; n < last; ++n)
        tile<Load, kRows, 1>(y, x, w + n * cols, cols, n);
}

template <typename Load>
FIRESTEEL_INLINE void block(std::span<float *const> y, std::span<const float *const> x,
                            const Matrix &w, std::int64_t first, std::int64_t last)
{
    const auto *weights = static_cast<const typename Load::Element *>(w.data);
    // Columns outside, rows inside: a strip of weights stays in the L1 cache while all rows pass
    // over it.
    constexpr std::int64_t kStrip = 8;
    for (std::int64_t n = first; n < last; n += kStrip) {
        const std::int64_t end = n + kStrip < last ? n + kStrip : last;
        std::size_t r = 0;
        for (; r + 4 <= x.size(); r += 4)
            columns<Load, 4, 2>(&y[r], &x[r], weights, w.cols, n, end);
        for (; r < x.size(); ++r)
            columns<Load, 1, 8>(&y[r], &x[r], weights, w.cols, n, end);
    }
}

FIRESTEEL_SIMD_CLONES void blockF32(std::span<float *const> y, std::span<const float *const> x,
                                    const Matrix &w, std::int64_t first, std::int64_t last)
{
    block<LoadF32>(y, x, w, first, last);
}

FIRESTEEL_SIMD_CLONES void blockF16(std::span<float *const> y, std::span<const float *const> x,
                                    const Matrix &w, std::int64_t first, std::int64_t last)
{
    block<LoadF16>(y, x, w, first, last);
}

FIRESTEEL_SIMD_CLONES void blockBf16(std::span<float *const> y, std::span<const float *const> x,
                                     const Matrix &w, std::int64_t first, std::int64_t last)
{
    block<LoadBf16>(y, x, w, first, last);
}

} // namespace

void dotBlock(std::span<float *const> y, std::span<const float *const> x, const Matrix &w,
              std::int64_t firstColumn, std::int64_t lastColumn)
{
    if (w.cols % 8 != 0)
        throw std::logic_error("dotBlock: the inner dimension must be a multiple of 8");
    switch (w.dtype) {
    case DType::F32:
        return blockF32(y, x, w, firstColumn, lastColumn);
    case DType::F16:
        return blockF16(y, x, w, firstColumn, lastColumn);
    case DType::BF16:
        return blockBf16(y, x, w, firstColumn, lastColumn);
    }
    std::unreachable();
}

} // namespace firesteel::kernels
