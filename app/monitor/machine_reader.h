// SPDX-License-Identifier: MIT
//
// Takes one look at the machine: memory, CPU, GPU, pages the kernel moved. Slow where the driver
// is, so it is called on a worker, one call at a time; it knows nothing of Qt's event loop.
#pragma once

#include "app/monitor/machine_memory.h"
#include "app/monitor/nvml.h"

#include <QString>

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

namespace firesteel::app {

struct MachineSample
{
    std::optional<MachineMemory> memory;
    ProcessMemory process;
    std::optional<double> cpuPercent; // of all cores, since the sample before
    std::optional<std::uint64_t> migratedBytes; // pages moved by the kernel since the sample before
    std::optional<GpuSample> gpu; // none: gpuProblem says why
    GpuFacts gpuFacts;
    QString gpuProblem;
};

// Where it is read; tests name folders and libraries of their own.
struct MachineSources
{
    QString procFolder = QStringLiteral("/proc");
    QString nvmlLibrary = QString::fromLatin1(Nvml::kLibrary);
};

class MachineReader
{
public:
    explicit MachineReader(MachineSources sources = {});

    MachineSample read();

private:
    MachineSources m_sources;
    std::unique_ptr<Nvml> m_nvml; // opened by the first read
    QString m_gpuProblem;
    bool m_isOpened = false;
    struct CpuTime // ticks since the start of the machine
    {
        std::uint64_t busy = 0;
        std::uint64_t total = 0;
    };
    std::optional<CpuTime> m_cpu;
    std::optional<std::uint64_t> m_migratedPages;

    std::optional<double> cpuSince(std::string_view stat);
    std::optional<std::uint64_t> migratedSince(std::string_view vmstat);
};

} // namespace firesteel::app
