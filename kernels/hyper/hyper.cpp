// SPDX-License-Identifier: MIT
#include "kernels/hyper/hyper.h"

#include "kernels/hyper/hyper_backends.h"
#include "kernels/norm/norm.h"

#include <stdexcept>

namespace firesteel::kernels {

namespace {

void require(const HyperUpdate &owed, const HyperShape &shape, std::int64_t rows)
{
    const auto values = static_cast<std::size_t>(rows * shape.hidden);
    if (owed.y.size() < values || (!owed.addend.empty() && owed.addend.size() < values))
        throw std::logic_error("mHC: the owed update is smaller than its rows");
}

} // namespace

std::size_t hyperScratchBytes(const HyperShape &shape, std::int64_t rows, const Stream &stream)
{
    if constexpr (kHasCudaKernels)
        if (stream.backend() == Backend::Cuda)
            return cuda::hyperScratchBytes(shape, rows);
    return 0;
}

void launchHyperEnter(std::span<float> input, const HyperMixing &mixing, std::span<float> streams,
                      const HyperUpdate &owed, const HyperWeights &weights,
                      std::span<std::byte> scratch, const HyperShape &shape, std::int64_t rows,
                      Stream &stream)
{
    if (!owed.y.empty())
        require(owed, shape, rows);
    if constexpr (kHasCudaKernels)
        if (stream.backend() == Backend::Cuda)
            return cuda::hyperEnter(input, mixing, streams, owed, weights, scratch, shape, rows,
                                    stream.cuda());
    if (!owed.y.empty())
        reference::hyperUpdate(streams, owed, shape, rows, stream.pool());
    reference::hyperMix(mixing, input, streams, weights, shape, rows, stream.pool());
    launchRmsNorm(input, input, weights.norm, shape.rmsEps, rows, stream);
}

void launchHyperUpdate(std::span<float> streams, const HyperUpdate &owed, const HyperShape &shape,
                       std::int64_t rows, Stream &stream)
{
    require(owed, shape, rows);
    if constexpr (kHasCudaKernels)
        if (stream.backend() == Backend::Cuda)
            return cuda::hyperUpdate(streams, owed, shape, rows, stream.cuda());
    reference::hyperUpdate(streams, owed, shape, rows, stream.pool());
}

void launchHyperMean(std::span<float> mean, std::span<const float> streams, const HyperShape &shape,
                     std::int64_t rows, Stream &stream, std::int64_t stride)
{
    if (stride == 0)
        stride = shape.hidden;
    if constexpr (kHasCudaKernels)
        if (stream.backend() == Backend::Cuda)
            return cuda::hyperMean(mean, streams, shape, rows, stride, stream.cuda());
    reference::hyperMean(mean, streams, shape, rows, stride);
}

} // namespace firesteel::kernels
