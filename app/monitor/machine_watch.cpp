// SPDX-License-Identifier: MIT
#include "app/monitor/machine_watch.h"

#include <QLocale>

#include <algorithm>
#include <vector>

namespace firesteel::app {

namespace {

constexpr std::uint64_t kThrottleReasons = GpuPowerCap | GpuHardwareSlowdown | GpuThermalSlowdown
    | GpuHardwareThermalSlowdown | GpuPowerBrake;

double medianOf(const std::deque<double> &values)
{
    std::vector<double> sorted(values.begin(), values.end());
    const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
    std::ranges::nth_element(sorted, middle);
    return *middle;
}

bool isBusy(const GpuSample &gpu)
{
    return gpu.usePercent.value_or(0) >= MachineWatch::kBusyPercent;
}

QString bytesText(std::uint64_t bytes)
{
    return QLocale().formattedDataSize(static_cast<qint64>(bytes), 1);
}

} // namespace

QStringList MachineWatch::add(const MachineReading &reading)
{
    QStringList troubles;
    const auto note = [&troubles](const QString &trouble) {
        if (!trouble.isEmpty())
            troubles << trouble;
    };
    note(memoryTrouble(reading));
    note(clamp(reading.machine));
    note(throttle(reading.machine));
    note(slowState(reading));
    note(migration(reading));
    return troubles;
}

QString MachineWatch::memoryTrouble(const MachineReading &reading) const
{
    const auto &memory = reading.machine.memory;
    if (!memory || memory->available >= reading.reserveBytes)
        return {};
    return tr("Only %1 of memory are available; %2 should stay free. Close other programs: a "
              "computer that runs out of memory may stop responding.")
        .arg(bytesText(memory->available), bytesText(reading.reserveBytes));
}

QString MachineWatch::clamp(const MachineSample &machine)
{
    const GpuSample gpu = machine.gpu.value_or(GpuSample());
    const double clock = gpu.clockMegahertz.value_or(kClampMegahertz + 1);
    const double power = gpu.powerWatts.value_or(kClampWatts + 1);
    const bool hasReason = (gpu.reasons.value_or(0) & ~std::uint64_t { GpuIdle }) != 0;
    const bool isClamped
        = isBusy(gpu) && clock <= kClampMegahertz && power <= kClampWatts && !hasReason;
    m_clampedReadings = isClamped ? m_clampedReadings + 1 : 0;
    if (m_clampedReadings < kClampSeconds)
        return {};
    return tr("The GPU is held at %1 MHz and %2 W although it is busy, and gives no reason. "
              "Restarting does not help: shut down, unplug the power for a minute, start again.")
        .arg(QLocale().toString(clock, 'f', 0), QLocale().toString(power, 'f', 0));
}

QString MachineWatch::throttle(const MachineSample &machine)
{
    const GpuSample gpu = machine.gpu.value_or(GpuSample());
    const std::uint64_t reasons = gpu.reasons.value_or(0) & kThrottleReasons;
    m_throttledReadings = reasons != 0 ? m_throttledReadings + 1 : 0;
    if (m_throttledReadings < kThrottledSeconds)
        return {};
    if ((reasons & (GpuThermalSlowdown | GpuHardwareThermalSlowdown)) != 0) {
        return gpu.temperatureCelsius
            ? tr("The GPU slows down because it is hot (%1 °C). Make sure that air gets through.")
                  .arg(QLocale().toString(*gpu.temperatureCelsius, 'f', 0))
            : tr("The GPU slows down because it is hot. Make sure that air gets through.");
    }
    if ((reasons & GpuPowerBrake) != 0)
        return tr("The GPU slows down because the power supply asks for it.");
    if ((reasons & GpuPowerCap) != 0)
        return tr("The GPU is at its power limit.");
    return tr("The GPU slows down: its hardware asks for it, for heat or power.");
}

QString MachineWatch::slowState(const MachineReading &reading)
{
    if (!reading.stepsPerSecond) {
        m_slowReadings = 0;
        return {};
    }
    const double steps = *reading.stepsPerSecond;
    const bool isKnown = m_usualSteps.size() >= kUsualReadings;
    const double usual = isKnown ? medianOf(m_usualSteps) : 0;
    const GpuSample gpu = reading.machine.gpu.value_or(GpuSample());
    const bool isOnGpu = isBusy(gpu);
    const bool hasNormalClock = isOnGpu && gpu.clockMegahertz.value_or(0) > kClampMegahertz
        && (gpu.reasons.value_or(0) & kThrottleReasons) == 0;
    if (!isKnown || !hasNormalClock || steps >= kSlowShare * usual) {
        m_slowReadings = 0;
        if (isOnGpu) {
            m_usualSteps.push_back(steps);
            if (m_usualSteps.size() > kUsualMost)
                m_usualSteps.pop_front();
        }
        return {};
    }
    // Not part of what is usual.
    if (++m_slowReadings < kSlowSeconds)
        return {};
    return tr("The model's steps take %1 times as long as usual although the GPU's clock is "
              "normal. A DGX Spark can fall into such a state; it ends after 7 to 32 seconds.")
        .arg(QLocale().toString(usual / std::max(steps, 0.01), 'f', 1));
}

QString MachineWatch::migration(const MachineReading &reading)
{
    m_migrations.push_back({ reading.time, reading.machine.migratedBytes.value_or(0) });
    while (m_migrations.front().time <= reading.time - kMigrationMilliseconds)
        m_migrations.pop_front();
    std::uint64_t moved = 0;
    for (const Migration &migration : m_migrations)
        moved += migration.bytes;
    if (moved < kMigratedBytes || !reading.stepsPerSecond)
        return {};
    return tr("The system moved %1 of memory within ten seconds, which slows the answer down.")
        .arg(bytesText(moved));
}

} // namespace firesteel::app
