// SPDX-License-Identifier: MIT
#include "engine/grammar/grammar_states.h"

#include <algorithm>
#include <ranges>
#include <unordered_set>
#include <utility>

namespace firesteel::engine {

namespace {

// How many places a step may pass through beyond those that read a symbol.
constexpr std::size_t kMaxVisited = 64 * GrammarStates::kMaxReadings;

std::size_t at(std::int32_t index) { return static_cast<std::size_t>(index); }

std::uint64_t pairKey(std::int32_t first, std::int32_t second)
{
    return std::uint64_t { static_cast<std::uint32_t>(first) } << 32U
        | static_cast<std::uint32_t>(second);
}

// splitmix64's finaliser
std::uint64_t mixed(std::uint64_t value)
{
    value = (value ^ (value >> 30U)) * 0xBF58476D1CE4E5B9U;
    value = (value ^ (value >> 27U)) * 0x94D049BB133111EBU;
    return value ^ (value >> 31U);
}

} // namespace

GrammarStates::GrammarStates(std::shared_ptr<const Grammar> grammar)
    : m_grammar(std::move(grammar))
    , m_width(at(m_grammar->classCount()))
{
    clear();
}

bool GrammarStates::hasNext(State state)
{
    for (int symbols = 0; symbols < m_grammar->classCount(); ++symbols) {
        if (nextOfClass(state, static_cast<std::uint16_t>(symbols)) != kDead)
            return true;
    }
    return false;
}

GrammarStates::State GrammarStates::step(State state, std::uint16_t symbolClass)
{
    const Symbol symbol = m_grammar->anySymbolOf(symbolClass);
    std::vector<Place> reached;
    for (const Place &from : m_states[at(state)].places) {
        for (const Grammar::SymbolEdge &edge : m_grammar->symbolEdges(from.node)) {
            if (edge.first <= symbol && symbol <= edge.last)
                reached.push_back({ edge.target, from.stack });
        }
    }
    State next = kDead;
    if (Record record = close(std::move(reached)); record.mayEnd || !record.places.empty())
        next = intern(std::move(record));
    m_next[place(state, symbolClass)] = next;
    return next;
}

// Follows what reads nothing, depth first, earlier alternatives first. Only places are entered from
// where the nesting that is left suffices to end, so that each one kept can go on to an end.
GrammarStates::Record GrammarStates::close(std::vector<Place> pending)
{
    std::ranges::reverse(pending);
    Record record;
    std::unordered_set<std::uint64_t> visited;
    while (!pending.empty() && record.places.size() < kMaxReadings) {
        const Place current = pending.back();
        pending.pop_back();
        const Frame frame = m_frames[at(current.stack)];
        if (frame.nesting + m_grammar->need(current.node) > kMaxGrammarNesting
            || !visited.insert(pairKey(current.node, current.stack)).second)
            continue;
        if (visited.size() > kMaxVisited && (record.mayEnd || !record.places.empty()))
            break;
        if (!m_grammar->symbolEdges(current.node).empty())
            record.places.push_back(current);
        if (m_grammar->endsRule(current.node)) {
            if (current.stack == 0)
                record.mayEnd = true;
            else
                pending.push_back({ frame.node, frame.parent });
        }
        for (const Grammar::Call &call : std::views::reverse(m_grammar->calls(current.node))) {
            const int inside = frame.nesting + (call.isNesting ? 1 : 0);
            if (inside + m_grammar->need(call.start) <= kMaxGrammarNesting
                && frame.nesting + m_grammar->need(call.target) <= kMaxGrammarNesting)
                pending.push_back({ call.start, push(call.target, current.stack, call.isNesting) });
        }
        for (const Grammar::Node node : std::views::reverse(m_grammar->silentEdges(current.node)))
            pending.push_back({ node, current.stack });
    }
    std::ranges::sort(record.places);
    return record;
}

std::int32_t GrammarStates::push(Grammar::Node node, std::int32_t parent, bool isNesting)
{
    // Nodes and frames have 31 bits, which leaves one.
    const std::uint64_t key = pairKey(node, parent) << 1U | (isNesting ? 1U : 0U);
    const auto [known, isNew]
        = m_frameIds.try_emplace(key, static_cast<std::int32_t>(m_frames.size()));
    if (isNew) {
        const int nesting = m_frames[at(parent)].nesting + (isNesting ? 1 : 0);
        m_frames.push_back({ node, parent, static_cast<std::uint8_t>(nesting), isNesting });
    }
    return known->second;
}

GrammarStates::State GrammarStates::intern(Record record)
{
    std::uint64_t hash = record.mayEnd ? 1 : 0;
    for (const Place &place : record.places)
        hash = mixed(hash ^ pairKey(place.node, place.stack));
    std::vector<State> &sameHash = m_stateIds[hash];
    for (const State state : sameHash) {
        if (m_states[at(state)] == record)
            return state;
    }
    sameHash.push_back(static_cast<State>(m_states.size()));
    m_states.push_back(std::move(record));
    m_next.resize(m_next.size() + m_width, kUnknown);
    return sameHash.back();
}

void GrammarStates::clear()
{
    m_frames.assign(1, Frame {});
    m_frameIds.clear();
    m_states.clear();
    m_stateIds.clear();
    m_next.clear();
    intern(close({ { m_grammar->start(), 0 } }));
}

bool GrammarStates::trim(std::span<State *const> live)
{
    if (m_states.size() <= kKeptStates)
        return false;
    const std::vector<Frame> frames = std::move(m_frames);
    const std::vector<Record> states = std::move(m_states);
    clear();
    std::vector<std::int32_t> newFrames(frames.size(), -1);
    newFrames[0] = 0;
    const auto renumbered = [&](std::int32_t frame) {
        std::vector<std::int32_t> missing;
        for (; newFrames[at(frame)] < 0; frame = frames[at(frame)].parent)
            missing.push_back(frame);
        for (; !missing.empty(); missing.pop_back()) {
            const Frame &old = frames[at(missing.back())];
            newFrames[at(missing.back())]
                = push(old.node, newFrames[at(old.parent)], old.isNesting);
        }
    };
    for (State *state : live) {
        if (*state < 0)
            continue;
        Record record = states[at(*state)];
        for (Place &place : record.places) {
            renumbered(place.stack);
            place.stack = newFrames[at(place.stack)];
        }
        std::ranges::sort(record.places);
        *state = intern(std::move(record));
    }
    return true;
}

} // namespace firesteel::engine
