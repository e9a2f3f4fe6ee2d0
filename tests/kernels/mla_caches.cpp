// SPDX-License-Identifier: MIT
#include "tests/kernels/mla_caches.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <stdexcept>
#include <string>

namespace firesteel::test {

namespace {

struct Tables
{
    std::vector<kernels::StepSequence> sequences;
    std::vector<std::int32_t> sequenceOf;
    std::int64_t mostRows = 0;
    std::int64_t longestContext = 0;
};

Tables tablesOf(const std::vector<StepRows> &rows)
{
    Tables tables;
    for (const StepRows &part : rows) {
        tables.sequences.push_back(
            { .firstRow = static_cast<std::int32_t>(tables.sequenceOf.size()),
              .rows = part.rows,
              .firstPosition = part.firstPosition });
        tables.sequenceOf.insert(tables.sequenceOf.end(), static_cast<std::size_t>(part.rows),
                                 static_cast<std::int32_t>(tables.sequences.size() - 1));
        tables.mostRows = std::max<std::int64_t>(tables.mostRows, part.rows);
        tables.longestContext
            = std::max<std::int64_t>(tables.longestContext, part.firstPosition + part.rows);
    }
    return tables;
}

std::size_t bytesOf(kernels::DType type, std::int64_t rows, std::int64_t width)
{
    return static_cast<std::size_t>(rows * width) * kernels::dtypeBytes(type);
}

std::vector<std::int32_t> paddedPositions(const SelectedTokens &tokens, std::int64_t maxSelected)
{
    std::vector<std::int32_t> positions(tokens.rows.size() * static_cast<std::size_t>(maxSelected),
                                        -1);
    for (std::size_t t = 0; t < tokens.rows.size(); ++t)
        std::ranges::copy(tokens.rows[t],
                          positions.begin() + static_cast<std::ptrdiff_t>(t) * maxSelected);
    return positions;
}

std::vector<std::int32_t> countsOf(const SelectedTokens &tokens)
{
    std::vector<std::int32_t> counts;
    counts.reserve(tokens.rows.size());
    for (const auto &row : tokens.rows)
        counts.push_back(static_cast<std::int32_t>(row.size()));
    return counts;
}

} // namespace

float nearestBf16(float value)
{
    const auto bits = std::bit_cast<std::uint32_t>(value);
    return std::bit_cast<float>((bits + 0x7FFFU + (bits >> 16 & 1U)) & 0xFFFF0000U);
}

std::vector<float> nearestBf16(std::vector<float> values)
{
    for (float &value : values)
        value = nearestBf16(value);
    return values;
}

std::vector<std::byte> storedAs(kernels::DType type, std::span<const float> values)
{
    std::vector<std::byte> bytes(values.size() * kernels::dtypeBytes(type));
    if (type == kernels::DType::F32) {
        std::memcpy(bytes.data(), values.data(), bytes.size());
        return bytes;
    }
    for (std::size_t i = 0; i < values.size(); ++i) {
        const std::uint16_t pattern = type == kernels::DType::F16
            ? std::bit_cast<std::uint16_t>(static_cast<_Float16>(values[i]))
            : static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(values[i]) >> 16);
        std::memcpy(bytes.data() + 2 * i, &pattern, 2);
    }
    return bytes;
}

MlaCaches::MlaCaches(std::int64_t context, std::int64_t latentDim, std::int64_t indexDim,
                     kernels::Stream &stream)
    : m_type(kernels::cacheDType(stream))
    , m_latents(bytesOf(m_type, context, latentDim), stream)
    , m_pooledKeys(bytesOf(m_type, context / 4, indexDim), stream)
    , m_tailKey(bytesOf(kernels::DType::F32, kernels::kIndexTailRows, indexDim), stream)
    , m_tailGate(bytesOf(kernels::DType::F32, kernels::kIndexTailRows, indexDim), stream)
{
}

kernels::MlaSlot MlaCaches::slot() const
{
    return { m_latents.data(), m_pooledKeys.data(), reinterpret_cast<float *>(m_tailKey.data()),
             reinterpret_cast<float *>(m_tailGate.data()) };
}

void MlaCaches::setLatents(std::span<const float> values)
{
    m_latents.write(storedAs(m_type, values));
}

