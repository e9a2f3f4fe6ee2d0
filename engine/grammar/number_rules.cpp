// SPDX-License-Identifier: MIT
#include "engine/grammar/number_rules.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <format>
#include <vector>

namespace firesteel::engine {

namespace {

using Expression = GrammarBuilder::Expression;

constexpr std::size_t kIntegerDigits = 18;
constexpr std::size_t kFreeDigits = 24; // of an unbounded number, on either side of the point
constexpr std::size_t kExponentDigits = 2;
constexpr std::size_t kExactDigits = 15; // DBL_DIG
constexpr std::size_t kFractionDigits = 6;

std::strong_ordering compareWhole(std::string_view a, std::string_view b)
{
    return a.size() != b.size() ? a.size() <=> b.size() : a.compare(b) <=> 0;
}

std::string plusOne(std::string digits)
{
    std::size_t i = digits.size();
    while (i > 0 && digits[i - 1] == '9')
        digits[--i] = '0';
    if (i == 0)
        return "1" + digits;
    ++digits[i - 1];
    return digits;
}

std::string minusOne(std::string digits) // of a positive number
{
    std::size_t i = digits.size();
    while (digits[i - 1] == '0')
        digits[--i] = '9';
    --digits[i - 1];
    const std::size_t first = digits.find_first_not_of('0');
    return first == std::string::npos ? std::string() : digits.substr(first);
}

// A range of non-negative integers, "" being zero. Empty when max < min.
struct WholeRange
{
    std::string min;
    std::string max;

    bool isEmpty() const { return compareWhole(max, min) < 0; }
};

// value * 10^places as an integer: rounded up, or down; `isExcluded` moves an exact one inwards.
std::string scaled(const Decimal &value, std::size_t places, bool roundsUp, bool isExcluded)
{
    std::string digits
        = value.whole + value.fraction.substr(0, std::min(places, value.fraction.size()));
    digits.append(places - std::min(places, value.fraction.size()), '0');
    digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size()));
    const bool isExact = value.fraction.size() <= places;
    if (roundsUp)
        return isExact && !isExcluded ? digits : plusOne(digits);
    return isExact && isExcluded ? minusOne(digits) : digits;
}

// The magnitudes, times 10^places, of the bounded numbers with the sign given; magnitudes have at
// most `digits` digits. Zero counts as positive.
WholeRange magnitudes(const NumberBounds &bounds, bool isNegative, std::size_t places,
                      std::size_t digits)
{
    const std::optional<Decimal> &near = isNegative ? bounds.max : bounds.min;
    const std::optional<Decimal> &far = isNegative ? bounds.min : bounds.max;
    const bool excludesNear = isNegative ? bounds.excludesMax : bounds.excludesMin;
    const bool excludesFar = isNegative ? bounds.excludesMin : bounds.excludesMax;
    WholeRange nothing { "1", "" };
    WholeRange range { isNegative ? "1" : "", std::string(digits, '9') };
    if (near) {
        const bool isOnThisSide = near->isZero() || near->isNegative == isNegative;
        if (isOnThisSide) {
            std::string min = scaled(*near, places, true, excludesNear);
            if (compareWhole(min, range.min) > 0)
                range.min = std::move(min);
        }
    }
    if (far) {
        if (far->isZero() ? isNegative || excludesFar : far->isNegative != isNegative)
            return nothing;
        std::string max = scaled(*far, places, false, excludesFar);
        if (compareWhole(max, range.max) < 0)
            range.max = std::move(max);
    }
    return range.isEmpty() ? nothing : range;
}

Expression digit(GrammarBuilder &b, char first, char last)
{
    return first > last ? b.never()
                        : b.range(static_cast<Symbol>(first), static_cast<Symbol>(last));
}

// The rest, from `at` on, of numbers of one length from `min` to `max`; a bound counts only while
// all digits before were its own.
Expression sameLength(GrammarBuilder &b, const std::string &min, const std::string &max,
                      std::size_t at, bool holdsMin, bool holdsMax)
{
    if (at == min.size())
        return b.nothing();
    holdsMin = holdsMin && min.find_first_not_of('0', at) != std::string::npos;
    holdsMax = holdsMax && max.find_first_not_of('9', at) != std::string::npos;
    if (!holdsMin && !holdsMax)
        return b.repeat(b.range('0', '9'), min.size() - at, min.size() - at);
    const char low = holdsMin ? min[at] : '0';
    const char high = holdsMax ? max[at] : '9';
    if (holdsMin && holdsMax && low == high)
        return b.sequence({ digit(b, low, low), sameLength(b, min, max, at + 1, true, true) });
    std::vector<Expression> ways;
    if (holdsMin)
        ways.push_back(
            b.sequence({ digit(b, low, low), sameLength(b, min, max, at + 1, true, false) }));
    const char firstFree = static_cast<char>(holdsMin ? low + 1 : low);
    const char lastFree = static_cast<char>(holdsMax ? high - 1 : high);
    if (firstFree <= lastFree)
        ways.push_back(b.sequence(
            { digit(b, firstFree, lastFree), sameLength(b, min, max, at + 1, false, false) }));
    if (holdsMax)
        ways.push_back(
            b.sequence({ digit(b, high, high), sameLength(b, min, max, at + 1, false, true) }));
    return b.choice(std::move(ways));
}

