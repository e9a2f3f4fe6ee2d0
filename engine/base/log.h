// SPDX-License-Identifier: MIT
//
// The way out for log lines of the engine: libraries never print. Never pass message text, tokens
// of a prompt or keys.
#pragma once

#include "engine/api/engine.h"

#include <string_view>

namespace firesteel::engine {

class Log
{
public:
    explicit Log(LogSink sink); // may be empty

    void info(std::string_view category, std::string_view message) const
    {
        write(LogLevel::Info, category, message);
    }
    void warning(std::string_view category, std::string_view message) const
    {
        write(LogLevel::Warning, category, message);
    }
    void error(std::string_view category, std::string_view message) const
    {
        write(LogLevel::Error, category, message);
    }

private:
    void write(LogLevel level, std::string_view category, std::string_view message) const;

    LogSink m_sink;
};

} // namespace firesteel::engine
