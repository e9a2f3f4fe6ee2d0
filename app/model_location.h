// SPDX-License-Identifier: MIT
//
// Where the model is: the folder named on the command line, else the one in FIRESTEEL_MODEL, else
// the one that came with the program. Called by main() through EngineSetup::findModel, on a worker,
// again at each retry.
#pragma once

#include "app/inference/engine_controller.h"

#include <QString>

namespace firesteel::app {

// A place a person named is taken as it is, so that what is wrong with it can be said.
// `programFolder` holds the executable.
ModelLocation findModel(const QString &commandLine, const QString &environment,
                        const QString &programFolder);

} // namespace firesteel::app
