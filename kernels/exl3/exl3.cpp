// SPDX-License-Identifier: MIT
#include "kernels/exl3/exl3.h"

#include "kernels/exl3/exl3_backends.h"

#include <stdexcept>
#include <string>

namespace firesteel::kernels {

namespace {

void require(bool holds, const char *what)
{
    if (!holds)
        throw std::logic_error(std::string("EXL3: ") + what);
}

// What Checkpoint guarantees of every matrix that it hands out.
void requireMatrix(const Exl3Matrix &m)
{
    require(m.in > 0 && m.in % kExl3Block == 0 && m.out > 0 && m.out % kExl3Block == 0,
            "sizes are not multiples of 128");
    require(m.rate >= 1 && m.rate <= kExl3MaxRate, "the rate is not between 1 and 8");
}

void requireSize(std::size_t size, std::int64_t rows, std::int64_t columns, const char *what)
{
    require(size >= static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns), what);
}

void requireRows(std::int64_t rows, RowClass rowClass)
{
    require(rows > 0 && (rowClass == RowClass::Prefill || rows <= kMaxDecodeStepRows),
            "more rows than a decode step has, or none");
}

} // namespace

void launchExl3Reconstruct(std::span<std::uint16_t> inner, const Exl3Matrix &m, Stream &stream)
{
    requireMatrix(m);
    requireSize(inner.size(), m.in, m.out, "the reconstructed matrix has too little room");
    if (stream.backend() == Backend::Cpu)
        reference::exl3Reconstruct(inner, m, stream.pool());
    else
        cuda::exl3Reconstruct(inner, m, stream.cuda());
}

void launchExl3Rotate(std::span<std::uint16_t> rotated, std::span<const float> x,
                      const Exl3Matrix &m, std::int64_t rows, Stream &stream)
{
    requireMatrix(m);
    requireSize(x.size(), rows, m.in, "too few inputs");
    requireSize(rotated.size(), rows, m.in, "the rotated rows have too little room");
    if (stream.backend() == Backend::Cpu)
        reference::exl3Rotate(rotated, x, m, rows, stream.pool());
    else
        cuda::exl3Rotate(rotated, x, m, rows, stream.cuda());
}

std::size_t exl3LinearScratchBytes(const Exl3Matrix &m, std::int64_t rows, RowClass rowClass,
                                   const Stream &stream)
{
    requireMatrix(m);
    requireRows(rows, rowClass);
    if (stream.backend() == Backend::Cpu)
        return reference::exl3LinearScratchBytes(m, rows);
    return rowClass == RowClass::Decode ? cuda::exl3DecodeLinearScratchBytes(m, rows)
                                        : cuda::exl3PrefillLinearScratchBytes(m, rows);
}

void launchExl3Linear(std::span<float> y, std::span<const float> x, const Exl3Matrix &m,
                      std::int64_t rows, RowClass rowClass, const Exl3Scratch &scratch,
                      Stream &stream)
{
    requireMatrix(m);
    requireRows(rows, rowClass);
    requireSize(x.size(), rows, m.in, "too few inputs");
    requireSize(y.size(), rows, m.out, "the outputs have too little room");
    if (stream.backend() == Backend::Cpu)
        reference::exl3Linear(y, x, m, rows, scratch, stream.pool());
    else if (rowClass == RowClass::Decode)
        cuda::exl3DecodeLinear(y, x, m, rows, scratch, stream.cuda());
    else
        cuda::exl3PrefillLinear(y, x, m, rows, scratch, stream.cuda());
}

std::size_t exl3ExpertsScratchBytes(const Exl3MoeShape &shape, std::int64_t rows, RowClass rowClass,
                                    const Stream &stream)
{
    requireRows(rows, rowClass);
    if (stream.backend() == Backend::Cpu)
        return reference::exl3ExpertsScratchBytes(shape, rows);
    return rowClass == RowClass::Decode ? cuda::exl3DecodeExpertsScratchBytes(shape, rows)
                                        : cuda::exl3PrefillExpertsScratchBytes(shape, rows);
}

void launchExl3Experts(std::span<float> y, std::span<const float> x,
                       std::span<const std::int32_t> experts, std::span<const float> weights,
                       std::span<const Exl3Expert> table, const Exl3MoeShape &shape,
                       std::int64_t rows, RowClass rowClass, const Exl3Scratch &scratch,
                       Stream &stream)
{
    requireRows(rows, rowClass);
    require(shape.hidden % kExl3Block == 0 && shape.width % kExl3Block == 0,
            "sizes are not multiples of 128");
    requireSize(x.size(), rows, shape.hidden, "too few inputs");
    requireSize(y.size(), rows, shape.hidden, "the outputs have too little room");
    requireSize(experts.size(), rows, shape.expertsPerToken, "too few expert ids");
    requireSize(weights.size(), rows, shape.expertsPerToken, "too few expert weights");
    requireSize(table.size(), shape.experts, 1, "the table lacks experts");
    if (stream.backend() == Backend::Cpu)
        reference::exl3Experts(y, x, experts, weights, table, shape, rows, scratch, stream.pool());
    else if (rowClass == RowClass::Decode)
        cuda::exl3DecodeExperts(y, x, experts, weights, table, shape, rows, scratch, stream.cuda());
    else
        cuda::exl3PrefillExperts(y, x, experts, weights, table, shape, rows, scratch,
                                 stream.cuda());
}

} // namespace firesteel::kernels
