// SPDX-License-Identifier: MIT
#include "engine/text/merge_table.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

namespace firesteel::engine {

namespace {

constexpr std::uint64_t kEmpty
    = std::numeric_limits<std::uint64_t>::max(); // no pair: ids are not negative
constexpr std::uint32_t kEnd = std::numeric_limits<std::uint32_t>::max();
constexpr std::int32_t kMergedAway = -1;

std::uint64_t pairOf(std::int32_t left, std::int32_t right)
{
    return static_cast<std::uint64_t>(static_cast<std::uint32_t>(left)) << 32
        | static_cast<std::uint32_t>(right);
}

// std::*_heap keep the greatest in front; the next merge is the least by (rank, position).
constexpr auto kLater = [](const auto &a, const auto &b) {
    return a.rank != b.rank ? a.rank > b.rank : a.position > b.position;
};

} // namespace

MergeTable::MergeTable(std::size_t expectedMerges)
{
    grow(std::bit_ceil(std::max<std::size_t>(16, 2 * expectedMerges)));
}

void MergeTable::set(std::int32_t left, std::int32_t right, Merge merge)
{
    if (2 * (m_used + 1) > m_slots.size())
        grow(2 * m_slots.size());
    const std::uint64_t pair = pairOf(left, right);
    Slot &slot = m_slots[slotOf(pair)];
    if (slot.pair == kEmpty)
        ++m_used;
    slot = { pair, merge };
}

const MergeTable::Merge *MergeTable::find(std::int32_t left, std::int32_t right) const
{
    const Slot &slot = m_slots[slotOf(pairOf(left, right))];
    return slot.pair == kEmpty ? nullptr : &slot.merge;
}

void MergeTable::grow(std::size_t slotCount)
{
    const std::vector<Slot> old
        = std::exchange(m_slots, std::vector<Slot>(slotCount, Slot { kEmpty, {} }));
    m_shift = 64U - static_cast<unsigned>(std::countr_zero(slotCount));
    for (const Slot &slot : old) {
        if (slot.pair != kEmpty)
            m_slots[slotOf(slot.pair)] = slot;
    }
}

// Where `pair` is, or the free slot where it would go. Multiplicative hashing (Knuth, TAOCP 3, 6.4)
// with the golden ratio.
std::size_t MergeTable::slotOf(std::uint64_t pair) const
{
    const std::size_t mask = m_slots.size() - 1;
    std::size_t index = (pair ^ pair >> 32) * 0x9E3779B97F4A7C15ULL >> m_shift;
    while (m_slots[index].pair != kEmpty && m_slots[index].pair != pair)
        index = (index + 1) & mask;
    return index;
}

void MergeTable::offer(Scratch &scratch, std::uint32_t position) const
{
    const Scratch::Symbol &left = scratch.m_symbols[position];
    if (left.next == kEnd)
        return;
    const std::int32_t right = scratch.m_symbols[left.next].id;
    if (const Merge *merge = find(left.id, right))
        scratch.m_heap.push_back({ merge->rank, position, left.id, right });
}

void MergeTable::merge(std::span<const std::int32_t> ids, Scratch &scratch,
                       std::vector<std::int32_t> &out) const
{
    auto &symbols = scratch.m_symbols;
    auto &heap = scratch.m_heap;
    const auto count = static_cast<std::uint32_t>(ids.size());
    symbols.clear();
    heap.clear();
    for (std::uint32_t i = 0; i < count; ++i)
        symbols.push_back({ ids[i], i == 0 ? kEnd : i - 1, i + 1 == count ? kEnd : i + 1 });
    for (std::uint32_t i = 0; i < count; ++i)
        offer(scratch, i);
    std::ranges::make_heap(heap, kLater);
    const auto offerAgain = [&](std::uint32_t position) {
        const std::size_t before = heap.size();
        offer(scratch, position);
        if (heap.size() > before)
            std::ranges::push_heap(heap, kLater);
    };

    while (!heap.empty()) {
        const Scratch::Candidate candidate = heap.front();
        std::ranges::pop_heap(heap, kLater);
        heap.pop_back();
        Scratch::Symbol &left = symbols[candidate.position];
        if (left.id != candidate.left || left.next == kEnd
            || symbols[left.next].id != candidate.right)
            continue; // one side has been merged meanwhile
        Scratch::Symbol &right = symbols[left.next];
        left.id = find(candidate.left, candidate.right)->result;
        left.next = right.next;
        right.id = kMergedAway;
        if (left.next != kEnd)
            symbols[left.next].previous = candidate.position;
        offerAgain(candidate.position);
        if (left.previous != kEnd)
            offerAgain(left.previous);
    }
    for (std::uint32_t i = 0; i != kEnd && i < count; i = symbols[i].next)
        out.push_back(symbols[i].id);
}

} // namespace firesteel::engine
