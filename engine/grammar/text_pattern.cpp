// SPDX-License-Identifier: MIT
#include "engine/grammar/text_pattern.h"

#include "engine/grammar/regex_parser.h"

#include <algorithm>
#include <format>
#include <map>
#include <ranges>
#include <utility>

namespace firesteel::engine {

namespace {

constexpr std::size_t kMaxPlaces = 20'000; // of the nondeterministic automaton
constexpr std::size_t kMaxStates = 4096; // of the deterministic one
constexpr std::size_t kMaxWork = 5'000'000; // places looked at: a fraction of a second

using Place = std::int32_t;

std::size_t at(std::int32_t index) { return static_cast<std::size_t>(index); }

// Thompson's construction, written backwards: add() returns where `regex` begins when `next`
// follows it.
struct Network
{
    enum class Kind { Match, Characters, Fork, Begin, End };
    struct Node
    {
        Kind kind = Kind::Match;
        Place next = 0;
        Place other = 0; // Fork
        std::int32_t characters = 0; // index of sets
    };

    std::vector<Node> nodes { Node {} }; // the first one matches
    std::vector<CodePoints> sets;
    std::map<CodePoints, std::int32_t> setNumbers;
    bool isTooLarge = false;

    Place add(Node node)
    {
        isTooLarge = isTooLarge || nodes.size() >= kMaxPlaces;
        if (!isTooLarge)
            nodes.push_back(node);
        return static_cast<Place>(nodes.size() - 1);
    }

    Place add(const Regex &regex, Place next)
    {
        switch (regex.kind) {
        case Regex::Kind::Characters: {
            const auto [known, isNew]
                = setNumbers.try_emplace(regex.characters, static_cast<std::int32_t>(sets.size()));
            if (isNew)
                sets.push_back(regex.characters);
            return add({ Kind::Characters, next, 0, known->second });
        }
        case Regex::Kind::Sequence:
            for (const Regex &part : std::views::reverse(regex.parts))
                next = add(part, next);
            return next;
        case Regex::Kind::Alternatives: {
            Place begin = add(regex.parts.back(), next);
            for (const Regex &part : regex.parts | std::views::reverse | std::views::drop(1))
                begin = add({ Kind::Fork, add(part, next), begin, 0 });
            return begin;
        }
        case Regex::Kind::Repeat:
            return addRepeat(regex, next);
        case Regex::Kind::Begin:
            return add({ Kind::Begin, next, 0, 0 });
        case Regex::Kind::End:
            return add({ Kind::End, next, 0, 0 });
        }
        return next;
    }

    Place addRepeat(const Regex &regex, Place next)
    {
        const Regex &part = regex.parts.front();
        Place begin = next;
        if (regex.max == Regex::kUnbounded) {
            begin = add({ Kind::Fork, next, next, 0 });
            const Place inner = add(part, begin);
            nodes[at(begin)].other = inner;
        } else {
            for (std::size_t i = regex.min; i < regex.max && !isTooLarge; ++i)
                begin = add({ Kind::Fork, add(part, begin), next, 0 });
        }
        for (std::size_t i = 0; i < regex.min && !isTooLarge; ++i)
            begin = add(part, begin);
        return begin;
    }
};

class Determiniser
{
public:
    explicit Determiniser(Network network)
        : m_network(std::move(network))
        , m_marks(m_network.nodes.size())
    {
        partition();
    }

    Result<TextAutomaton> run(Place begin)
    {
        number(std::vector<Place>(1, begin), true);
        for (std::size_t i = 0; i < m_sets.size(); ++i) {
            const std::vector<Place> set = m_sets[i];
            if (set.empty() || set.front() == kMatch) // lost, or found: whatever follows
                continue;
            addEdges(i, set);
            if (m_sets.size() > kMaxStates || m_work > kMaxWork)
                return fail(ErrorCode::BadRequest, "its automaton is too large");
        }
        return std::move(m_automaton);
    }

private:
    static constexpr Place kMatch = 0;

