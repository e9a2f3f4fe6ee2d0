// SPDX-License-Identifier: MIT
#include "app/api/json_document.h"

#include <format>

namespace firesteel::app {

namespace {

struct LimitPassed
{
    const char *what;
};

} // namespace

ApiResult<Json> parseBody(std::string_view text)
{
    std::size_t values = 0;
    // The parser itself does not recurse; what works on the result does.
    const auto limit = [&values](int depth, Json::parse_event_t event, Json & /*parsed*/) {
        if (depth > kDeepestJson)
            throw LimitPassed { "nested too deeply" };
        if (event != Json::parse_event_t::object_end && event != Json::parse_event_t::array_end
            && ++values > kMostJsonValues)
            throw LimitPassed { "of too many values" };
        return true;
    };
    try {
        Json json = Json::parse(text, limit);
        if (!json.is_object())
            return std::unexpected(badRequest(
                {}, std::format("The body must be a JSON object, not {}.", json.type_name())));
        return json;
    } catch (const LimitPassed &passed) {
        return std::unexpected(badRequest({}, std::format("The JSON is {}.", passed.what)));
    } catch (const Json::parse_error &error) {
        return std::unexpected(
            badRequest({}, std::format("The body is not valid JSON, at byte {}.", error.byte)));
    } catch (const Json::exception &) { // a number beyond every type
        return std::unexpected(badRequest({}, "The body holds a number that is out of range."));
    }
}

std::string toText(const Json &json)
{
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

} // namespace firesteel::app
