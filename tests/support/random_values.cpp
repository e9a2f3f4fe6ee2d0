// SPDX-License-Identifier: MIT
#include "tests/support/random_values.h"

namespace firesteel::test {

std::uint64_t RandomValues::bits()
{
    m_state += 0x9E3779B97F4A7C15ULL;
    std::uint64_t z = m_state;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
}

float RandomValues::uniform(float low, float high)
{
    return low + (high - low) * (static_cast<float>(bits() >> 40) * 0x1p-24F);
}

int RandomValues::integer(int low, int high)
{
    return low + static_cast<int>(bits() % static_cast<std::uint64_t>(high - low + 1));
}

std::vector<float> RandomValues::uniforms(std::size_t count, float low, float high)
{
    std::vector<float> values(count);
    for (float &value : values)
        value = uniform(low, high);
    return values;
}

} // namespace firesteel::test
