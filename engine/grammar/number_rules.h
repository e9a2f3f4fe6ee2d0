// SPDX-License-Identifier: MIT
//
// Writes ranges of JSON numbers into a grammar, digit by digit.
//   integers          up to 18 digits, so that they fit 64 bits
//   numbers, no bound 24 digits before and 24 behind the point, 2 of exponent: finite as a double
//   numbers, bounded  integers up to 15 digits; with a fraction up to 9 digits before and 6 behind
//                     the point, no exponent: doubles keep the order of 15 digits, so that what is
//                     in range as written is so as read
#pragma once

#include "engine/grammar/grammar_builder.h"

#include <compare>
#include <optional>
#include <string>
#include <string_view>

namespace firesteel::engine {

// A decimal fraction of any length, exact.
struct Decimal
{
    bool isNegative = false; // zero is not
    std::string whole; // digits without leading zeros; zero: ""
    std::string fraction; // digits without trailing zeros

    bool isZero() const { return whole.empty() && fraction.empty(); }
    bool isInteger() const { return fraction.empty(); }
    std::strong_ordering operator<=>(const Decimal &other) const;
    bool operator==(const Decimal &other) const = default;
};

// Of a JSON number as parsePromptJson() writes it; one that was written with an exponent is the
// double's exact value where that is an integer.
Decimal decimalOf(std::string_view number);

struct NumberBounds
{
    std::optional<Decimal> min;
    std::optional<Decimal> max;
    bool excludesMin = false;
    bool excludesMax = false;

    void raiseMin(const Decimal &bound, bool isExcluded);
    void lowerMax(const Decimal &bound, bool isExcluded);
    bool allows(const Decimal &value) const;
};

// never() when nothing is in range.
GrammarBuilder::Expression integerRule(GrammarBuilder &builder, const NumberBounds &bounds);
GrammarBuilder::Expression numberRule(GrammarBuilder &builder, const NumberBounds &bounds);

} // namespace firesteel::engine
