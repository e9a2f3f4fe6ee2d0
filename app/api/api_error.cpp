// SPDX-License-Identifier: MIT
#include "app/api/api_error.h"

#include "app/api/json_document.h"

#include <utility>

namespace firesteel::app {

namespace {

constexpr int kRetrySeconds = 2;

Json orNull(const std::string &text) { return text.empty() ? Json() : Json(text); }

// Anthropic has a type for each status.
std::string anthropicType(int status)
{
    switch (status) {
    case 401:
        return "authentication_error";
    case 403:
        return "permission_error";
    case 404:
        return "not_found_error";
    case 413:
        return "request_too_large";
    case 429:
        return "rate_limit_error";
    case 503:
        return "overloaded_error";
    default:
        return status >= 500 ? "api_error" : "invalid_request_error";
    }
}

} // namespace

ApiError badRequest(std::string param, std::string message)
{
    return { .param = std::move(param), .message = std::move(message) };
}

ApiError unsupported(std::string param, std::string message)
{
    return { .code = "unsupported", .param = std::move(param), .message = std::move(message) };
}

ApiError apiErrorOf(const engine::Error &error)
{
    using enum engine::ErrorCode;
    switch (error.code) {
    case BadRequest:
        return { .message = error.message };
    case ContextExceeded:
        return { .code = "context_length_exceeded", .param = "messages", .message = error.message };
    case QueueFull:
        return { .status = 429,
                 .type = "rate_limit_error",
                 .code = "queue_full",
                 .message = error.message,
                 .retryAfterSeconds = kRetrySeconds };
    case NotLoaded:
        return { .status = 503,
                 .type = "server_error",
                 .code = "model_not_loaded",
                 .message = error.message,
                 .retryAfterSeconds = kRetrySeconds };
    case Cancelled: // by a load or by the end of the program: clients come back
        return { .status = 503,
                 .type = "server_error",
                 .code = "cancelled",
                 .message = error.message,
                 .retryAfterSeconds = kRetrySeconds };
    case OutOfMemory:
        return { .status = 503,
                 .type = "server_error",
                 .code = "memory",
                 .message = error.message,
                 .retryAfterSeconds = kRetrySeconds };
    case NotFound:
    case Io:
    case BadCheckpoint:
    case UnsupportedModel:
    case Internal:
        break;
    }
    return { .status = 500, .type = "server_error", .message = error.message };
}

std::string openAiErrorBody(const ApiError &error)
{
    return toText({ { "error",
                      { { "message", error.message },
                        { "type", error.type },
                        { "param", orNull(error.param) },
                        { "code", orNull(error.code) } } } });
}

std::string anthropicErrorBody(const ApiError &error)
{
    std::string message = error.message;
    if (!error.param.empty() && !message.contains(error.param))
        message = error.param + ": " + message;
    return toText(
        { { "type", "error" },
          { "error", { { "type", anthropicType(error.status) }, { "message", message } } } });
}

} // namespace firesteel::app
