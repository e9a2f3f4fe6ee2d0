// SPDX-License-Identifier: MIT
#include "kernels/kda/kda.h"

#include "kernels/kda/kda_backends.h"

#include <stdexcept>
#include <string>

namespace firesteel::kernels {

namespace {

void require(bool holds, const char *what)
{
    if (!holds)
        throw std::logic_error(std::string("KDA: ") + what);
}

void requireSize(std::size_t size, std::int64_t rows, std::int64_t columns, const char *what)
{
    require(size >= static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns), what);
}

void requireShape(const KdaShape &shape, const Stream &stream)
{
    require(shape.heads > 0 && shape.headDim > 0 && shape.headDim % 8 == 0
                && shape.headDim <= kKdaMaxHeadDim,
            "heads of no channels, or not of a multiple of 8 up to 256");
    if (stream.backend() == Backend::Cuda && shape.headDim != kKdaCudaHeadDim)
        throw std::invalid_argument("KDA on the GPU needs heads of "
                                    + std::to_string(kKdaCudaHeadDim) + " channels, not "
                                    + std::to_string(shape.headDim) + '.');
}

void requireStep(std::span<const KdaSlot> slots, const Step &step, RowClass rowClass)
{
    require(step.rows > 0 && step.mostRows > 0 && !step.sequences.empty(), "a step without rows");
    require(slots.size() == step.sequences.size(), "not one slot for each sequence");
    require(step.sequenceOf.size() >= static_cast<std::size_t>(step.rows),
            "rows without a sequence");
    require(rowClass == RowClass::Prefill || step.mostRows <= kMaxSequenceRows,
            "a sequence has more rows than a decode step takes");
}

void requireRows(std::span<const float> u, std::span<const float> g, std::span<const float> beta,
                 const Step &step, const KdaShape &shape)
{
    requireSize(u.size(), step.rows, 3 * shape.channels(), "too little room for q, k and v");
    requireSize(g.size(), step.rows, shape.channels(), "too little room for the decays");
    requireSize(beta.size(), step.rows, shape.heads, "too little room for the betas");
}

} // namespace

void launchKdaPrepare(std::span<float> u, std::span<float> g, std::span<float> beta,
                      std::span<const float> z, std::span<const float> conv,
                      std::span<const float> dtBias, std::span<const float> aLog,
                      std::span<const KdaSlot> slots, const Step &step, RowClass rowClass,
                      const KdaShape &shape, Stream &stream)
{
    requireShape(shape, stream);
    requireStep(slots, step, rowClass);
    requireRows(u, g, beta, step, shape);
    requireSize(z.size(), step.rows, 3 * shape.channels(), "too few inputs");
    requireSize(conv.size(), 3 * shape.channels(), kKdaConvTaps, "too few taps");
    requireSize(dtBias.size(), shape.heads, shape.headDim, "too few gate biases");
    requireSize(aLog.size(), shape.heads, 1, "too few gate rates");
    if constexpr (kHasCudaKernels)
        if (stream.backend() == Backend::Cuda)
            return cuda::kdaPrepare(u, g, beta, z, conv, dtBias, aLog, slots, step, rowClass, shape,
                                    stream.cuda());
    reference::kdaPrepare(u, g, beta, z, conv, dtBias, aLog, slots, step, rowClass, shape,
                          stream.pool());
}

void launchKdaDecode(std::span<float> o, std::span<const float> u, std::span<const float> g,
                     std::span<const float> beta, std::span<const KdaSlot> slots, const Step &step,
                     const KdaShape &shape, Stream &stream)
{
    requireShape(shape, stream);
    requireStep(slots, step, RowClass::Decode);
    requireRows(u, g, beta, step, shape);
    requireSize(o.size(), step.rows, shape.channels(), "too little room for the outputs");
    if constexpr (kHasCudaKernels)
        if (stream.backend() == Backend::Cuda)
            return cuda::kdaDecode(o, u, g, beta, slots, step, shape, stream.cuda());
    reference::kdaDecode(o, u, g, beta, slots, step, shape, stream.pool());
}

std::size_t kdaScratchBytes(const KdaShape &shape, std::int64_t rows, RowClass rowClass,
                            const Stream &stream)
{
    requireShape(shape, stream);
    if constexpr (kHasCudaKernels)
        if (stream.backend() == Backend::Cuda && rowClass == RowClass::Prefill)
            return cuda::kdaPrefillScratchBytes(shape, rows);
    return 0;
}

void launchKdaPrefill(std::span<float> o, std::span<const float> u, std::span<const float> g,
                      std::span<const float> beta, std::span<const KdaSlot> slots, const Step &step,
                      const KdaShape &shape, std::span<std::byte> scratch, Stream &stream)
{
    requireShape(shape, stream);
    requireStep(slots, step, RowClass::Prefill);
    requireRows(u, g, beta, step, shape);
    requireSize(o.size(), step.rows, shape.channels(), "too little room for the outputs");
    require(scratch.size() >= kdaScratchBytes(shape, step.mostRows, RowClass::Prefill, stream),
            "too little scratch");
    if constexpr (kHasCudaKernels)
        if (stream.backend() == Backend::Cuda)
            return cuda::kdaPrefill(o, u, g, beta, slots, step, shape, scratch, stream.cuda());
    reference::kdaPrefill(o, u, g, beta, slots, step, shape, stream.pool());
}

void launchKdaFinish(std::span<float> y, std::span<const float> o, std::span<const float> gate,
                     std::span<const float> weight, float eps, std::span<const float> u,
                     std::span<const float> g, std::span<const float> beta,
                     std::span<const KdaSlot> slots, const Step &step, RowClass rowClass,
                     const KdaShape &shape, Stream &stream)
{
    requireShape(shape, stream);
    requireStep(slots, step, rowClass);
    requireRows(u, g, beta, step, shape);
    for (const std::size_t size : { y.size(), o.size(), gate.size() })
        requireSize(size, step.rows, shape.channels(), "too few outputs or gates");
    requireSize(weight.size(), shape.headDim, 1, "too few norm weights");
    if constexpr (kHasCudaKernels)
        if (stream.backend() == Backend::Cuda)
            return cuda::kdaFinish(y, o, gate, weight, eps, u, g, beta, slots, step, rowClass,
                                   shape, stream.cuda());
    reference::kdaFinish(y, o, gate, weight, eps, u, g, beta, slots, step, rowClass, shape,
                         stream.pool());
}

} // namespace firesteel::kernels
