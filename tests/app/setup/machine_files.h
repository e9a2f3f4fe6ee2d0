// SPDX-License-Identifier: MIT
//
// A made-up /proc, as far as a first run reads it.
#pragma once

#include <QString>

namespace firesteel::test {

// "spark": a DGX Spark. "old driver": one with a driver before CUDA 13. "laptop": no GPU, 16 GB.
// "strange": files that make no sense. Replaces what is in the folder.
void writeMachine(const QString &folder, const QString &machine);

} // namespace firesteel::test
