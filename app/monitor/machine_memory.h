// SPDX-License-Identifier: MIT
//
// The machine's memory as one pool, read from /proc: on a DGX Spark CPU, GPU and desktop share it
// and no other figure means anything. Plain functions of text, so that tests hand them files.
#pragma once

#include <QString>

#include <cstdint>
#include <optional>
#include <string_view>

namespace firesteel::app {

struct MachineMemory // bytes
{
    std::uint64_t total = 0;
    std::uint64_t available = 0; // what programs can still get, caches that can be dropped included
};
// Of /proc/meminfo. Nothing where a field is missing or makes no sense.
std::optional<MachineMemory> parseMachineMemory(std::string_view meminfo);

struct ProcessMemory // bytes in RAM
{
    std::uint64_t own = 0; // cannot be dropped: heap, stacks, shared memory
    std::uint64_t mapped = 0; // pages of files; the kernel counts them as available
};
// Of /proc/self/status.
std::optional<ProcessMemory> parseProcessMemory(std::string_view status);

// How the pool is shared out; the parts sum to `total`.
struct MemoryShares // bytes
{
    std::uint64_t total = 0;
    std::uint64_t weights = 0; // of the model and its drafter
    std::uint64_t states = 0; // caches and recurrent states of the context
    std::uint64_t program = 0; // the rest of this program
    std::uint64_t others = 0; // everything else that cannot be dropped
    std::uint64_t free = 0;
};
// weights and states: as the engine names them. gpuProcess: GPU memory of this process, where it
// comes out of the same pool. Weights in a mapped file count as ours although the kernel could drop
// them.
MemoryShares shareOut(const MachineMemory &machine, const ProcessMemory &process,
                      std::uint64_t gpuProcess, std::uint64_t weights, std::uint64_t states);

} // namespace firesteel::app
