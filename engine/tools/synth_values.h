// SPDX-License-Identifier: MIT
//
// Random weights with which a glm5_next model computes without overflow: every matrix keeps its
// input's magnitude. A value depends on the seed, the tensor's name and its place alone, so any
// part of a tensor can be made at any time, by any thread.
#pragma once

#include "engine/checkpoint/safe_tensors.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace firesteel::engine {

struct ValueDistribution
{
    float mean = 0;
    float spread = 0; // standard deviation
};

// Of a plain tensor by its released name.
ValueDistribution syntheticValues(std::string_view name, const std::vector<std::int64_t> &shape);

// One tensor of a synthetic EXL3 pack: a plain one (BF16, F16 or F32), or a part of a MUL1 group
// (.trellis, .suh, .svh, .mul1).
class SyntheticTensor
{
public:
    SyntheticTensor(std::string_view name, TensorType type, const std::vector<std::int64_t> &shape,
                    std::uint64_t seed);

    // Elements [first, first + bytes.size() / size of one) of the tensor, row-major.
    void fill(std::span<std::byte> bytes, std::uint64_t first) const;

private:
    enum class Kind { Plain, Bits, Scales, Marker };

    std::uint64_t bitsAt(std::uint64_t index) const;
    float valueAt(std::uint64_t index) const;

    Kind m_kind = Kind::Plain;
    TensorType m_type;
    ValueDistribution m_values; // of scales: their typical magnitude
    std::uint64_t m_state; // of seed and name
};

} // namespace firesteel::engine
