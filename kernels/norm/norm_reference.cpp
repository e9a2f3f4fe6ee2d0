// SPDX-License-Identifier: MIT
#include "kernels/norm/norm_backends.h"

#include <cmath>

namespace firesteel::kernels::reference {

void rmsNorm(std::span<float> y, std::span<const float> x, std::span<const float> weight, float eps,
             std::int64_t rows)
{
    const std::size_t cols = weight.size();
    for (std::size_t t = 0; t < static_cast<std::size_t>(rows); ++t) {
        double squares = 0;
        for (std::size_t c = 0; c < cols; ++c)
            squares += static_cast<double>(x[t * cols + c]) * static_cast<double>(x[t * cols + c]);
        const auto scale = static_cast<float>(
            1.0 / std::sqrt(squares / static_cast<double>(cols) + static_cast<double>(eps)));
        for (std::size_t c = 0; c < cols; ++c)
            y[t * cols + c] = x[t * cols + c] * scale * weight[c];
    }
}

void layerNorm(std::span<float> y, std::span<const float> x, std::span<const float> weight,
               std::span<const float> bias, float eps, std::int64_t rows)
{
    const std::size_t cols = weight.size();
    for (std::size_t t = 0; t < static_cast<std::size_t>(rows); ++t) {
        double sum = 0;
        for (std::size_t c = 0; c < cols; ++c)
            sum += static_cast<double>(x[t * cols + c]);
        const double mean = sum / static_cast<double>(cols);
        double squares = 0;
        for (std::size_t c = 0; c < cols; ++c) {
            const double centred = static_cast<double>(x[t * cols + c]) - mean;
            squares += centred * centred;
        }
        const double scale
            = 1.0 / std::sqrt(squares / static_cast<double>(cols) + static_cast<double>(eps));
        for (std::size_t c = 0; c < cols; ++c)
            y[t * cols + c]
                = static_cast<float>((static_cast<double>(x[t * cols + c]) - mean) * scale)
                    * weight[c]
                + bias[c];
    }
}

} // namespace firesteel::kernels::reference
