// SPDX-License-Identifier: MIT
//
// A Grammar as a deterministic automaton, made as it is walked. A state is the set of places in
// the grammar where a text may be, interned; a step taken once is a table look-up from then on.
// Every live state can reach a complete text. Used by the token masks; one object per request, not
// thread-safe.
#pragma once

#include "engine/grammar/grammar.h"

#include <cstddef>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

namespace firesteel::engine {

class GrammarStates
{
public:
    using State = std::int32_t;
    static constexpr State kDead = -1; // next() of it is dead, too

    // A text that can be read in more ways at once goes on with the first so many.
    static constexpr std::size_t kMaxReadings = 512;
    // What trim() lets pass: some 20 MB at most.
    static constexpr std::size_t kKeptStates = 8192;

    explicit GrammarStates(std::shared_ptr<const Grammar> grammar);

    State start() const { return 0; }

    // kDead: no text goes on so.
    State next(State state, Symbol symbol)
    {
        if (state < 0)
            return kDead;
        const State known = m_next[place(state, m_grammar->symbolClass(symbol))];
        return known != kUnknown ? known : step(state, m_grammar->symbolClass(symbol));
    }

    // Symbols of one class lead to the same state from every state; classes are 0 to classCount().
    int classCount() const { return m_grammar->classCount(); }
    std::uint16_t symbolClass(Symbol symbol) const { return m_grammar->symbolClass(symbol); }
    State nextOfClass(State state, std::uint16_t symbolClass)
    {
        if (state < 0)
            return kDead;
        const State known = m_next[place(state, symbolClass)];
        return known != kUnknown ? known : step(state, symbolClass);
    }

    bool mayEnd(State state) const // the text is complete
    {
        return state >= 0 && m_states[static_cast<std::size_t>(state)].mayEnd;
    }
    bool hasNext(State state); // something may follow; takes every step from `state`

    std::size_t size() const { return m_states.size(); } // states made so far

    // Forgets all states but the start and `live` when there are more than kKeptStates, and writes
    // the new numbers into `live` (kDead stays). True: they have changed, so that everything else
    // kept about states (masks) is out of date. Call it between masks.
    bool trim(std::span<State *const> live);

private:
    struct Place
    {
        Grammar::Node node = 0;
        std::int32_t stack = 0;

        auto operator<=>(const Place &) const = default;
    };
    struct Frame
    {
        Grammar::Node node = 0; // where the caller goes on
        std::int32_t parent = 0; // another frame; the outermost is 0 and its own parent
        std::uint8_t nesting = 0; // nesting rules open, this one included
        bool isNesting = false;
    };
    struct Record
    {
        std::vector<Place> places; // sorted; those where a symbol is read
        bool mayEnd = false;

        bool operator==(const Record &) const = default;
    };

    static constexpr State kUnknown = -2;

    std::size_t place(State state, std::uint16_t symbolClass) const
    {
        return static_cast<std::size_t>(state) * m_width + symbolClass;
    }
    State step(State state, std::uint16_t symbolClass);
    State intern(Record record);
    Record close(std::vector<Place> pending);
    std::int32_t push(Grammar::Node node, std::int32_t parent, bool isNesting);
    void clear();

    std::shared_ptr<const Grammar> m_grammar;
    std::size_t m_width; // classes
    std::vector<Frame> m_frames;
    std::unordered_map<std::uint64_t, std::int32_t> m_frameIds; // by node, parent and kind
    std::vector<Record> m_states;
    std::unordered_map<std::uint64_t, std::vector<State>> m_stateIds; // by hash
    std::vector<State> m_next; // [states, classes]
};

} // namespace firesteel::engine
