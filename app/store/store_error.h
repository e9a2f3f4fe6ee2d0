// SPDX-License-Identifier: MIT
//
// How the store fails. Every call that touches the database answers with a StoreResult; callers
// decide by the code, people read the message.
#pragma once

#include <QString>

#include <expected>
#include <utility>

namespace firesteel::app {

enum class StoreErrorCode {
    Full, // no space left, or the file system refuses a write for now: worth trying again
    ReadOnly, // nothing may be written here
    InUse, // another process owns the database
    Damaged, // bytes of the file are not what SQLite wrote
    Newer, // written by a later version of this program
    Unavailable, // no database is open
    NotFound, // the row asked for does not exist
    Refused, // a statement or a value the database does not accept; trying again cannot help
};

struct StoreError
{
    StoreErrorCode code = StoreErrorCode::Refused;
    QString message; // one line
};

template <typename T> using StoreResult = std::expected<T, StoreError>;

inline std::unexpected<StoreError> storeFailure(StoreErrorCode code, QString message)
{
    return std::unexpected(StoreError { code, std::move(message) });
}

} // namespace firesteel::app
