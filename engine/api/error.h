// SPDX-License-Identifier: MIT
//
// The one error type of the engine. Expected failures (a missing file, a bad checkpoint, an
// overlong prompt) are values of Result<T>; broken invariants are exceptions, caught once, at the
// engine thread.
#pragma once

#include <expected>
#include <string>
#include <string_view>

namespace firesteel::engine {

enum class ErrorCode {
    Cancelled, // somebody asked for it
    NotFound, // a file or folder does not exist
    Io, // the operating system refused a read or a mapping
    BadCheckpoint, // a model file breaks its format or contradicts config.json
    UnsupportedModel, // well-formed, but not the architecture these kernels implement
    BadRequest, // a message, tool or parameter has no meaning
    ContextExceeded, // prompt + answer do not fit the allocated context
    OutOfMemory, // the memory budget does not allow it
    QueueFull, // too many requests are waiting
    NotLoaded, // no model is ready
    Internal, // an invariant broke; the engine must be loaded again
};

std::string_view errorCodeName(ErrorCode code);

struct Error
{
    ErrorCode code = ErrorCode::Internal;
    // One line; names the file, tensor, field or parameter and what was expected.
    std::string message;
};

template <typename T> using Result = std::expected<T, Error>;

inline std::unexpected<Error> fail(ErrorCode code, std::string message)
{
    return std::unexpected(Error { code, std::move(message) });
}

} // namespace firesteel::engine