Expression wholeRule(GrammarBuilder &b, const WholeRange &range)
{
    if (range.isEmpty())
        return b.never();
    std::vector<Expression> ways;
    if (range.min.empty())
        ways.push_back(b.symbol('0'));
    std::size_t firstWhole = 0; // lengths of which every number is in range
    std::size_t lastWhole = 0;
    for (std::size_t length = std::max<std::size_t>(range.min.size(), 1);
         length <= range.max.size(); ++length) {
        const std::string least = "1" + std::string(length - 1, '0');
        const std::string most(length, '9');
        const std::string &min = length == range.min.size() ? range.min : least;
        const std::string &max = length == range.max.size() ? range.max : most;
        if (min == least && max == most) {
            firstWhole = firstWhole == 0 ? length : firstWhole;
            lastWhole = length;
        } else {
            ways.push_back(sameLength(b, min, max, 0, true, true));
        }
    }
    if (firstWhole > 0)
        ways.push_back(b.sequence(
            { b.range('1', '9'), b.repeat(b.range('0', '9'), firstWhole - 1, lastWhole - 1) }));
    return b.choice(std::move(ways));
}

Expression anyFraction(GrammarBuilder &b)
{
    return b.sequence({ b.symbol('.'), b.repeat(b.range('0', '9'), 1, kFractionDigits) });
}

// Digits behind the point from `at` on, such that, filled up with zeros, they are from `min` to
// `max` (kFractionDigits digits each).
Expression fractionDigits(GrammarBuilder &b, const std::string &min, const std::string &max,
                          std::size_t at, bool holdsMin, bool holdsMax)
{
    const bool mayEnd
        = at > 0 && (!holdsMin || min.find_first_not_of('0', at) == std::string::npos);
    if (at == kFractionDigits)
        return b.nothing();
    holdsMin = holdsMin && min.find_first_not_of('0', at) != std::string::npos;
    holdsMax = holdsMax && max.find_first_not_of('9', at) != std::string::npos;
    if (!holdsMin && !holdsMax)
        return b.repeat(b.range('0', '9'), at == 0 ? 1 : 0, kFractionDigits - at);
    const char low = holdsMin ? min[at] : '0';
    const char high = holdsMax ? max[at] : '9';
    std::vector<Expression> ways;
    if (mayEnd)
        ways.push_back(b.nothing());
    const auto add = [&](char first, char last, bool keepsMin, bool keepsMax) {
        if (first <= last)
            ways.push_back(b.sequence({ digit(b, first, last),
                                        fractionDigits(b, min, max, at + 1, keepsMin, keepsMax) }));
    };
    if (holdsMin && holdsMax && low == high) {
        add(low, low, true, true);
    } else {
        if (holdsMin)
            add(low, low, true, false);
        add(static_cast<char>(holdsMin ? low + 1 : low),
            static_cast<char>(holdsMax ? high - 1 : high), false, false);
        if (holdsMax)
            add(high, high, false, true);
    }
    return b.choice(std::move(ways));
}

// Magnitudes given in units of 10^-kFractionDigits
Expression fractionRule(GrammarBuilder &b, const WholeRange &range)
{
    if (range.isEmpty())
        return b.never();
    const auto split = [](std::string digits) {
        if (digits.size() < kFractionDigits)
            digits.insert(0, kFractionDigits - digits.size(), '0');
        const std::size_t point = digits.size() - kFractionDigits;
        return std::pair(digits.substr(0, point), digits.substr(point));
    };
    const auto [minWhole, minFraction] = split(range.min);
    const auto [maxWhole, maxFraction] = split(range.max);
    const std::string zeros(kFractionDigits, '0');
    const std::string nines(kFractionDigits, '9');
    const auto withWhole
        = [&](const std::string &whole, const std::string &min, const std::string &max) {
              return b.sequence({ b.bytes(whole.empty() ? "0" : whole), b.symbol('.'),
                                  fractionDigits(b, min, max, 0, true, true) });
          };
    if (minWhole == maxWhole)
        return withWhole(minWhole, minFraction, maxFraction);
    return b.choice(
        { withWhole(minWhole, minFraction, nines),
          b.sequence({ wholeRule(b, { plusOne(minWhole), minusOne(maxWhole) }), anyFraction(b) }),
          withWhole(maxWhole, zeros, maxFraction) });
}

