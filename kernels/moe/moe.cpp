// SPDX-License-Identifier: MIT
#include "kernels/moe/moe.h"

#include "kernels/moe/moe_backends.h"

#include <stdexcept>

namespace firesteel::kernels {

void launchSwiglu(std::span<float> y, std::span<const float> gate, std::span<const float> up,
                  float limit, Stream &stream)
{
    if (y.size() % 8 != 0)
        throw std::logic_error("launchSwiglu: the count must be a multiple of 8");
    if constexpr (kHasCudaKernels)
        if (stream.backend() == Backend::Cuda)
            return cuda::swiglu(y, gate, up, limit, stream.cuda());
    reference::swiglu(y, gate, up, limit, stream.pool());
}

void launchMoeRouter(std::span<std::int32_t> experts, std::span<float> weights,
                     std::span<const float> logits, std::span<const float> bias,
                     const MoeShape &shape, std::int64_t rows, Stream &stream)
{
    if constexpr (kHasCudaKernels)
        if (stream.backend() == Backend::Cuda)
            return cuda::moeRouter(experts, weights, logits, bias, shape, rows, stream.cuda());
    reference::moeRouter(experts, weights, logits, bias, shape, rows);
}

void launchMoeExperts(std::span<float> y, std::span<const float> x,
                      std::span<const std::int32_t> experts, std::span<const float> weights,
                      std::span<const ExpertWeights> table, const MoeScratch &scratch,
                      const MoeShape &shape, std::int64_t rows, Stream &stream)
{
    if constexpr (kHasCudaKernels)
        if (stream.backend() == Backend::Cuda)
            return cuda::moeExperts(y, x, experts, weights, table, scratch, shape, rows,
                                    stream.cuda());
    reference::moeExperts(y, x, experts, weights, table, scratch, shape, rows, stream.pool());
}

} // namespace firesteel::kernels
