// SPDX-License-Identifier: MIT
//
// How much memory the machine can still give, for the budget of a load.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace firesteel::engine {

// MemAvailable of /proc/meminfo: free memory plus the caches the kernel would drop. Nothing where
// the file does not say.
std::optional<std::uint64_t> availableMemoryBytes();
std::optional<std::uint64_t> parseMemAvailable(std::string_view meminfo);

// "3.25 GiB", "70.2 MiB": for messages.
std::string formatBytes(std::uint64_t bytes);

} // namespace firesteel::engine
