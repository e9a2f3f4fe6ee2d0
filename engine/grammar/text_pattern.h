// SPDX-License-Identifier: MIT
//
// The texts in which a regular expression finds a match, as an automaton.
#pragma once

#include "engine/api/error.h"
#include "engine/grammar/text_automaton.h"

#include <string_view>

namespace firesteel::engine {

// Unanchored unless the pattern anchors itself. Errors: BadRequest, what is not supported and where
// (regex_parser.h), or that its automaton is too large.
Result<TextAutomaton> textPattern(std::string_view pattern);

} // namespace firesteel::engine
