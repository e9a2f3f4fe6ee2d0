// SPDX-License-Identifier: MIT
#include "kernels/mla/mla.h"

#include "kernels/mla/mla_backends.h"

#include <stdexcept>
#include <string>

namespace firesteel::kernels {

namespace {

[[noreturn]] void refuse(const char *launcher, const std::string &what)
{
    throw std::logic_error(std::string(launcher) + ": " + what);
}

void checkSize(const char *launcher, const char *name, std::size_t size, std::int64_t needed)
{
    if (static_cast<std::int64_t>(size) < needed)
        refuse(launcher,
               std::string(name) + " has " + std::to_string(size) + " values of "
                   + std::to_string(needed));
}

void checkStep(const char *launcher, std::span<const MlaSlot> slots, const Step &step)
{
    checkSize(launcher, "step.sequenceOf", step.sequenceOf.size(), step.rows);
    checkSize(launcher, "slots", slots.size(), static_cast<std::int64_t>(step.sequences.size()));
}

void checkIndexShape(const char *launcher, const IndexShape &shape, const Stream &stream)
{
    if (shape.headDim % 8 != 0 || shape.pool < 1 || shape.topK % shape.pool != 0)
        refuse(launcher, "head dimensions are multiples of 8, topK a multiple of the pool");
    if (stream.backend() == Backend::Cuda
        && (shape.headDim != 128 || shape.pool != 4 || shape.heads > 32 || shape.topK > 2048))
        refuse(launcher,
               "on the GPU an indexer has at most 32 heads of 128, pools of 4 and topK up to 2048; "
               "this one has "
                   + std::to_string(shape.heads) + " heads of " + std::to_string(shape.headDim)
                   + ", pools of " + std::to_string(shape.pool) + " and topK "
                   + std::to_string(shape.topK));
}

void checkMlaShape(const char *launcher, const MlaShape &shape, const Stream &stream)
{
    if (shape.latentDim % 8 != 0)
        refuse(launcher, "latentDim is a multiple of 8");
    if (stream.backend() == Backend::Cuda
        && (shape.latentDim != 512 || shape.keyDim != 256 || shape.valueDim != 256))
        refuse(launcher,
               "on the GPU latents have 512 values, keys and values 256; these have "
                   + std::to_string(shape.latentDim) + ", " + std::to_string(shape.keyDim) + " and "
                   + std::to_string(shape.valueDim));
}

void checkProjection(const char *launcher, std::span<const float> perHead, std::int64_t headDim,
                     std::span<const float> latent, const Matrix &kvB, const MlaShape &shape,
                     std::int64_t rows, const Stream &stream)
{
    checkMlaShape(launcher, shape, stream);
    if (kvB.rows != shape.heads * (shape.keyDim + shape.valueDim) || kvB.cols != shape.latentDim)
        refuse(launcher,
               "kv_b is [" + std::to_string(kvB.rows) + ", " + std::to_string(kvB.cols)
                   + "] and not of this shape");
    checkSize(launcher, "the per-head buffer", perHead.size(), rows * shape.heads * headDim);
    checkSize(launcher, "the latent buffer", latent.size(), rows * shape.heads * shape.latentDim);
}

} // namespace

DType cacheDType(const Stream &stream)
{
    return stream.backend() == Backend::Cuda ? DType::BF16 : DType::F32;
}

void launchMlaStore(std::span<const MlaSlot> slots, std::span<const float> latent,
                    const MlaShape &shape, const Step &step, Stream &stream)
{
    checkMlaShape("launchMlaStore", shape, stream);
    checkStep("launchMlaStore", slots, step);
    checkSize("launchMlaStore", "latent", latent.size(), step.rows * shape.latentDim);
    if constexpr (kHasCudaKernels)
        if (stream.backend() == Backend::Cuda)
            return cuda::mlaStore(slots, latent, shape, step, stream.cuda());
    reference::mlaStore(slots, latent, shape, step);
}

void launchIndexPool(std::span<const MlaSlot> slots, std::span<const float> key,
                     std::span<const float> gate, std::span<const float> ape,
                     const IndexShape &shape, const Step &step, Stream &stream)
{
    checkIndexShape("launchIndexPool", shape, stream);
    checkStep("launchIndexPool", slots, step);
    checkSize("launchIndexPool", "key", key.size(), step.rows * shape.headDim);
    checkSize("launchIndexPool", "gate", gate.size(), step.rows * shape.headDim);
    checkSize("launchIndexPool", "ape", ape.size(), shape.pool * shape.headDim);
    if constexpr (kHasCudaKernels)
        if (stream.backend() == Backend::Cuda)
            return cuda::indexPool(slots, key, gate, ape, shape, step, stream.cuda());
    reference::indexPool(slots, key, gate, ape, shape, step);
}

std::size_t indexScratchBytes(const IndexShape &shape, std::int64_t rows,
                              std::int64_t longestContext, const Stream &stream)
{
    checkIndexShape("indexScratchBytes", shape, stream);
    if constexpr (kHasCudaKernels)
        if (stream.backend() == Backend::Cuda)
            return cuda::indexScratchBytes(shape, rows, longestContext);
    return reference::indexScratchBytes(shape, rows, longestContext);
}

void launchIndexSelect(const Selection &selection, std::span<std::byte> scratch,
                       std::span<const float> query, std::span<const float> weights,
                       std::span<const MlaSlot> slots, const IndexShape &shape, const Step &step,
                       Stream &stream)
{
    constexpr const char *kName = "launchIndexSelect";
    checkIndexShape(kName, shape, stream);
    checkStep(kName, slots, step);
    if (selection.maxSelected < shape.maxSelected())
        refuse(kName, "a row of the selection is too short");
    checkSize(kName, "selection.positions", selection.positions.size(),
              step.rows * selection.maxSelected);
    checkSize(kName, "selection.counts", selection.counts.size(), step.rows);
    checkSize(kName, "query", query.size(), step.rows * shape.heads * shape.headDim);
    checkSize(kName, "weights", weights.size(), step.rows * shape.heads);
    checkSize(kName, "scratch", scratch.size(),
              static_cast<std::int64_t>(
                  indexScratchBytes(shape, step.rows, step.longestContext, stream)));
    if constexpr (kHasCudaKernels)
        if (stream.backend() == Backend::Cuda)
            return cuda::indexSelect(selection, scratch, query, weights, slots, shape, step,
                                     stream.cuda());
    reference::indexSelect(selection, scratch, query, weights, slots, shape, step, stream.pool());
}

void launchMlaAbsorbQuery(std::span<float> absorbed, std::span<const float> query,
                          const Matrix &kvB, const MlaShape &shape, std::int64_t rows,
                          RowClass rowClass, Stream &stream)
{
    checkProjection("launchMlaAbsorbQuery", query, shape.keyDim, absorbed, kvB, shape, rows,
                    stream);
    if constexpr (kHasCudaKernels)
        if (stream.backend() == Backend::Cuda)
            return rowClass == RowClass::Decode
                ? cuda::mlaAbsorbQueryDecode(absorbed, query, kvB, shape, rows, stream.cuda())
                : cuda::mlaAbsorbQueryPrefill(absorbed, query, kvB, shape, rows, stream.cuda());
    reference::mlaAbsorbQuery(absorbed, query, kvB, shape, rows, stream.pool());
}

std::size_t attendScratchBytes(const MlaShape &shape, std::int64_t maxSelected, std::int64_t rows,
                               RowClass rowClass, const Stream &stream)
{
    checkMlaShape("attendScratchBytes", shape, stream);
    if constexpr (kHasCudaKernels)
        if (stream.backend() == Backend::Cuda)
            return cuda::attendScratchBytes(shape, maxSelected, rows, rowClass);
    return 0;
}

void launchMlaAttend(std::span<float> mixed, std::span<const float> absorbed,
                     std::span<const MlaSlot> slots, const Selection &selection,
                     std::span<std::byte> scratch, const MlaShape &shape, const Step &step,
                     RowClass rowClass, Stream &stream)
{
    constexpr const char *kName = "launchMlaAttend";
    checkMlaShape(kName, shape, stream);
    checkStep(kName, slots, step);
    checkSize(kName, "mixed", mixed.size(), step.rows * shape.heads * shape.latentDim);
    checkSize(kName, "absorbed", absorbed.size(), step.rows * shape.heads * shape.latentDim);
    checkSize(kName, "selection.positions", selection.positions.size(),
              step.rows * selection.maxSelected);
    checkSize(kName, "selection.counts", selection.counts.size(), step.rows);
    checkSize(kName, "scratch", scratch.size(),
              static_cast<std::int64_t>(
                  attendScratchBytes(shape, selection.maxSelected, step.rows, rowClass, stream)));
    if constexpr (kHasCudaKernels)
        if (stream.backend() == Backend::Cuda)
            return cuda::mlaAttend(mixed, absorbed, slots, selection, scratch, shape, step,
                                   rowClass, stream.cuda());
    reference::mlaAttend(mixed, absorbed, slots, selection, shape, step, stream.pool());
}

void launchMlaExpandValue(std::span<float> out, std::span<const float> mixed, const Matrix &kvB,
                          const MlaShape &shape, std::int64_t rows, RowClass rowClass,
                          Stream &stream)
{
    checkProjection("launchMlaExpandValue", out, shape.valueDim, mixed, kvB, shape, rows, stream);
    if constexpr (kHasCudaKernels)
        if (stream.backend() == Backend::Cuda)
            return rowClass == RowClass::Decode
                ? cuda::mlaExpandValueDecode(out, mixed, kvB, shape, rows, stream.cuda())
                : cuda::mlaExpandValuePrefill(out, mixed, kvB, shape, rows, stream.cuda());
    reference::mlaExpandValue(out, mixed, kvB, shape, rows, stream.pool());
}

} // namespace firesteel::kernels
