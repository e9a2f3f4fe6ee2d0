// SPDX-License-Identifier: MIT
//
// What the launchers of the prefill class share.
#pragma once

#include "kernels/exl3/exl3.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>

namespace firesteel::kernels::cuda {

// The desktop shares the GPU: no launch is longer than about 4 ms on the 48 multiprocessors of a
// GB10 (75 TFLOP/s, 200 GB/s).
inline constexpr std::int64_t kLaunchFlopsOfMultiprocessor = 6'250'000'000;
inline constexpr std::int64_t kLaunchBytes = 800'000'000;

// How many items of a cost fit into one launch.
constexpr std::int64_t itemsPerLaunch(std::int64_t budget, std::int64_t cost)
{
    return std::max<std::int64_t>(1, budget / std::max<std::int64_t>(1, cost));
}

// Hands out scratch from its start; without memory it only counts.
class ScratchWalk
{
public:
    ScratchWalk() = default;
    explicit ScratchWalk(const Exl3Scratch &scratch)
        : m_bytes(scratch.bytes)
    {
    }

    // Throws std::logic_error when the scratch is too small.
    template <typename T> T *take(std::int64_t count)
    {
        const std::size_t begin = m_used;
        m_used += (static_cast<std::size_t>(count) * sizeof(T) + 255) / 256 * 256;
        if (m_bytes.data() == nullptr)
            return nullptr;
        if (m_used > m_bytes.size())
            throw std::logic_error("EXL3 scratch is smaller than its launcher asks for");
        return reinterpret_cast<T *>(m_bytes.data() + begin);
    }
    std::size_t used() const { return m_used; }

private:
    std::span<std::byte> m_bytes;
    std::size_t m_used = 0;
};

} // namespace firesteel::kernels::cuda
