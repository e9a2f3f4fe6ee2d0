// SPDX-License-Identifier: MIT
#include "app/api/api_routes.h"

#include <array>

namespace firesteel::app {

namespace {

struct Entry
{
    std::string_view name;
    std::string_view method;
    Route route;
};

constexpr std::array kEntries {
    Entry { "/health", "GET", Route::Health },
    Entry { "/metrics", "GET", Route::Metrics },
    Entry { "/v1/models", "GET", Route::Models },
    Entry { "/v1/chat/completions", "POST", Route::ChatCompletions },
    Entry { "/v1/chat/completions/input_tokens", "POST", Route::ChatInputTokens },
    Entry { "/v1/completions", "POST", Route::Completions },
    Entry { "/v1/responses", "POST", Route::Responses },
    Entry { "/v1/responses/input_tokens", "POST", Route::ResponsesInputTokens },
    Entry { "/v1/messages", "POST", Route::Messages },
    Entry { "/v1/messages/count_tokens", "POST", Route::MessagesCountTokens },
    Entry { "/tokenize", "POST", Route::Tokenize },
    Entry { "/detokenize", "POST", Route::Detokenize },
};

std::string_view withoutVersion(std::string_view path)
{
    constexpr std::string_view kVersion = "/v1";
    return path.starts_with("/v1/") ? path.substr(kVersion.size()) : path;
}

} // namespace

std::optional<RouteMatch> routeOf(std::string_view path)
{
    while (path.size() > 1 && path.ends_with('/'))
        path.remove_suffix(1);
    const std::string_view wanted = withoutVersion(path);
    for (const Entry &entry : kEntries) {
        if (withoutVersion(entry.name) == wanted)
            return RouteMatch { entry.route, entry.name, entry.method, {} };
    }
    constexpr std::string_view kModel = "/models/";
    if (wanted.starts_with(kModel))
        return RouteMatch { Route::Model, "/v1/models", "GET",
                            std::string(wanted.substr(kModel.size())) };
    return std::nullopt;
}

bool isAnthropic(Route route)
{
    return route == Route::Messages || route == Route::MessagesCountTokens;
}

} // namespace firesteel::app
