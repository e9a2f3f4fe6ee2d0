// SPDX-License-Identifier: MIT
#include "app/monitor/machine_reader.h"

#include <QFile>

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <string_view>
#include <unistd.h>
#include <utility>

namespace firesteel::app {

namespace {

using namespace Qt::Literals::StringLiterals;

std::string contentsOf(const QString &file)
{
    QFile opened(file);
    // Files of /proc have no size; nothing read here is longer than this.
    constexpr qint64 kMostBytes = 256 * 1024;
    return opened.open(QIODevice::ReadOnly) ? opened.read(kMostBytes).toStdString() : std::string();
}

// The number at the start of the text, after blanks; the text goes on behind it.
std::optional<std::uint64_t> takeNumber(std::string_view &text)
{
    const std::size_t digits = text.find_first_not_of(' ');
    if (digits == std::string_view::npos)
        return std::nullopt;
    std::uint64_t value = 0;
    const char *end = text.data() + text.size();
    const auto [after, error] = std::from_chars(text.data() + digits, end, value);
    if (error != std::errc {})
        return std::nullopt;
    text = { after, static_cast<std::size_t>(end - after) };
    return value;
}

} // namespace

MachineReader::MachineReader(MachineSources sources)
    : m_sources(std::move(sources))
{
}

MachineSample MachineReader::read()
{
    if (!std::exchange(m_isOpened, true)) {
        auto opened = Nvml::open(m_sources.nvmlLibrary);
        if (opened)
            m_nvml = std::move(*opened);
        else
            m_gpuProblem = opened.error();
    }
    MachineSample sample;
    sample.memory = parseMachineMemory(contentsOf(m_sources.procFolder + "/meminfo"_L1));
    sample.process = parseProcessMemory(contentsOf(m_sources.procFolder + "/self/status"_L1))
                         .value_or(ProcessMemory());
    sample.cpuPercent = cpuSince(contentsOf(m_sources.procFolder + "/stat"_L1));
    sample.migratedBytes = migratedSince(contentsOf(m_sources.procFolder + "/vmstat"_L1));
    sample.gpuProblem = m_gpuProblem;
    if (m_nvml) {
        sample.gpuFacts = m_nvml->facts();
        sample.gpu = m_nvml->read();
    }
    return sample;
}

// "cpu  user nice system idle iowait irq softirq steal ...": guest time is part of user time.
std::optional<double> MachineReader::cpuSince(std::string_view stat)
{
    constexpr std::string_view kAllCores = "cpu ";
    const auto before = std::exchange(m_cpu, std::nullopt);
    if (!stat.starts_with(kAllCores))
        return std::nullopt;
    stat.remove_prefix(kAllCores.size());
    std::array<std::uint64_t, 8> ticks {};
    for (std::uint64_t &value : ticks) {
        const auto number = takeNumber(stat);
        if (!number)
            return std::nullopt;
        value = *number;
    }
    CpuTime now;
    for (const std::uint64_t value : ticks)
        now.total += value;
    now.busy = now.total - ticks[3] - ticks[4];
    m_cpu = now;
    // Idle ticks may go back a little on some kernels.
    if (!before || now.total <= before->total || now.busy < before->busy)
        return std::nullopt;
    return std::min(100.0,
                    100.0 * static_cast<double>(now.busy - before->busy)
                        / static_cast<double>(now.total - before->total));
}

std::optional<std::uint64_t> MachineReader::migratedSince(std::string_view vmstat)
{
    constexpr std::string_view kField = "\npgmigrate_success";
    const auto before = std::exchange(m_migratedPages, std::nullopt);
    const std::size_t field = vmstat.find(kField);
    if (field == std::string_view::npos)
        return std::nullopt;
    vmstat.remove_prefix(field + kField.size());
    m_migratedPages = takeNumber(vmstat);
    if (!before || !m_migratedPages || *m_migratedPages < *before)
        return std::nullopt;
    static const auto pageBytes = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    return (*m_migratedPages - *before) * pageBytes;
}

} // namespace firesteel::app
