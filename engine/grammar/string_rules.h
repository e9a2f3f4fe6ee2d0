// SPDX-License-Identifier: MIT
//
// Writes sets of texts into a grammar, as well-formed UTF-8 (no overlong form, no surrogates):
// inside the quotes of a JSON string, or raw as in an argument of a tool call.
#pragma once

#include "engine/grammar/grammar_builder.h"
#include "engine/grammar/text_automaton.h"

#include <map>
#include <optional>
#include <utility>

namespace firesteel::engine {

class StringRules
{
public:
    using Expression = GrammarBuilder::Expression;
    enum class Style { Json, Raw, JsonKey }; // JsonKey: no character that would need an escape

    explicit StringRules(GrammarBuilder &builder)
        : m_builder(builder)
    {
    }

    // Any text of `min` to `max` code points (GrammarBuilder::kUnbounded: without end), in JSON
    // with every escape there is. Without quotes, as is texts().
    Expression anyText(Style style, std::size_t min, std::size_t max);
    // In JSON only what must be escaped is, in the shortest form.
    Expression texts(Style style, const TextAutomaton &automaton);

    Expression codePoints(const CodePoints &set); // one of them, as UTF-8

private:
    Expression character(Style style, const CodePoints &set);
    Expression anyJsonCharacter();

    GrammarBuilder &m_builder;
    std::map<std::pair<Style, CodePoints>, Expression> m_characters;
    std::map<std::tuple<Style, std::size_t, std::size_t>, Expression> m_anyTexts;
    std::optional<Expression> m_anyJsonCharacter;
};

} // namespace firesteel::engine
