// SPDX-License-Identifier: MIT
//
// Layers for the tests of the EXL3 launchers, on any stream: each run has inputs, outputs and
// scratch of its own between guards, and starts from poisoned outputs and scratch.
#pragma once

#include "tests/kernels/exl3_expected.h"
#include "tests/support/exl3_vectors.h"
#include "tests/support/placed.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace firesteel::test {

// y [rows, out] of launchExl3Linear; x [rows, in].
std::vector<float> runExl3Linear(const Exl3Placed &m, std::span<const float> x,
                                 kernels::RowClass rowClass, kernels::Stream &stream);

// Experts of random MUL1 matrices; rates of gate, up and down.
std::vector<Exl3HostExpert> randomExl3Experts(std::size_t count, std::int32_t hidden,
                                              std::int32_t width, std::array<int, 3> rates);

// A layer of experts on a stream.
class Exl3ExpertLayer
{
public:
    // experts: how many the table has; expert e uses the matrices of hosts[e % hosts.size()].
    Exl3ExpertLayer(std::vector<Exl3HostExpert> hosts, std::size_t experts, std::size_t perToken,
                    float limit, kernels::RowClass rowClass, kernels::Stream &stream);

    const std::vector<Exl3HostExpert> &hosts() const { return m_hosts; }

    // y [rows, hidden] of launchExl3Experts.
    std::vector<float> run(std::span<const float> x, std::span<const std::int32_t> ids,
                           std::span<const float> weights) const;

    // The same of a recorded launch: recorded with some choices, replayed with others. GPU only.
    std::vector<float> replay(std::span<const float> x, std::span<const std::int32_t> recorded,
                              std::span<const std::int32_t> replayed,
                              std::span<const float> weights) const;

    // The largest difference from double precision, within the bound that exl3_checks.cpp derives.
    void checkAgainstModel(std::span<const float> y, std::span<const float> x,
                           std::span<const std::int32_t> ids, std::span<const float> weights) const;

private:
    struct Rows;
    void launch(const Rows &rows) const;

    std::vector<Exl3HostExpert> m_hosts;
    kernels::RowClass m_rowClass;
    kernels::Stream &m_stream;
    std::vector<Exl3Placed> m_placed;
    Placed<kernels::Exl3Expert> m_table;
    kernels::Exl3MoeShape m_shape;
};

} // namespace firesteel::test