    // Cuts the code points into ranges that no set of the pattern tells apart, and gathers those
    // that the same sets hold.
    void partition()
    {
        std::vector<char32_t> begins { 0, 0xE000 };
        for (const CodePoints &set : m_network.sets) {
            for (const CodePointRange &range : set) {
                begins.push_back(range.first);
                begins.push_back(range.last + 1);
            }
        }
        std::ranges::sort(begins);
        begins.erase(std::ranges::unique(begins).begin(), begins.end());
        std::map<std::vector<bool>, std::size_t> groups;
        for (std::size_t i = 0; i < begins.size(); ++i) {
            const char32_t last = i + 1 < begins.size() ? begins[i + 1] - 1 : kLastCodePoint;
            const CodePoints range
                = intersection({ { begins[i], std::max(begins[i], last) } }, allCodePoints());
            if (range.empty())
                continue;
            std::vector<bool> holders;
            holders.reserve(m_network.sets.size());
            for (const CodePoints &set : m_network.sets)
                holders.push_back(contains(set, range.front().first));
            const auto [group, isNew] = groups.try_emplace(holders, m_groups.size());
            if (isNew)
                m_groups.push_back({ {}, std::move(holders) });
            m_groups[group->second].ranges.push_back(range.front());
        }
    }

    void addEdges(std::size_t state, const std::vector<Place> &set)
    {
        for (const Group &group : m_groups) {
            std::vector<Place> reached;
            m_work += set.size();
            for (const Place place : set) {
                const Network::Node &node = m_network.nodes[at(place)];
                if (node.kind == Network::Kind::Characters && group.holders[at(node.characters)])
                    reached.push_back(node.next);
            }
            if (reached.empty())
                continue;
            const std::int32_t target = number(std::move(reached), false);
            for (const CodePointRange &range : group.ranges)
                m_automaton.states[state].edges.push_back({ range, target });
        }
        std::ranges::sort(m_automaton.states[state].edges, {}, &TextAutomaton::Edge::range);
    }

    std::int32_t number(std::vector<Place> places, bool isAtBegin)
    {
        std::vector<Place> set = close(std::move(places), isAtBegin, false);
        if (!set.empty() && set.front() == kMatch)
            set.erase(set.begin() + 1, set.end());
        const auto [known, isNew]
            = m_numbers.try_emplace({ isAtBegin, set }, static_cast<std::int32_t>(m_sets.size()));
        if (isNew) {
            TextAutomaton::State &state = m_automaton.states.emplace_back();
            const std::vector<Place> atEnd = close(set, isAtBegin, true);
            state.mayEnd = !atEnd.empty() && atEnd.front() == kMatch;
            if (!set.empty() && set.front() == kMatch) {
                for (const CodePointRange &range : allCodePoints())
                    state.edges.push_back({ range, known->second });
            }
            m_sets.push_back(std::move(set));
        }
        return known->second;
    }

    // The places where a character is read, the match and ends not passed yet, sorted.
    std::vector<Place> close(std::vector<Place> pending, bool isAtBegin, bool isAtEnd)
    {
        ++m_mark;
        std::vector<Place> set;
        while (!pending.empty()) {
            const Place place = pending.back();
            pending.pop_back();
            if (std::exchange(m_marks[at(place)], m_mark) == m_mark)
                continue;
            ++m_work;
            const Network::Node &node = m_network.nodes[at(place)];
            switch (node.kind) {
            case Network::Kind::Match:
            case Network::Kind::Characters:
                set.push_back(place);
                break;
            case Network::Kind::Fork:
                pending.push_back(node.next);
                pending.push_back(node.other);
                break;
            case Network::Kind::Begin:
                if (isAtBegin)
                    pending.push_back(node.next);
                break;
            case Network::Kind::End:
                if (isAtEnd)
                    pending.push_back(node.next);
                else
                    set.push_back(place);
                break;
            }
        }
        std::ranges::sort(set);
        return set;
    }

    struct Group
    {
        std::vector<CodePointRange> ranges;
        std::vector<bool> holders; // by set of the network
    };

    Network m_network;
    std::vector<Group> m_groups;
    std::vector<std::size_t> m_marks;
    std::size_t m_mark = 0;
    std::size_t m_work = 0;
    std::map<std::pair<bool, std::vector<Place>>, std::int32_t> m_numbers;
    std::vector<std::vector<Place>> m_sets;
    TextAutomaton m_automaton;
};

} // namespace

Result<TextAutomaton> textPattern(std::string_view pattern)
{
    const Result<Regex> regex = parseRegex(pattern);
    if (!regex)
        return std::unexpected(regex.error());
    Network network;
    const Place match = network.add(*regex, 0);
    // A match may begin at any character.
    const Place begin = network.add({ Network::Kind::Fork, match, 0, 0 });
    const Regex any { .kind = Regex::Kind::Characters, .characters = allCodePoints() };
    network.nodes[at(begin)].other = network.add(any, begin);
    if (network.isTooLarge)
        return fail(ErrorCode::BadRequest,
                    std::format("its automaton is too large, more than {} places", kMaxPlaces));
    return Determiniser(std::move(network)).run(begin);
}

} // namespace firesteel::engine
