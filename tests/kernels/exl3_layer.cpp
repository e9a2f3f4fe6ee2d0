// SPDX-License-Identifier: MIT
#include "tests/kernels/exl3_layer.h"

#include "kernels/common/device.h"
#include "tests/support/golden.h"

#include <cmath>
#include <doctest/doctest.h>
#include <utility>

namespace firesteel::test {

using namespace kernels;

std::vector<float> runExl3Linear(const Exl3Placed &m, std::span<const float> x, RowClass rowClass,
                                 Stream &stream)
{
    const auto rows = static_cast<std::int64_t>(x.size()) / m.matrix.in;
    const Placed<float> input(std::vector<float>(x.begin(), x.end()), stream);
    const Placed<float> output(static_cast<std::size_t>(rows * m.matrix.out), stream);
    const Placed<std::byte> scratch(exl3LinearScratchBytes(m.matrix, rows, rowClass, stream),
                                    stream);
    launchExl3Linear(output.span(), input.span(), m.matrix, rows, rowClass, { scratch.span() },
                     stream);
    CHECK(output.isGuardIntact());
    CHECK(scratch.isGuardIntact());
    return output.read();
}

std::vector<Exl3HostExpert> randomExl3Experts(std::size_t count, std::int32_t hidden,
                                              std::int32_t width, std::array<int, 3> rates)
{
    std::vector<Exl3HostExpert> experts;
    experts.reserve(count);
    for (std::uint64_t e = 0; e < count; ++e)
        experts.push_back({ randomExl3(3 * e, hidden, width, rates[0], Exl3Codebook::Mul1),
                            randomExl3(3 * e + 1, hidden, width, rates[1], Exl3Codebook::Mul1),
                            randomExl3(3 * e + 2, width, hidden, rates[2], Exl3Codebook::Mul1) });
    return experts;
}

struct Exl3ExpertLayer::Rows
{
    Rows(const Exl3ExpertLayer &layer, std::span<const float> x, std::span<const std::int32_t> ids,
         std::span<const float> weights)
        : count(static_cast<std::int64_t>(ids.size()) / layer.m_shape.expertsPerToken)
        , input(std::vector<float>(x.begin(), x.end()), layer.m_stream)
        , chosen(std::vector<std::int32_t>(ids.begin(), ids.end()), layer.m_stream)
        , weight(std::vector<float>(weights.begin(), weights.end()), layer.m_stream)
        , output(x.size(), layer.m_stream)
        , scratch(exl3ExpertsScratchBytes(layer.m_shape, count, layer.m_rowClass, layer.m_stream),
                  layer.m_stream)
    {
    }

    std::vector<float> result() const
    {
        CHECK(output.isGuardIntact());
        CHECK(scratch.isGuardIntact());
        return output.read();
    }

    std::int64_t count;
    Placed<float> input;
    Placed<std::int32_t> chosen;
    Placed<float> weight, output;
    Placed<std::byte> scratch;
};

Exl3ExpertLayer::Exl3ExpertLayer(std::vector<Exl3HostExpert> hosts, std::size_t experts,
                                 std::size_t perToken, float limit, RowClass rowClass,
                                 Stream &stream)
    : m_hosts(std::move(hosts))
    , m_rowClass(rowClass)
    , m_stream(stream)
    , m_table(0, stream)
{
    m_placed.reserve(3 * m_hosts.size());
    for (const Exl3HostExpert &expert : m_hosts)
        for (const Exl3Host *part : { &expert.gate, &expert.up, &expert.down })
            m_placed.emplace_back(*part, stream);
    std::vector<Exl3Expert> table;
    table.reserve(experts);
    for (std::size_t e = 0; e < experts; ++e) {
        const Exl3Placed *parts = &m_placed[e % m_hosts.size() * 3];
        table.push_back({ parts[0].matrix, parts[1].matrix, parts[2].matrix });
    }
    m_table = Placed<Exl3Expert>(table, stream);
    const Exl3HostExpert &first = m_hosts.front();
    m_shape = { .hidden = first.gate.shape.in,
                .width = first.gate.shape.out,
                .experts = static_cast<std::int64_t>(experts),
                .expertsPerToken = static_cast<std::int64_t>(perToken),
                .swigluLimit = limit,
                .gateRate = first.gate.shape.rate,
                .upRate = first.up.shape.rate,
                .downRate = first.down.shape.rate,
                .codebook = first.gate.shape.codebook };
}

void Exl3ExpertLayer::launch(const Rows &rows) const
{
    launchExl3Experts(rows.output.span(), rows.input.span(), rows.chosen.span(), rows.weight.span(),
                      m_table.span(), m_shape, rows.count, m_rowClass, { rows.scratch.span() },
                      m_stream);
}

std::vector<float> Exl3ExpertLayer::run(std::span<const float> x, std::span<const std::int32_t> ids,
                                        std::span<const float> weights) const
{
    const Rows rows(*this, x, ids, weights);
    launch(rows);
    return rows.result();
}

std::vector<float> Exl3ExpertLayer::replay(std::span<const float> x,
                                           std::span<const std::int32_t> recorded,
                                           std::span<const std::int32_t> replayed,
                                           std::span<const float> weights) const
{
    const Rows rows(*this, x, recorded, weights);
    const DeviceGraph graph(m_stream.cuda(), [&] { launch(rows); });
    graph.launch(m_stream.cuda());
    synchronize(m_stream.cuda());
    copyToDevice(rows.chosen.span().data(), replayed.data(), replayed.size_bytes(),
                 m_stream.cuda());
    graph.launch(m_stream.cuda());
    return rows.result();
}

void Exl3ExpertLayer::checkAgainstModel(std::span<const float> y, std::span<const float> x,
                                        std::span<const std::int32_t> ids,
                                        std::span<const float> weights) const
{
    std::vector<std::int32_t> matrices(ids.begin(), ids.end());
    for (std::int32_t &id : matrices)
        id %= static_cast<std::int32_t>(m_hosts.size());
    const auto perToken = static_cast<std::size_t>(m_shape.expertsPerToken);
    const auto hidden = static_cast<double>(m_shape.hidden);
    const auto width = static_cast<double>(m_shape.width);
    const auto model = exl3ExpertsExpected(m_hosts, x, matrices, weights, perToken,
                                           static_cast<double>(m_shape.swigluLimit));
    const auto truncation = [&](double length) {
        return m_stream.backend() == Backend::Cuda ? truncationTolerance(length) : 0;
    };
    const std::vector<double> upward { hidden, 128, 16, 128 };
    const std::vector<double> downward { width, 128, static_cast<double>(perToken) };
    const double before
        = (chainTolerance(upward) + truncation(hidden)) * (1 + model.gateAmplification);
    const double after = chainTolerance(downward) + truncation(width);
    constexpr double kDeviations = 8; // as chainTolerance
    CHECK(relativeDifference(y, model.y)
          <= std::hypot(kDeviations * halfRoundings(2), before, after));
}

} // namespace firesteel::test
