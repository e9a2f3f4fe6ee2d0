// SPDX-License-Identifier: MIT
#include "engine/base/system_memory.h"

#include <charconv>
#include <format>
#include <fstream>
#include <iterator>

namespace firesteel::engine {

std::optional<std::uint64_t> parseMemAvailable(std::string_view meminfo)
{
    constexpr std::string_view kField = "MemAvailable:";
    const std::size_t field = meminfo.find(kField);
    if (field == std::string_view::npos)
        return std::nullopt;
    const std::size_t digits = meminfo.find_first_not_of(' ', field + kField.size());
    if (digits == std::string_view::npos)
        return std::nullopt;
    std::uint64_t kibibytes = 0;
    const auto [end, error]
        = std::from_chars(meminfo.data() + digits, meminfo.data() + meminfo.size(), kibibytes);
    if (error != std::errc {})
        return std::nullopt;
    return kibibytes * 1024;
}

std::optional<std::uint64_t> availableMemoryBytes()
{
    std::ifstream file("/proc/meminfo");
    const std::string text { std::istreambuf_iterator<char>(file), {} };
    return parseMemAvailable(text);
}

std::string formatBytes(std::uint64_t bytes)
{
    constexpr double kMebibyte = 1024.0 * 1024.0;
    const double mebibytes = static_cast<double>(bytes) / kMebibyte;
    if (mebibytes >= 1024)
        return std::format("{:.2f} GiB", mebibytes / 1024);
    return std::format("{:.1f} MiB", mebibytes);
}

} // namespace firesteel::engine
