// SPDX-License-Identifier: MIT
#include "app/setup/machine_check.h"

#include <QCoreApplication>
#include <QLocale>

#include <algorithm>

namespace firesteel::app {

namespace {

using namespace Qt::Literals::StringLiterals;

constexpr qsizetype kDisk = 3; // its place in the list

struct Words
{
    Q_DECLARE_TR_FUNCTIONS(MachineCheck)
};

QString memoryText(qint64 bytes)
{
    return QLocale().formattedDataSize(bytes, 1, QLocale::DataSizeIecFormat);
}

QString diskText(qint64 bytes)
{
    return QLocale().formattedDataSize(bytes, 1, QLocale::DataSizeSIFormat);
}

MachineCheck checkGpu(const MachineFacts &facts)
{
    MachineCheck check;
    check.name = Words::tr("GPU");
    check.isGood = !facts.gpuName.isEmpty();
    check.found = check.isGood ? facts.gpuName : Words::tr("No NVIDIA GPU was found.");
    check.needed = Words::tr("GLM-5.3-Flash needs an NVIDIA GPU that can use about 100 GB of "
                             "memory, such as the one of a DGX Spark.");
    return check;
}

MachineCheck checkDriver(const MachineFacts &facts, const MachineNeeds &needs)
{
    MachineCheck check;
    check.name = Words::tr("Driver");
    check.isGood = facts.driverVersion.section(u'.', 0, 0).toInt() >= needs.driverMajor;
    check.found = facts.driverVersion.isEmpty()
        ? Words::tr("No NVIDIA driver was found.")
        : Words::tr("NVIDIA driver %1").arg(facts.driverVersion);
    check.needed = Words::tr("GLM-5.3-Flash needs version %1 or newer.").arg(needs.driverMajor);
    return check;
}

MachineCheck checkMemory(const MachineFacts &facts, const MachineNeeds &needs)
{
    MachineCheck check;
    check.name = Words::tr("Memory");
    if (!facts.memoryTotal || !facts.memoryAvailable) {
        check.found = Words::tr("The system does not say how much there is.");
    } else {
        check.isGood = *facts.memoryTotal >= needs.memoryBytes + needs.reserveBytes;
        check.found = Words::tr("%1, of which %2 are free now.")
                          .arg(memoryText(*facts.memoryTotal), memoryText(*facts.memoryAvailable));
    }
    check.needed = Words::tr("GLM-5.3-Flash needs %1, and %2 should stay free for everything else.")
                       .arg(memoryText(needs.memoryBytes), memoryText(needs.reserveBytes));
    if (check.isGood && *facts.memoryAvailable < needs.memoryBytes + needs.reserveBytes)
        check.needed += u' ' + Words::tr("Close other programs before you load it.");
    return check;
}

MachineCheck checkDisk(const MachineFacts &facts, const MachineNeeds &needs)
{
    MachineCheck check;
    check.name = Words::tr("Disk");
    check.isGood = facts.diskFree && *facts.diskFree >= needs.diskBytes;
    check.found = facts.diskFree
        ? Words::tr("%1 are free in %2.").arg(diskText(*facts.diskFree), facts.diskRoot)
        : Words::tr("The folder of models cannot be reached.");
    check.needed = needs.diskBytes > 0
        ? Words::tr("The download needs %1, with what should stay free.")
              .arg(diskText(needs.diskBytes))
        : Words::tr("Nothing is left to download.");
    return check;
}

} // namespace

QList<MachineCheck> checkMachine(const MachineFacts &facts, const MachineNeeds &needs)
{
    return { checkGpu(facts), checkDriver(facts, needs), checkMemory(facts, needs),
             checkDisk(facts, needs) };
}

bool canRunTarget(const QList<MachineCheck> &checks)
{
    return checks.size() > kDisk
        && std::all_of(checks.begin(), checks.begin() + kDisk,
                       [](const MachineCheck &check) { return check.isGood; });
}

} // namespace firesteel::app
