// SPDX-License-Identifier: MIT
//
// Seeded pseudo-random test inputs that are the same on every platform.
#pragma once

#include <cstdint>
#include <vector>

namespace firesteel::test {

class RandomValues
{
public:
    explicit RandomValues(std::uint64_t seed)
        : m_state(seed)
    {
    }
    std::uint64_t bits(); // SplitMix64
    float uniform(float low, float high);
    int integer(int low, int high); // inclusive
    std::vector<float> uniforms(std::size_t count, float low = -1.0F, float high = 1.0F);

private:
    std::uint64_t m_state;
};

} // namespace firesteel::test
