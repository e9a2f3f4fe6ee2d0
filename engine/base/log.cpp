// SPDX-License-Identifier: MIT
#include "engine/base/log.h"

#include <utility>

namespace firesteel::engine {

Log::Log(LogSink sink)
    : m_sink(std::move(sink))
{
}

void Log::write(LogLevel level, std::string_view category, std::string_view message) const
{
    if (m_sink)
        m_sink(level, category, message);
}

} // namespace firesteel::engine
