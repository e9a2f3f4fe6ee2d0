// SPDX-License-Identifier: MIT
//
// Reads the fields of one JSON object of a request and remembers which it was asked for: what is
// left is unknown to the endpoint. The first thing wrong is kept in a Problem that all readers of a
// request share, so that parsing goes on in a straight line and is checked once, at its end.
// A null counts as absent, as clients write it.
#pragma once

#include "app/api/api_error.h"
#include "app/api/json_document.h"

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace firesteel::app {

class Problem
{
public:
    void report(ApiError error)
    {
        if (!m_first)
            m_first = std::move(error);
    }
    bool isReported() const { return m_first.has_value(); }
    const ApiError &first() const { return *m_first; }

private:
    std::optional<ApiError> m_first;
};

struct Range
{
    double least = 0;
    double greatest = 0;
    bool excludesLeast = false;
    bool excludesGreatest = false;
};

class Fields
{
public:
    // `object` must outlive this; what is no object is a problem and has no fields. `path`: where
    // it is, "messages[0]"; empty for the body.
    Fields(const Json &object, std::string path, Problem &problem);

    const Json *any(std::string_view name); // of any type; none: absent
    std::optional<bool> boolean(std::string_view name);
    std::optional<double> number(std::string_view name, Range range);
    std::optional<std::int64_t> integer(std::string_view name, std::int64_t least,
                                        std::int64_t greatest);
    std::optional<std::string> string(std::string_view name);
    const Json *object(std::string_view name);
    const Json *array(std::string_view name);

    // A problem if the field is there, unless it is false, 0, "" or empty: then it asks for
    // nothing.
    void refuse(std::string_view name, std::string_view why);
    void ignore(std::initializer_list<std::string_view> names); // known, without effect
    int unknownFields() const; // nobody asked for

    std::string pathOf(std::string_view name) const;
    Problem &problem() const { return m_problem; }

private:
    void wrongType(std::string_view name, const char *expected, const Json &found);

    const Json *m_object;
    std::string m_path;
    Problem &m_problem;
    std::set<std::string, std::less<>> m_asked;
};

} // namespace firesteel::app
