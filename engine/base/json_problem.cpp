// SPDX-License-Identifier: MIT
#include "engine/base/json_problem.h"

#include <format>
#include <string_view>

namespace firesteel::engine {

std::string jsonProblem(simdjson::error_code error)
{
    const auto why = [error]() -> std::string_view {
        switch (error) {
        case simdjson::EMPTY:
            return "it is empty";
        case simdjson::UTF8_ERROR:
            return "it is not UTF-8";
        case simdjson::DEPTH_ERROR:
            return "it is nested too deeply";
        case simdjson::NUMBER_ERROR:
        case simdjson::BIGINT_ERROR:
            return "it has a number that is malformed or out of range";
        case simdjson::STRING_ERROR:
        case simdjson::UNCLOSED_STRING:
        case simdjson::UNESCAPED_CHARS:
            return "it has a malformed string";
        case simdjson::MEMALLOC:
        case simdjson::CAPACITY:
            return "it is too large to parse";
        default:
            return "a comma, a bracket or a value is missing or out of place";
        }
    };
    return std::format("not JSON: {}", why());
}

} // namespace firesteel::engine
