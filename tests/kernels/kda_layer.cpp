// SPDX-License-Identifier: MIT
#include "tests/kernels/kda_layer.h"

#include "kernels/common/device.h"
#include "tests/support/random_values.h"

#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>

namespace firesteel::test {

using kernels::kKdaConvTaps;
using kernels::kKdaWindow;
using kernels::kMaxSequenceRows;
using kernels::RowClass;

namespace {

constexpr std::int64_t kHeads = kKdaTestShape.heads;
constexpr auto kChannels = static_cast<std::size_t>(kHeads * kKdaTestShape.headDim);

std::size_t count(std::int64_t rows, std::size_t width)
{
    return static_cast<std::size_t>(rows) * width;
}

std::vector<float> rowsOf(const std::vector<float> &values, std::size_t width, std::int64_t first,
                          std::int64_t rows)
{
    const auto begin = values.begin() + static_cast<std::ptrdiff_t>(count(first, width));
    return { begin, begin + static_cast<std::ptrdiff_t>(count(rows, width)) };
}

std::vector<float> stateValues(std::uint64_t seed)
{
    return RandomValues(seed).uniforms(static_cast<std::size_t>(kKdaTestShape.stateSize()), -0.5F,
                                       0.5F);
}

template <typename T>
void write(const Placed<T> &to, const std::vector<T> &values, kernels::Stream &stream)
{
    if (stream.backend() == kernels::Backend::Cuda)
        kernels::copyToDevice(to.span().data(), values.data(), values.size() * sizeof(T),
                              stream.cuda());
    else
        std::ranges::copy(values, to.span().begin());
}

std::int64_t rowsOfAll(const std::vector<KdaPart> &parts)
{
    std::int64_t rows = 0;
    for (const KdaPart &part : parts)
        rows += part.input.rows;
    return rows;
}

std::int64_t longestOf(const std::vector<KdaPart> &parts)
{
    std::int64_t rows = 0;
    for (const KdaPart &part : parts)
        rows = std::max(rows, part.input.rows);
    return rows;
}

} // namespace

KdaInput KdaInput::random(std::int64_t rows, std::uint64_t seed)
{
    RandomValues random(seed);
    KdaInput input { .rows = rows, .z = {}, .f = {}, .b = {}, .gate = {} };
    input.z = random.uniforms(count(rows, 3 * kChannels));
    input.f = random.uniforms(count(rows, kChannels), -6.0F, 3.0F);
    input.b = random.uniforms(count(rows, kHeads), -3.0F, 3.0F);
    input.gate = random.uniforms(count(rows, kChannels), -3.0F, 3.0F);
    return input;
}

KdaInput KdaInput::part(std::int64_t first, std::int64_t rowCount) const
{
    return { .rows = rowCount,
             .z = rowsOf(z, 3 * kChannels, first, rowCount),
             .f = rowsOf(f, kChannels, first, rowCount),
             .b = rowsOf(b, kHeads, first, rowCount),
             .gate = rowsOf(gate, kChannels, first, rowCount) };
}

KdaSequence::KdaSequence(std::uint64_t seed, kernels::Stream &stream)
    : m_state(stateValues(seed), stream)
    , m_window(RandomValues(seed + 1).uniforms(count(kKdaWindow, 3 * kChannels)), stream)
    , m_input(count(kMaxSequenceRows, 3 * kChannels), stream)
    , m_u(count(kMaxSequenceRows, 3 * kChannels), stream)
    , m_g(count(kMaxSequenceRows, kChannels), stream)
    , m_beta(count(kMaxSequenceRows, kHeads), stream)
{
}

kernels::KdaSlot KdaSequence::slot() const
{
    return { .state = m_state.span().data(),
             .window = m_window.span().data(),
             .input = m_input.span().data(),
             .u = m_u.span().data(),
             .g = m_g.span().data(),
             .beta = m_beta.span().data() };
}

KdaMemory KdaSequence::read() const
{
    return { .state = m_state.read(),
             .window = m_window.read(),
             .input = m_input.read(),
             .u = m_u.read(),
             .g = m_g.read(),
             .beta = m_beta.read() };
}

bool KdaSequence::areGuardsIntact() const
{
    return m_state.isGuardIntact() && m_window.isGuardIntact() && m_input.isGuardIntact()
        && m_u.isGuardIntact() && m_g.isGuardIntact() && m_beta.isGuardIntact();
}

KdaWeights KdaWeights::random(std::uint64_t seed)
{
    RandomValues random(seed);
    KdaWeights weights;
    weights.conv = random.uniforms(3 * kChannels * kKdaConvTaps, -0.5F, 0.5F);
    weights.dtBias = random.uniforms(kChannels);
    weights.aLog = random.uniforms(kHeads, -1.0F, 0.7F);
    weights.norm = random.uniforms(kKdaTestShape.headDim, 0.5F, 1.5F);
    return weights;
}

KdaTestLayer::KdaTestLayer(kernels::Stream &stream)
    : m_stream(stream)
    , m_weights(KdaWeights::random(1))
    , m_conv(m_weights.conv, stream)
    , m_dtBias(m_weights.dtBias, stream)
    , m_aLog(m_weights.aLog, stream)
    , m_norm(m_weights.norm, stream)
{
}

std::vector<KdaOutput> KdaTestLayer::run(RowClass rowClass, const std::vector<KdaPart> &parts,
                                         std::int64_t paddingRows) const
{
    const KdaStep step(*this, rowClass, parts, paddingRows);
    step.launch();
    std::vector<KdaOutput> outputs = step.read();
    for (const KdaPart &part : parts) {
        CHECK(part.sequence->areGuardsIntact());
        part.sequence->recordedRows
            = rowClass == RowClass::Decode ? static_cast<int>(part.input.rows) : 0;
    }
    return outputs;
}

KdaOutput KdaTestLayer::run(RowClass rowClass, KdaSequence &sequence, const KdaInput &input) const
{
    return run(rowClass, { { &sequence, input } })[0];
}

KdaStep::KdaStep(const KdaTestLayer &layer, RowClass rowClass, const std::vector<KdaPart> &parts,
                 std::int64_t paddingRows)
    : m_layer(layer)
    , m_rowClass(rowClass)
    , m_rows(rowsOfAll(parts) + paddingRows)
    , m_mostRows(longestOf(parts))
    , m_z(count(m_rows, 3 * kChannels), layer.stream())
    , m_u(count(m_rows, 3 * kChannels), layer.stream())
    , m_g(count(m_rows, kChannels), layer.stream())
    , m_beta(count(m_rows, kHeads), layer.stream())
    , m_gate(count(m_rows, kChannels), layer.stream())
    , m_o(count(m_rows, kChannels), layer.stream())
    , m_y(count(m_rows, kChannels), layer.stream())
    , m_scratch(kernels::kdaScratchBytes(kKdaTestShape, m_rows, rowClass, layer.stream()),
                layer.stream())
    , m_slots(parts.size(), layer.stream())
    , m_sequences(parts.size(), layer.stream())
    , m_sequenceOf(static_cast<std::size_t>(m_rows), layer.stream())
{
    assign(parts);
}

void KdaStep::assign(const std::vector<KdaPart> &parts)
{
    m_partRows.clear();
    KdaInput all;
    std::vector<kernels::KdaSlot> slots;
    std::vector<kernels::StepSequence> sequences;
    std::vector<std::int32_t> sequenceOf;
    for (const KdaPart &part : parts) {
        const KdaInput &input = part.input;
        sequences.push_back({ .firstRow = static_cast<std::int32_t>(sequenceOf.size()),
                              .rows = static_cast<std::int32_t>(input.rows),
                              .firstPosition = 0,
                              .recordedRows = part.sequence->recordedRows });
        sequenceOf.insert(sequenceOf.end(), static_cast<std::size_t>(input.rows),
                          static_cast<std::int32_t>(slots.size()));
        slots.push_back(part.sequence->slot());
        m_partRows.push_back(input.rows);
        all.z.insert(all.z.end(), input.z.begin(), input.z.end());
        all.f.insert(all.f.end(), input.f.begin(), input.f.end());
        all.b.insert(all.b.end(), input.b.begin(), input.b.end());
        all.gate.insert(all.gate.end(), input.gate.begin(), input.gate.end());
    }
    sequenceOf.resize(static_cast<std::size_t>(m_rows), -1);
    kernels::Stream &stream = m_layer.stream();
    write(m_z, all.z, stream);
    write(m_g, all.f, stream);
    write(m_beta, all.b, stream);
    write(m_gate, all.gate, stream);
    write(m_slots, slots, stream);
    write(m_sequences, sequences, stream);
    write(m_sequenceOf, sequenceOf, stream);
}

void KdaStep::launch() const
{
    const kernels::KdaShape &shape = kKdaTestShape;
    kernels::Stream &stream = m_layer.stream();
    const kernels::Step step { .sequences = m_sequences.span(),
                               .sequenceOf = m_sequenceOf.span(),
                               .rows = m_rows,
                               .mostRows = m_mostRows };
    kernels::launchKdaPrepare(m_u.span(), m_g.span(), m_beta.span(), m_z.span(),
                              m_layer.m_conv.span(), m_layer.m_dtBias.span(), m_layer.m_aLog.span(),
                              m_slots.span(), step, m_rowClass, shape, stream);
    if (m_rowClass == RowClass::Decode)
        kernels::launchKdaDecode(m_o.span(), m_u.span(), m_g.span(), m_beta.span(), m_slots.span(),
                                 step, shape, stream);
    else
        kernels::launchKdaPrefill(m_o.span(), m_u.span(), m_g.span(), m_beta.span(), m_slots.span(),
                                  step, shape, m_scratch.span(), stream);
    kernels::launchKdaFinish(m_y.span(), m_o.span(), m_gate.span(), m_layer.m_norm.span(),
                             kKdaTestEps, m_u.span(), m_g.span(), m_beta.span(), m_slots.span(),
                             step, m_rowClass, shape, stream);
}

std::vector<KdaOutput> KdaStep::read() const
{
    for (const Placed<float> *buffer : { &m_z, &m_u, &m_g, &m_beta, &m_gate, &m_o, &m_y })
        CHECK(buffer->isGuardIntact());
    CHECK(m_scratch.isGuardIntact());
    const KdaOutput all {
        .u = m_u.read(), .g = m_g.read(), .beta = m_beta.read(), .o = m_o.read(), .y = m_y.read()
    };
    std::vector<KdaOutput> outputs;
    std::int64_t first = 0;
    for (const std::int64_t rows : m_partRows) {
        outputs.push_back({ .u = rowsOf(all.u, 3 * kChannels, first, rows),
                            .g = rowsOf(all.g, kChannels, first, rows),
                            .beta = rowsOf(all.beta, kHeads, first, rows),
                            .o = rowsOf(all.o, kChannels, first, rows),
                            .y = rowsOf(all.y, kChannels, first, rows) });
        first += rows;
    }
    return outputs;
}

} // namespace firesteel::test
