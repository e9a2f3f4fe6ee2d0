// SPDX-License-Identifier: MIT
//
// Why the endpoint refuses something, and how each dialect says so. The one table from engine
// errors to HTTP is here; docs/api.md repeats it.
#pragma once

#include "engine/api/error.h"

#include <expected>
#include <string>

namespace firesteel::app {

struct ApiError
{
    int status = 400;
    std::string type = "invalid_request_error"; // of OpenAI's vocabulary
    std::string code = {}; // "context_length_exceeded"; empty: null
    std::string param = {}; // "messages[0].role"; empty: null
    std::string message; // for a person; names the field and what was expected
    int retryAfterSeconds = 0; // 0: no Retry-After
};

template <typename T> using ApiResult = std::expected<T, ApiError>;

ApiError badRequest(std::string param, std::string message);
ApiError unsupported(std::string param, std::string message); // well-formed, not implemented here
ApiError apiErrorOf(const engine::Error &error);

// Bodies of refusals, JSON.
std::string openAiErrorBody(const ApiError &error);
std::string anthropicErrorBody(const ApiError &error);

} // namespace firesteel::app