Expression signedRule(GrammarBuilder &b, Expression negative, Expression positive)
{
    return b.choice({ b.sequence({ b.symbol('-'), negative }), positive });
}

Expression integers(GrammarBuilder &b, const NumberBounds &bounds, std::size_t digits)
{
    return signedRule(b, wholeRule(b, magnitudes(bounds, true, 0, digits)),
                      wholeRule(b, magnitudes(bounds, false, 0, digits)));
}

} // namespace

std::strong_ordering Decimal::operator<=>(const Decimal &other) const
{
    if (isNegative != other.isNegative)
        return other.isNegative <=> isNegative;
    const std::strong_ordering byWhole = compareWhole(whole, other.whole);
    const std::strong_ordering magnitude
        = byWhole != 0 ? byWhole : fraction.compare(other.fraction) <=> 0;
    return isNegative ? 0 <=> magnitude : magnitude;
}

Decimal decimalOf(std::string_view number)
{
    std::string text(number);
    int exponent = 0;
    if (const std::size_t e = text.find_first_of("eE"); e != std::string::npos) {
        exponent = std::stoi(text.substr(e + 1));
        double value = 0;
        std::from_chars(text.data(), text.data() + text.size(), value);
        if (exponent > 0) {
            text = std::format("{:.0f}", value);
            exponent = 0;
        } else {
            text.resize(e);
        }
    }
    Decimal decimal;
    decimal.isNegative = text.starts_with('-');
    text.erase(0, decimal.isNegative ? 1 : 0);
    const std::size_t point = std::min(text.find('.'), text.size());
    std::string whole = text.substr(0, point);
    decimal.fraction = point < text.size() ? text.substr(point + 1) : std::string();
    for (; exponent < 0; ++exponent) {
        decimal.fraction.insert(0, 1, whole.empty() ? '0' : whole.back());
        if (!whole.empty())
            whole.pop_back();
    }
    whole.erase(0, std::min(whole.find_first_not_of('0'), whole.size()));
    decimal.whole = std::move(whole);
    decimal.fraction.resize(decimal.fraction.find_last_not_of('0') + 1);
    decimal.isNegative = decimal.isNegative && !decimal.isZero();
    return decimal;
}

void NumberBounds::raiseMin(const Decimal &bound, bool isExcluded)
{
    if (!min || bound > *min) {
        min = bound;
        excludesMin = isExcluded;
    } else if (bound == *min) {
        excludesMin = excludesMin || isExcluded;
    }
}

void NumberBounds::lowerMax(const Decimal &bound, bool isExcluded)
{
    if (!max || bound < *max) {
        max = bound;
        excludesMax = isExcluded;
    } else if (bound == *max) {
        excludesMax = excludesMax || isExcluded;
    }
}

bool NumberBounds::allows(const Decimal &value) const
{
    return (!min || value > *min || (value == *min && !excludesMin))
        && (!max || value < *max || (value == *max && !excludesMax));
}

GrammarBuilder::Expression integerRule(GrammarBuilder &builder, const NumberBounds &bounds)
{
    return integers(builder, bounds, kIntegerDigits);
}

GrammarBuilder::Expression numberRule(GrammarBuilder &builder, const NumberBounds &bounds)
{
    GrammarBuilder &b = builder;
    if (bounds.min || bounds.max) {
        const auto fractions = [&](bool isNegative) {
            return fractionRule(b, magnitudes(bounds, isNegative, kFractionDigits, kExactDigits));
        };
        return b.choice({ integers(b, bounds, kExactDigits),
                          signedRule(b, fractions(true), fractions(false)) });
    }
    const Expression digits = b.range('0', '9');
    return b.sequence(
        { b.optional(b.symbol('-')),
          b.choice({ b.symbol('0'),
                     b.sequence({ b.range('1', '9'), b.repeat(digits, 0, kFreeDigits - 1) }) }),
          b.optional(b.sequence({ b.symbol('.'), b.repeat(digits, 1, kFreeDigits) })),
          b.optional(b.sequence({ b.choice({ b.symbol('e'), b.symbol('E') }),
                                  b.optional(b.choice({ b.symbol('+'), b.symbol('-') })),
                                  b.repeat(digits, 1, kExponentDigits) })) });
}

} // namespace firesteel::engine
