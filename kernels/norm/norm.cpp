// SPDX-License-Identifier: MIT
#include "kernels/norm/norm.h"

#include "kernels/norm/norm_backends.h"

namespace firesteel::kernels {

void launchRmsNorm(std::span<float> y, std::span<const float> x, std::span<const float> weight,
                   float eps, std::int64_t rows, Stream &stream)
{
    if constexpr (kHasCudaKernels)
        if (stream.backend() == Backend::Cuda)
            return cuda::rmsNorm(y, x, weight, eps, rows, stream.cuda());
    reference::rmsNorm(y, x, weight, eps, rows);
}

void launchLayerNorm(std::span<float> y, std::span<const float> x, std::span<const float> weight,
                     std::span<const float> bias, float eps, std::int64_t rows, Stream &stream)
{
    if constexpr (kHasCudaKernels)
        if (stream.backend() == Backend::Cuda)
            return cuda::layerNorm(y, x, weight, bias, eps, rows, stream.cuda());
    reference::layerNorm(y, x, weight, bias, eps, rows);
}

} // namespace firesteel::kernels
