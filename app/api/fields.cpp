// SPDX-License-Identifier: MIT
#include "app/api/fields.h"

#include <cmath>
#include <format>
#include <utility>

namespace firesteel::app {

namespace {

const Json kNoFields = Json::object();

bool asksForNothing(const Json &value)
{
    if (value.is_boolean())
        return !value.get<bool>();
    if (value.is_number())
        return value.get<double>() == 0;
    if (value.is_string())
        return value.get_ref<const std::string &>().empty();
    return value.empty();
}

std::string rangeText(const Range &range)
{
    return std::format("{} {} and {} {}", range.excludesLeast ? "above" : "at least", range.least,
                       range.excludesGreatest ? "below" : "at most", range.greatest);
}

} // namespace

Fields::Fields(const Json &object, std::string path, Problem &problem)
    : m_object(object.is_object() ? &object : &kNoFields)
    , m_path(std::move(path))
    , m_problem(problem)
{
    if (!object.is_object())
        m_problem.report(
            badRequest(m_path,
                       std::format("{} must be an object, not {}.",
                                   m_path.empty() ? "The body" : m_path, object.type_name())));
}

std::string Fields::pathOf(std::string_view name) const
{
    return m_path.empty() ? std::string(name) : std::format("{}.{}", m_path, name);
}

void Fields::wrongType(std::string_view name, const char *expected, const Json &found)
{
    m_problem.report(badRequest(
        pathOf(name),
        std::format("{} must be {}, not {}.", pathOf(name), expected, found.type_name())));
}

const Json *Fields::any(std::string_view name)
{
    m_asked.emplace(name);
    const auto found = m_object->find(name);
    return found == m_object->end() || found->is_null() ? nullptr : &*found;
}

std::optional<bool> Fields::boolean(std::string_view name)
{
    const Json *value = any(name);
    if (value == nullptr)
        return std::nullopt;
    if (value->is_boolean())
        return value->get<bool>();
    wrongType(name, "true or false", *value);
    return std::nullopt;
}

std::optional<double> Fields::number(std::string_view name, Range range)
{
    const Json *value = any(name);
    if (value == nullptr)
        return std::nullopt;
    if (!value->is_number()) {
        wrongType(name, "a number", *value);
        return std::nullopt;
    }
    const auto number = value->get<double>();
    const bool isHigh = range.excludesLeast ? number > range.least : number >= range.least;
    const bool isLow = range.excludesGreatest ? number < range.greatest : number <= range.greatest;
    if (std::isfinite(number) && isHigh && isLow)
        return number;
    m_problem.report(badRequest(
        pathOf(name),
        std::format("{} is {}; it must be {}.", pathOf(name), number, rangeText(range))));
    return std::nullopt;
}

std::optional<std::int64_t> Fields::integer(std::string_view name, std::int64_t least,
                                            std::int64_t greatest)
{
    const Json *value = any(name);
    if (value == nullptr)
        return std::nullopt;
    // Some clients write whole numbers as 3.0.
    constexpr double kExact = 9007199254740992.0; // 2^53
    const bool isWhole = value->is_number_integer()
        || (value->is_number_float() && std::trunc(value->get<double>()) == value->get<double>()
            && std::abs(value->get<double>()) <= kExact);
    if (!isWhole) {
        wrongType(name, "a whole number", *value);
        return std::nullopt;
    }
    const bool isHuge = value->is_number_unsigned() && value->get<std::uint64_t>() > INT64_MAX;
    const std::int64_t number = isHuge ? INT64_MAX : value->get<std::int64_t>();
    if (!isHuge && number >= least && number <= greatest)
        return number;
    m_problem.report(badRequest(pathOf(name),
                                std::format("{} is {}; it must be {} to {}.", pathOf(name),
                                            toText(*value), least, greatest)));
    return std::nullopt;
}

std::optional<std::string> Fields::string(std::string_view name)
{
    const Json *value = any(name);
    if (value == nullptr)
        return std::nullopt;
    if (value->is_string())
        return value->get<std::string>();
    wrongType(name, "a string", *value);
    return std::nullopt;
}

const Json *Fields::object(std::string_view name)
{
    const Json *value = any(name);
    if (value != nullptr && !value->is_object()) {
        wrongType(name, "an object", *value);
        return nullptr;
    }
    return value;
}

const Json *Fields::array(std::string_view name)
{
    const Json *value = any(name);
    if (value != nullptr && !value->is_array()) {
        wrongType(name, "an array", *value);
        return nullptr;
    }
    return value;
}

void Fields::refuse(std::string_view name, std::string_view why)
{
    const Json *value = any(name);
    if (value != nullptr && !asksForNothing(*value))
        m_problem.report(
            unsupported(pathOf(name), std::format("{} is not supported: {}", pathOf(name), why)));
}

void Fields::ignore(std::initializer_list<std::string_view> names)
{
    for (const std::string_view name : names)
        m_asked.emplace(name);
}

int Fields::unknownFields() const
{
    int count = 0;
    for (const auto &[name, value] : m_object->items())
        count += m_asked.contains(name) ? 0 : 1;
    return count;
}

} // namespace firesteel::app
