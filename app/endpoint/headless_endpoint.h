// SPDX-License-Identifier: MIT
//
// `firesteel --headless`: the endpoint without a window. Called by main() in its place.
#pragma once

#include "app/inference/engine_controller.h"
#include "engine/api/engine.h"

#include <QString>

#include <memory>
#include <optional>

namespace firesteel::app {

struct HeadlessEndpointSetup
{
    EngineSetup engine; // findModel, where a person named a model
    bool isModelGiven = false; // by command line or environment: no choice of before counts
    std::optional<int> port; // instead of the settings'
    QString settingsFile; // empty: in the user's configuration folder
};

// Runs an event loop; needs a QCoreApplication. 0 after a signal or quit(); 1 with the reason on
// standard error where the address cannot be used, no model is found, or the engine fails.
int runEndpoint(std::unique_ptr<engine::Engine> engine, HeadlessEndpointSetup setup);

// `firesteel --new-key` and `--remove-key`: the key itself goes to standard output, the one time
// that it can be seen. A running endpoint knows of either when it is started again. 0, or 1 with
// the reason on standard error.
int makeEndpointKey(const QString &name, const QString &settingsFile);
int removeEndpointKeys(const QString &name, const QString &settingsFile); // all of that name

} // namespace firesteel::app
