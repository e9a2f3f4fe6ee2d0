// SPDX-License-Identifier: MIT
//
// What a machine has beside what GLM-5.3-Flash needs, in sentences. Pure functions; shown by the
// first run.
#pragma once

#include "app/setup/machine_facts.h"

#include <QList>
#include <QObject>
#include <QString>
#include <QtQml/qqmlregistration.h>

namespace firesteel::app {

class MachineCheck
{
    Q_GADGET
    QML_VALUE_TYPE(machineCheck)
    QML_STRUCTURED_VALUE
    Q_PROPERTY(QString name MEMBER name FINAL)
    Q_PROPERTY(QString found MEMBER found FINAL)
    Q_PROPERTY(QString needed MEMBER needed FINAL)
    Q_PROPERTY(bool good MEMBER isGood FINAL)

public:
    QString name; // "Memory"
    QString found; // "121.7 GiB, of which 96.2 GiB are free."
    QString needed; // a sentence of what GLM-5.3-Flash needs
    bool isGood = false;

    friend bool operator==(const MachineCheck &, const MachineCheck &) = default;
};

struct MachineNeeds
{
    // Public figures of this checkpoint at a context of 262,144 tokens: weights 79.4 GiB, then
    // drafter, caches, states and workspace.
    qint64 memoryBytes = 88LL << 30;
    qint64 reserveBytes = 8LL << 30; // for the desktop, at the least
    qint64 diskBytes = 0; // of what is still to be downloaded, with what must stay free
    int driverMajor = 580; // the first that runs CUDA 13
};

// GPU, driver, memory, disk, in this order.
QList<MachineCheck> checkMachine(const MachineFacts &facts, const MachineNeeds &needs);

// Whether GLM-5.3-Flash can run here once it is downloaded: everything but the disk.
bool canRunTarget(const QList<MachineCheck> &checks);

} // namespace firesteel::app
