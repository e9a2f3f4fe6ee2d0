// SPDX-License-Identifier: MIT
//
// Notices when the machine is in trouble and says so in sentences: too little memory, a GPU that is
// throttled, and the faults that DGX Sparks are known for. Fed one reading a second.
#pragma once

#include "app/monitor/machine_reader.h"

#include <QCoreApplication>
#include <QStringList>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

namespace firesteel::app {

struct MachineReading
{
    qint64 time = 0; // milliseconds, of one clock that never goes back
    MachineSample machine;
    std::uint64_t reserveBytes = 0; // of available memory that should stay
    // Steps of the model per second, where one request was decoding all the time since the reading
    // before.
    std::optional<double> stepsPerSecond;
};

class MachineWatch
{
    Q_DECLARE_TR_FUNCTIONS(MachineWatch)

public:
    // Thresholds measured on DGX Sparks by others. The clamp: 507 to 890 MHz at 12 to 14 W without
    // a reason, where a busy GPU takes 42 to 92 W at 2,000 MHz and more.
    static constexpr double kClampMegahertz = 900;
    static constexpr double kClampWatts = 20;
    static constexpr double kBusyPercent = 50;
    static constexpr int kClampSeconds = 10;
    // The slow state: reads of weights fall from 224-233 GB/s to 66-80, a third, for 7 to 32 s,
    // with a normal clock. Steps of one row and of six differ by 2.4, so less than 0.4 is not that.
    static constexpr double kSlowShare = 0.4;
    static constexpr int kSlowSeconds = 3;
    static constexpr std::size_t kUsualReadings = 10; // at least, of the last kUsualMost
    static constexpr std::size_t kUsualMost = 120;
    // Bursts of migrated pages: 0.2 GB and more.
    static constexpr std::uint64_t kMigratedBytes = 200'000'000;
    static constexpr qint64 kMigrationMilliseconds = 10'000;
    static constexpr int kThrottledSeconds = 3;

    // What is wrong now, the most pressing first; empty when nothing is.
    QStringList add(const MachineReading &reading);

private:
    QString memoryTrouble(const MachineReading &reading) const;
    QString clamp(const MachineSample &machine);
    QString throttle(const MachineSample &machine);
    QString slowState(const MachineReading &reading);
    QString migration(const MachineReading &reading);

    int m_clampedReadings = 0;
    int m_slowReadings = 0;
    int m_throttledReadings = 0;
    std::deque<double> m_usualSteps; // per second
    struct Migration
    {
        qint64 time = 0;
        std::uint64_t bytes = 0;
    };
    std::deque<Migration> m_migrations;
};

} // namespace firesteel::app
