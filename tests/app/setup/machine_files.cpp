// SPDX-License-Identifier: MIT
#include "tests/app/setup/machine_files.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>

namespace firesteel::test {

namespace {

using namespace Qt::Literals::StringLiterals;

void write(const QString &path, const QByteArray &text)
{
    QFile file(path);
    if (!QDir().mkpath(QFileInfo(path).path()) || !file.open(QIODevice::WriteOnly)
        || file.write(text) != text.size())
        qFatal("%s: cannot be written", qPrintable(path));
}

void writeDriver(const QString &folder, const QByteArray &version)
{
    write(folder + u"/driver/nvidia/version"_s,
          "NVRM version: NVIDIA UNIX Open Kernel Module for aarch64  " + version
              + "  Release Build  (builder@host)  Mon Sep  1 12:00:00 UTC 2026\n"
                "GCC version:  gcc version 13.3.0 (Ubuntu 13.3.0-6ubuntu2~24.04)\n");
    write(folder + u"/driver/nvidia/gpus/000f:01:00.0/information"_s,
          "Model: \t\t NVIDIA GB10\nIRQ:   \t\t 312\nGPU UUID: \t GPU-0\nBus Type: \t PCIe\n");
}

} // namespace

void writeMachine(const QString &folder, const QString &machine)
{
    QDir(folder).removeRecursively();
    if (machine == "strange"_L1) {
        write(folder + u"/driver/nvidia/version"_s, "NVRM version: none\n");
        write(folder + u"/meminfo"_s, "MemTotal: much kB\n");
        return;
    }
    const bool isSpark = machine != "laptop"_L1;
    if (isSpark)
        writeDriver(folder, machine == "old driver"_L1 ? "570.133.20" : "580.95.05");
    write(folder + u"/meminfo"_s,
          isSpark ? "MemTotal:       127600748 kB\nMemFree:         1600748 kB\n"
                    "MemAvailable:   112600748 kB\nBuffers:          100000 kB\n"
                  : "MemTotal:        16264172 kB\nMemFree:         1600748 kB\n"
                    "MemAvailable:   11264172 kB\nBuffers:          100000 kB\n");
}

} // namespace firesteel::test
