// SPDX-License-Identifier: MIT
//
// Reads the regular expressions of JSON Schema (ECMA-262 with the u flag) into a tree: classes,
// groups, alternatives, quantifiers and anchors. Assertions and references backwards are refused.
#pragma once

#include "engine/api/error.h"
#include "engine/grammar/code_points.h"

#include <cstddef>
#include <string_view>
#include <vector>

namespace firesteel::engine {

struct Regex
{
    enum class Kind { Characters, Sequence, Alternatives, Repeat, Begin, End };

    static constexpr std::size_t kMaxLength = 4096; // of a pattern, in bytes
    static constexpr std::size_t kMaxCount = 2000; // in {n,m}
    static constexpr std::size_t kMaxNesting = 100; // of groups
    static constexpr std::size_t kUnbounded = static_cast<std::size_t>(-1);

    Kind kind = Kind::Sequence; // without parts: the empty text
    CodePoints characters {};
    std::size_t min = 0; // Repeat, of parts[0]
    std::size_t max = 0;
    std::vector<Regex> parts {};
};

// `pattern` is well-formed UTF-8. Errors: BadRequest, what is not supported and where.
Result<Regex> parseRegex(std::string_view pattern);

} // namespace firesteel::engine
