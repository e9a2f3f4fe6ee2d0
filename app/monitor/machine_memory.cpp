// SPDX-License-Identifier: MIT
#include "app/monitor/machine_memory.h"

#include <algorithm>
#include <charconv>

namespace firesteel::app {

namespace {

// "Name:   123 kB" at the start of a line.
std::optional<std::uint64_t> bytesOf(std::string_view text, std::string_view name)
{
    std::size_t at = 0;
    while (at < text.size()) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        std::string_view line = text.substr(at, end - at);
        at = end + 1;
        if (!line.starts_with(name) || line.size() == name.size() || line[name.size()] != ':')
            continue;
        line.remove_prefix(name.size() + 1);
        const std::size_t digits = line.find_first_not_of(" \t");
        if (digits == std::string_view::npos)
            return std::nullopt;
        std::uint64_t kibibytes = 0;
        const auto [after, error]
            = std::from_chars(line.data() + digits, line.data() + line.size(), kibibytes);
        constexpr std::uint64_t kMostKibibytes = 1ULL << 50;
        if (error != std::errc {} || kibibytes > kMostKibibytes)
            return std::nullopt;
        return kibibytes * 1024;
    }
    return std::nullopt;
}

} // namespace

std::optional<MachineMemory> parseMachineMemory(std::string_view meminfo)
{
    const auto total = bytesOf(meminfo, "MemTotal");
    const auto available = bytesOf(meminfo, "MemAvailable");
    if (!total || !available || *available > *total)
        return std::nullopt;
    return MachineMemory { *total, *available };
}

std::optional<ProcessMemory> parseProcessMemory(std::string_view status)
{
    const auto anonymous = bytesOf(status, "RssAnon");
    const auto file = bytesOf(status, "RssFile");
    if (!anonymous || !file)
        return std::nullopt;
    return ProcessMemory { *anonymous + bytesOf(status, "RssShmem").value_or(0), *file };
}

MemoryShares shareOut(const MachineMemory &machine, const ProcessMemory &process,
                      std::uint64_t gpuProcess, std::uint64_t weights, std::uint64_t states)
{
    MemoryShares shares;
    shares.total = machine.total;
    const std::uint64_t used = machine.total - machine.available;
    const std::uint64_t own = std::min(process.own + gpuProcess, used);
    shares.others = used - own;
    // Weights are either in memory of our own or pages of a file; what does not fit into the first
    // is looked for in the second.
    const std::uint64_t ownWeights = own >= weights + states ? weights : 0;
    const std::uint64_t mappedWeights
        = std::min({ weights - ownWeights, process.mapped, machine.available });
    shares.weights = ownWeights + mappedWeights;
    shares.states = std::min(states, own - ownWeights);
    shares.program = own - ownWeights - shares.states;
    shares.free = machine.available - mappedWeights;
    return shares;
}

} // namespace firesteel::app
