// SPDX-License-Identifier: MIT
//
// Numbers of conversations and messages. The window makes them itself, so that it never waits for
// the database to number a row.
#pragma once

#include <cstdint>

namespace firesteel::app {

using RecordId = std::int64_t;

// Milliseconds since 1970 in the upper 41 bits, then 22 bits that begin at random and count up:
// ids grow with time, and two computers make the same one only by chance (1 in 4 million for two
// records of the same millisecond). Any thread.
RecordId newRecordId();

} // namespace firesteel::app
