// SPDX-License-Identifier: MIT
#include "engine/text/vocabulary.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <utility>

namespace firesteel::engine {

namespace {

std::size_t hashOf(std::string_view bytes) { return std::hash<std::string_view> {}(bytes); }

} // namespace

Vocabulary::Vocabulary(std::size_t expectedTokens)
{
    grow(std::bit_ceil(std::max<std::size_t>(16, 2 * expectedTokens)));
}

Vocabulary::Added Vocabulary::add(std::string_view bytes, std::int32_t id)
{
    if (2 * (m_used + 1) > m_slots.size())
        grow(2 * m_slots.size());
    const std::size_t hash = hashOf(bytes);
    Slot &slot = m_slots[slotOf(bytes, hash)];
    if (slot.id != kNone)
        return Added::DuplicateBytes;
    const Added added = addHidden(bytes, id);
    if (added == Added::Ok) {
        slot = { static_cast<std::uint32_t>(hash), id };
        ++m_used;
    }
    return added;
}

Vocabulary::Added Vocabulary::addHidden(std::string_view bytes, std::int32_t id)
{
    const auto index = static_cast<std::size_t>(id);
    if (index >= m_spans.size())
        m_spans.resize(index + 1);
    if (m_spans[index].length != 0)
        return Added::DuplicateId;
    m_spans[index] = { m_arena.size(), static_cast<std::uint32_t>(bytes.size()) };
    m_arena += bytes;
    return Added::Ok;
}

std::int32_t Vocabulary::find(std::string_view bytes) const
{
    return m_slots[slotOf(bytes, hashOf(bytes))].id;
}

std::string_view Vocabulary::bytes(std::int32_t id) const
{
    if (id < 0 || id >= size())
        return {};
    const Span span = m_spans[static_cast<std::size_t>(id)];
    return std::string_view(m_arena).substr(span.offset, span.length);
}

void Vocabulary::grow(std::size_t slotCount)
{
    const std::vector<Slot> old = std::exchange(m_slots, std::vector<Slot>(slotCount));
    for (const Slot &slot : old) {
        if (slot.id != kNone) {
            const std::string_view token = bytes(slot.id);
            m_slots[slotOf(token, hashOf(token))] = slot;
        }
    }
}

// Where `bytes` is, or the free slot where it would go.
std::size_t Vocabulary::slotOf(std::string_view token, std::size_t hash) const
{
    const std::size_t mask = m_slots.size() - 1;
    std::size_t index = hash & mask;
    while (m_slots[index].id != kNone
           && (m_slots[index].hash != static_cast<std::uint32_t>(hash)
               || bytes(m_slots[index].id) != token))
        index = (index + 1) & mask;
    return index;
}

} // namespace firesteel::engine
