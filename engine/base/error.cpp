// SPDX-License-Identifier: MIT
#include "engine/api/error.h"

namespace firesteel::engine {

std::string_view errorCodeName(ErrorCode code)
{
    switch (code) {
    case ErrorCode::Cancelled:
        return "cancelled";
    case ErrorCode::NotFound:
        return "not found";
    case ErrorCode::Io:
        return "i/o error";
    case ErrorCode::BadCheckpoint:
        return "bad checkpoint";
    case ErrorCode::UnsupportedModel:
        return "unsupported model";
    case ErrorCode::BadRequest:
        return "bad request";
    case ErrorCode::ContextExceeded:
        return "context exceeded";
    case ErrorCode::OutOfMemory:
        return "out of memory";
    case ErrorCode::QueueFull:
        return "queue full";
    case ErrorCode::NotLoaded:
        return "no model loaded";
    case ErrorCode::Internal:
        break;
    }
    return "internal error";
}

} // namespace firesteel::engine