void MlaCaches::setPooledKeys(std::span<const float> values)
{
    m_pooledKeys.write(storedAs(m_type, values));
}

std::vector<float> MlaCaches::widened(const PlacedBytes &bytes) const
{
    const std::vector<std::byte> stored = bytes.read();
    std::vector<float> values(stored.size() / kernels::dtypeBytes(m_type));
    if (m_type == kernels::DType::F32) {
        std::memcpy(values.data(), stored.data(), stored.size());
        return values;
    }
    for (std::size_t i = 0; i < values.size(); ++i) {
        std::uint16_t pattern = 0;
        std::memcpy(&pattern, stored.data() + 2 * i, 2);
        values[i] = std::bit_cast<float>(static_cast<std::uint32_t>(pattern) << 16);
    }
    return values;
}

std::vector<float> MlaCaches::latents() const { return widened(m_latents); }
std::vector<float> MlaCaches::pooledKeys() const { return widened(m_pooledKeys); }

bool MlaCaches::isGuardIntact() const
{
    return m_latents.isGuardIntact() && m_pooledKeys.isGuardIntact() && m_tailKey.isGuardIntact()
        && m_tailGate.isGuardIntact();
}

PlacedStep::PlacedStep(const std::vector<StepRows> &rows, std::span<const kernels::MlaSlot> slots,
                       kernels::Stream &stream, std::int64_t longestContext, std::int64_t mostRows)
{
    const Tables tables = tablesOf(rows);
    m_sequences = kernels::Buffer<kernels::StepSequence>::copyOf(tables.sequences, stream);
    m_sequenceOf = kernels::Buffer<std::int32_t>::copyOf(tables.sequenceOf, stream);
    m_slots = kernels::Buffer<kernels::MlaSlot>::copyOf(slots, stream);
    m_step = { .sequences = m_sequences,
               .sequenceOf = m_sequenceOf,
               .rows = static_cast<std::int64_t>(tables.sequenceOf.size()),
               .mostRows = std::max(mostRows, tables.mostRows),
               .longestContext = std::max(longestContext, tables.longestContext) };
}

void PlacedStep::assign(const std::vector<StepRows> &rows, std::span<const kernels::MlaSlot> slots,
                        kernels::Stream &stream)
{
    const Tables tables = tablesOf(rows);
    if (tables.sequences.size() != m_sequences.size()
        || tables.sequenceOf.size() != m_sequenceOf.size() || slots.size() != m_slots.size()
        || tables.mostRows > m_step.mostRows || tables.longestContext > m_step.longestContext)
        throw std::logic_error("PlacedStep: tables of another size");
    m_sequences.assign(tables.sequences, stream);
    m_sequenceOf.assign(tables.sequenceOf, stream);
    m_slots.assign(slots, stream);
}

PlacedSelection::PlacedSelection(std::int64_t rows, std::int64_t maxSelected,
                                 kernels::Stream &stream)
    : m_maxSelected(maxSelected)
    , m_positions(static_cast<std::size_t>(rows * maxSelected), stream)
    , m_counts(static_cast<std::size_t>(rows), stream)
{
}

PlacedSelection::PlacedSelection(const SelectedTokens &tokens, std::int64_t maxSelected,
                                 kernels::Stream &stream)
    : m_maxSelected(maxSelected)
    , m_positions(paddedPositions(tokens, maxSelected), stream)
    , m_counts(countsOf(tokens), stream)
{
}

kernels::Selection PlacedSelection::selection() const
{
    return { m_positions.span(), m_counts.span(), m_maxSelected };
}

SelectedTokens PlacedSelection::read() const
{
    const std::vector<std::int32_t> positions = m_positions.read();
    SelectedTokens tokens;
    for (const std::int32_t count : m_counts.read()) {
        if (count < 0 || count > m_maxSelected)
            throw std::runtime_error("a selection of " + std::to_string(count) + " tokens");
        const auto first
            = positions.begin() + static_cast<std::ptrdiff_t>(tokens.rows.size()) * m_maxSelected;
        tokens.rows.emplace_back(first, first + count);
    }
    return tokens;
}

bool PlacedSelection::isGuardIntact() const
{
    return m_positions.isGuardIntact() && m_counts.isGuardIntact();
}

} // namespace firesteel::test
