// SPDX-License-Identifier: MIT
//
// A 64-bit fingerprint that tells changed inputs and torn records from what they were. No defence
// against somebody who wants a collision.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace firesteel::engine {

class Digest
{
public:
    // Texts and byte runs count with their length, so "ab", "c" is not "a", "bc".
    void add(std::span<const std::byte> bytes)
    {
        mix(bytes.size());
        std::size_t at = 0;
        for (; at + sizeof(std::uint64_t) <= bytes.size(); at += sizeof(std::uint64_t)) {
            std::uint64_t word = 0;
            std::memcpy(&word, bytes.data() + at, sizeof word);
            mix(word);
        }
        std::uint64_t rest = 0;
        std::memcpy(&rest, bytes.data() + at, bytes.size() - at);
        mix(rest);
    }
    void add(std::string_view text) { add(std::as_bytes(std::span(text))); }

    std::uint64_t value() const { return m_state; }

private:
    void mix(std::uint64_t word) // a SplitMix64 step
    {
        m_state = (m_state ^ word) * 0x9E3779B97F4A7C15U;
        m_state = (m_state ^ m_state >> 30U) * 0xBF58476D1CE4E5B9U;
        m_state ^= m_state >> 27U;
    }

    std::uint64_t m_state = 0x243F6A8885A308D3U;
};

} // namespace firesteel::engine
