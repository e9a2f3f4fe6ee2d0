// SPDX-License-Identifier: MIT
//
// One line of the endpoint's log: who asked for what and how it ended. Never a word of a message,
// never a key.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace firesteel::app {

struct RequestRecord
{
    std::uint64_t id = 0; // counts from 1; a record is reported when it begins and when it ends
    std::int64_t began = 0; // milliseconds since 1970
    std::string client; // its address
    std::string keyName; // empty: without a key
    std::string method;
    std::string path; // without what follows a question mark
    int status = 0; // 0: under way; 499: the client went away
    std::string note; // why it was refused; empty: it was not
    int promptTokens = 0;
    int completionTokens = 0;
    int unknownFields = 0; // of the request, ignored
    double seconds = 0;
    std::optional<double> timeToFirstTokenSeconds;
};

// Called on the threads of the connections.
using RequestSink = std::function<void(const RequestRecord &)>;

} // namespace firesteel::app
