// SPDX-License-Identifier: MIT
//
// The merges of a byte-pair encoding and their application: the pair of lowest rank first, the
// leftmost of equals. Works in O(n log n), so that a megabyte without a word border costs no more
// per byte than prose. Used by the tokenizer.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace firesteel::engine {

class MergeTable
{
public:
    struct Merge
    {
        std::uint32_t rank = 0;
        std::int32_t result = 0;
    };

    // Working memory of merge(), kept by the caller over many calls.
    class Scratch
    {
        friend class MergeTable;
        struct Symbol
        {
            std::int32_t id;
            std::uint32_t previous;
            std::uint32_t next;
        };
        struct Candidate
        {
            std::uint32_t rank;
            std::uint32_t position; // of the left symbol
            std::int32_t left;
            std::int32_t right;
        };
        std::vector<Symbol> m_symbols;
        std::vector<Candidate> m_heap;
    };

    explicit MergeTable(std::size_t expectedMerges = 0);

    // A pair given twice keeps its last rank, as in the reference implementation.
    void set(std::int32_t left, std::int32_t right, Merge merge);
    const Merge *find(std::int32_t left, std::int32_t right) const;

    // Appends to `out` what remains of `symbols` (fewer than 2^32) after all merges.
    void merge(std::span<const std::int32_t> symbols, Scratch &scratch,
               std::vector<std::int32_t> &out) const;

private:
    struct Slot
    {
        std::uint64_t pair;
        Merge merge;
    };

    void grow(std::size_t slotCount);
    std::size_t slotOf(std::uint64_t pair) const;
    void offer(Scratch &scratch, std::uint32_t position) const;

    std::vector<Slot> m_slots; // a power of two, at most half full
    unsigned m_shift = 0;
    std::size_t m_used = 0;
};

} // namespace firesteel::engine
