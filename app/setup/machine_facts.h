// SPDX-License-Identifier: MIT
//
// What this machine is, as far as a first run needs to know. Read once, on a worker: the disk may
// take its time. A value that the machine does not give is empty, never zero.
#pragma once

#include <QString>

#include <optional>

namespace firesteel::app {

struct MachineFacts
{
    QString gpuName; // "NVIDIA GB10"; empty: none that the driver knows
    QString driverVersion; // "580.95.05"; empty: no driver
    std::optional<qint64> memoryTotal; // bytes
    std::optional<qint64> memoryAvailable; // bytes, caches that can be dropped included
    std::optional<qint64> diskFree; // bytes, where models live
    QString diskRoot; // mount point of that file system
};

// `procFolder` is /proc except in tests. The nearest existing parent of `modelsFolder` tells the
// file system.
MachineFacts readMachineFacts(const QString &procFolder, const QString &modelsFolder);

} // namespace firesteel::app
