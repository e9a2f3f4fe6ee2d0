// SPDX-License-Identifier: MIT
#include "engine/quantize/rotation.h"

#include "kernels/exl3/exl3.h"

#include <numbers>

namespace firesteel::engine {

namespace {

constexpr std::int64_t kBlock = kernels::kExl3Block;

template <typename T> void butterfly(T &a, T &b)
{
    const T sum = a + b;
    b = a - b;
    a = sum;
}

// 1 / sqrt(128) = sqrt(2) / 16
template <typename T> constexpr T kScale = std::numbers::sqrt2_v<T> / 16;

template <typename T> void rows(std::span<T> m)
{
    for (std::int64_t at = 0; at < static_cast<std::int64_t>(m.size()); at += kBlock) {
        T *block = m.data() + at;
        for (std::int64_t stride = 1; stride < kBlock; stride *= 2)
            for (std::int64_t i = 0; i < kBlock; i += 2 * stride)
                for (std::int64_t j = i; j < i + stride; ++j)
                    butterfly(block[j], block[j + stride]);
        for (std::int64_t i = 0; i < kBlock; ++i)
            block[i] *= kScale<T>;
    }
}

template <typename T> void columns(std::span<T> m, std::int64_t width)
{
    for (std::int64_t at = 0; at < static_cast<std::int64_t>(m.size()); at += kBlock * width) {
        T *block = m.data() + at;
        for (std::int64_t stride = 1; stride < kBlock; stride *= 2)
            for (std::int64_t i = 0; i < kBlock; i += 2 * stride)
                for (std::int64_t j = i; j < i + stride; ++j)
                    for (std::int64_t c = 0; c < width; ++c)
                        butterfly(block[j * width + c], block[(j + stride) * width + c]);
        for (std::int64_t i = 0; i < kBlock * width; ++i)
            block[i] *= kScale<T>;
    }
}

} // namespace

void rotateRows(std::span<float> m) { rows(m); }
void rotateRows(std::span<double> m) { rows(m); }
void rotateColumns(std::span<float> m, std::int64_t width) { columns(m, width); }
void rotateColumns(std::span<double> m, std::int64_t width) { columns(m, width); }

} // namespace firesteel::engine
