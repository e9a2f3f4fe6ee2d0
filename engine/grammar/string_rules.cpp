// SPDX-License-Identifier: MIT
#include "engine/grammar/string_rules.h"

#include <algorithm>
#include <array>
#include <format>
#include <string_view>

namespace firesteel::engine {

namespace {

using Expression = GrammarBuilder::Expression;

struct Encoded
{
    std::array<Symbol, 4> bytes {};
    std::size_t length = 0;
};

Encoded encoded(char32_t c)
{
    const auto continuation
        = [c](unsigned shift) { return static_cast<Symbol>(0x80U | (c >> shift & 0x3FU)); };
    if (c < 0x80)
        return { { static_cast<Symbol>(c) }, 1 };
    if (c < 0x800)
        return { { static_cast<Symbol>(0xC0U | c >> 6U), continuation(0) }, 2 };
    if (c < 0x10000)
        return { { static_cast<Symbol>(0xE0U | c >> 12U), continuation(6), continuation(0) }, 3 };
    return { { static_cast<Symbol>(0xF0U | c >> 18U), continuation(12), continuation(6),
               continuation(0) },
             4 };
}

// Adds first to last as sequences of byte ranges: cut where the length changes and where the bytes
// behind the first differing one are not all values.
void addUtf8(GrammarBuilder &builder, char32_t first, char32_t last, std::vector<Expression> &out)
{
    for (const char32_t end : { char32_t { 0x7F }, char32_t { 0x7FF }, char32_t { 0xFFFF } }) {
        if (first <= end && end < last) {
            addUtf8(builder, first, end, out);
            addUtf8(builder, end + 1, last, out);
            return;
        }
    }
    for (unsigned bits = 6; bits <= 18; bits += 6) {
        const char32_t low = (char32_t { 1 } << bits) - 1; // of the last bits / 6 bytes
        if ((first & ~low) == (last & ~low))
            break; // the bytes before are equal
        if ((first & low) != 0) {
            addUtf8(builder, first, first | low, out);
            addUtf8(builder, (first | low) + 1, last, out);
            return;
        }
        if ((last & low) != low) {
            addUtf8(builder, first, (last & ~low) - 1, out);
            addUtf8(builder, last & ~low, last, out);
            return;
        }
    }
    const Encoded from = encoded(first);
    const Encoded to = encoded(last);
    std::vector<Expression> bytes;
    bytes.reserve(from.length);
    for (std::size_t i = 0; i < from.length; ++i)
        bytes.push_back(builder.range(from.bytes[i], to.bytes[i]));
    out.push_back(builder.sequence(std::move(bytes)));
}

const CodePoints &escapedInJson()
{
    static const CodePoints set { { 0, 0x1F }, { '"', '"' }, { '\\', '\\' } };
    return set;
}

// JSON's shortest spelling of a character of escapedInJson()
std::string jsonEscape(char32_t c)
{
    constexpr std::string_view kCharacters = "\"\\\b\f\n\r\t";
    constexpr std::string_view kLetters = "\"\\bfnrt";
    if (const std::size_t i = kCharacters.find(static_cast<char>(c)); i != std::string_view::npos)
        return { '\\', kLetters[i] };
    return std::format("\\u{:04x}", static_cast<unsigned>(c));
}

} // namespace

Expression StringRules::codePoints(const CodePoints &set)
{
    std::vector<Expression> sequences;
    for (const CodePointRange &range : set)
        addUtf8(m_builder, range.first, range.last, sequences);
    return m_builder.choice(std::move(sequences));
}

Expression StringRules::anyJsonCharacter()
{
    if (m_anyJsonCharacter)
        return *m_anyJsonCharacter;
    GrammarBuilder &b = m_builder;
    const auto oneOf = [&b](std::string_view characters) {
        std::vector<Expression> symbols;
        for (const char c : characters)
            symbols.push_back(b.symbol(static_cast<unsigned char>(c)));
        return b.choice(std::move(symbols));
    };
    const Expression digit = b.range('0', '9');
    const Expression hex = b.rule(b.choice({ digit, b.range('a', 'f'), b.range('A', 'F') }));
    const Expression plain
        = b.sequence({ b.choice({ digit, b.range('a', 'c'), b.range('A', 'C'), oneOf("eEfF") }),
                       hex, hex, hex });
    const Expression belowSurrogates = b.sequence({ oneOf("dD"), b.range('0', '7'), hex, hex });
    const Expression pair
        = b.sequence({ oneOf("dD"), oneOf("89abAB"), hex, hex, b.bytes("\\u"), oneOf("dD"),
                       b.choice({ b.range('c', 'f'), b.range('C', 'F') }), hex, hex });
    const Expression escape = b.sequence(
        { b.symbol('\\'),
          b.choice(
              { oneOf("\"\\/bfnrt"),
                b.sequence({ b.symbol('u'), b.choice({ plain, belowSurrogates, pair }) }) }) });
    m_anyJsonCharacter = b.rule(b.choice({ codePoints(complement(escapedInJson())), escape }));
    return *m_anyJsonCharacter;
}

Expression StringRules::character(Style style, const CodePoints &set)
{
    const auto key = std::pair(style, set);
    if (const auto known = m_characters.find(key); known != m_characters.end())
        return known->second;
    std::vector<Expression> spellings { codePoints(
        style == Style::Raw ? set : intersection(set, complement(escapedInJson()))) };
    if (style == Style::Json) {
        for (const CodePointRange &range : intersection(set, escapedInJson())) {
            for (char32_t c = range.first; c <= range.last; ++c)
                spellings.push_back(m_builder.bytes(jsonEscape(c)));
        }
    }
    Expression made = m_builder.choice(std::move(spellings));
    const bool isAscii = !set.empty() && set.back().last < 0x80 && set.size() <= 4
        && intersection(set, escapedInJson()).empty();
    if (!isAscii && made != m_builder.never())
        made = m_builder.rule(made);
    return m_characters[key] = made;
}

Expression StringRules::anyText(Style style, std::size_t min, std::size_t max)
{
    const auto key = std::tuple(style, min, max);
    if (const auto known = m_anyTexts.find(key); known != m_anyTexts.end())
        return known->second;
    const Expression any
        = style == Style::Json ? anyJsonCharacter() : character(style, allCodePoints());
    return m_anyTexts[key] = m_builder.rule(m_builder.repeat(any, min, max));
}

Expression StringRules::texts(Style style, const TextAutomaton &automaton)
{
    std::vector<GrammarBuilder::AutomatonEdge> edges;
    std::vector<std::int32_t> ends;
    for (std::size_t i = 0; i < automaton.states.size(); ++i) {
        const auto from = static_cast<std::int32_t>(i);
        if (automaton.states[i].mayEnd)
            ends.push_back(from);
        std::map<std::int32_t, std::vector<CodePointRange>> byTarget;
        for (const TextAutomaton::Edge &edge : automaton.states[i].edges)
            byTarget[edge.target].push_back(edge.range);
        for (auto &[target, ranges] : byTarget)
            edges.push_back({ from, character(style, makeCodePoints(std::move(ranges))), target });
    }
    return m_builder.rule(m_builder.automaton(static_cast<std::int32_t>(automaton.states.size()),
                                              std::move(edges), std::move(ends)));
}

} // namespace firesteel::engine
