// SPDX-License-Identifier: MIT
//
// Token bytes <-> id of the base vocabulary, in one arena and one open hash table: 155k entries
// load in milliseconds and cost a few megabytes. Used by the tokenizer and its file reader.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace firesteel::engine {

class Vocabulary
{
public:
    static constexpr std::int32_t kMaxTokens = 1 << 20; // ids are below this
    static constexpr std::int32_t kNone = -1;

    explicit Vocabulary(std::size_t expectedTokens = 0);

    enum class Added { Ok, DuplicateBytes, DuplicateId };
    Added add(std::string_view bytes, std::int32_t id); // `bytes` not empty, 0 <= id < kMaxTokens

    // Gives `id` bytes that find() does not see: added tokens, which are matched elsewhere.
    Added addHidden(std::string_view bytes, std::int32_t id);

    std::int32_t find(std::string_view bytes) const; // kNone when absent
    std::string_view bytes(std::int32_t id) const; // empty when unmapped
    std::int32_t size() const
    {
        return static_cast<std::int32_t>(m_spans.size());
    } // 1 + the highest id

private:
    struct Span
    {
        std::size_t offset = 0;
        std::uint32_t length = 0;
    };
    struct Slot
    {
        std::uint32_t hash = 0; // spares most comparisons
        std::int32_t id = kNone;
    };

    void grow(std::size_t slotCount);
    std::size_t slotOf(std::string_view bytes, std::size_t hash) const;

    std::string m_arena;
    std::vector<Span> m_spans; // by id
    std::vector<Slot> m_slots; // a power of two, at most half full
    std::size_t m_used = 0;
};

} // namespace firesteel::engine
