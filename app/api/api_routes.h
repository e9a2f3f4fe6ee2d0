// SPDX-License-Identifier: MIT
//
// What the endpoint answers under which address. Addresses are taken with and without "/v1" and
// with a slash at their end, as people paste them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace firesteel::app {

enum class Route {
    Health,
    Metrics,
    Models,
    Model, // one of them, by its id
    ChatCompletions,
    ChatInputTokens,
    Completions,
    Responses,
    ResponsesInputTokens,
    Messages,
    MessagesCountTokens,
    Tokenize,
    Detokenize,
};

struct RouteMatch
{
    Route route = Route::Health;
    std::string_view name; // "/v1/models", also of one of them
    std::string_view method; // GET (HEAD as well) or POST
    std::string modelId; // of Route::Model
};

// `path`: decoded, without a query. None: nothing is there.
std::optional<RouteMatch> routeOf(std::string_view path);

// Whether errors under this address are told in Anthropic's format.
bool isAnthropic(Route route);

} // namespace firesteel::app
