// SPDX-License-Identifier: MIT
#include "kernels/linear/linear.h"

#include "kernels/linear/linear_backends.h"

#include <array>
#include <stdexcept>

namespace firesteel::kernels {

namespace {

LinearPart checked(LinearPart part, std::int64_t rows)
{
    if (part.yStride == 0)
        part.yStride = part.w.rows;
    if (part.w.cols % 8 != 0)
        throw std::logic_error("launchLinear: the inner dimension is no multiple of 8");
    if (static_cast<std::int64_t>(part.y.size()) < (rows - 1) * part.yStride + part.w.rows
        || static_cast<std::int64_t>(part.x.size()) < rows * part.w.cols)
        throw std::logic_error("launchLinear: a buffer is smaller than its shape");
    return part;
}

} // namespace

void launchLinears(std::span<const LinearPart> parts, std::int64_t rows, RowClass rowClass,
                   Stream &stream)
{
    if (parts.size() > kMaxLinearParts)
        throw std::logic_error("launchLinears: too many products in one call");
    if (rows == 0 || parts.empty())
        return;
    std::array<LinearPart, kMaxLinearParts> complete;
    for (std::size_t i = 0; i < parts.size(); ++i)
        complete[i] = checked(parts[i], rows);
    const auto all = std::span(complete).first(parts.size());
    if constexpr (kHasCudaKernels)
        if (stream.backend() == Backend::Cuda) {
            if (rowClass == RowClass::Decode)
                return cuda::decodeLinears(all, rows, stream.cuda());
            for (const LinearPart &part : all)
                cuda::prefillLinear(part, rows, stream.cuda());
            return;
        }
    for (const LinearPart &part : all)
        reference::linear(part, rows, stream.pool());
}

void launchLinear(std::span<float> y, std::span<const float> x, const Matrix &w, std::int64_t rows,
                  RowClass rowClass, Stream &stream, std::int64_t yStride)
{
    const LinearPart part { .y = y, .x = x, .w = w, .yStride = yStride };
    launchLinears({ &part, 1 }, rows, rowClass, stream);
}

void launchEmbed(std::span<float> y, std::span<const std::int32_t> ids, const Matrix &table,
                 std::int64_t copies, Stream &stream)
{
    if (y.size() < ids.size() * static_cast<std::size_t>(copies * table.cols))
        throw std::logic_error("launchEmbed: the output is smaller than its shape");
    if constexpr (kHasCudaKernels)
        if (stream.backend() == Backend::Cuda)
            return cuda::embed(y, ids, table, copies, stream.cuda());
    reference::embed(y, ids, table, copies);
}

void launchCopyRows(std::span<float> y, std::int64_t yStride, std::span<const float> x,
                    std::int64_t columns, std::int64_t rows, Stream &stream)
{
    if (rows == 0)
        return;
    if (yStride < columns || static_cast<std::int64_t>(x.size()) < rows * columns
        || static_cast<std::int64_t>(y.size()) < (rows - 1) * yStride + columns)
        throw std::logic_error("launchCopyRows: a buffer is smaller than its shape");
    if constexpr (kHasCudaKernels)
        if (stream.backend() == Backend::Cuda)
            return cuda::copyRows(y, yStride, x, columns, rows, stream.cuda());
    reference::copyRows(y, yStride, x, columns, rows);
}

} // namespace firesteel::kernels
