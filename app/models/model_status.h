// SPDX-License-Identifier: MIT
//
// One line of the page of models: what a model is and where it stands, as a plain value that
// DownloadManager hands to the GUI thread and the headless download.
#pragma once

#include "app/models/model_catalog.h"
#include "app/models/model_problem.h"
#include "app/models/model_tables.h"

#include <QString>

#include <optional>

namespace firesteel::app {

struct ModelStatus
{
    enum class State {
        Available, // not here, nothing under way
        Queued,
        Asking, // the hub, what there is
        Checking, // files that another program has downloaded
        Downloading,
        Waiting, // something failed and is tried again by itself
        Paused,
        Failed, // needs a person; what has arrived is kept
        Deleting,
        Ready, // whole and verified
        Added, // a folder of the person's own
        OtherWeights, // likewise, but not the weights that the catalogue pins
        Missing, // was ready or added, and the folder is gone
    };

    CatalogModel model; // of an added folder: as much as is known
    State state = State::Available;
    std::optional<Consent> consent;
    QString folder;
    qint64 bytes = 0;
    qint64 totalBytes = 0;
    double bytesPerSecond = 0; // of the last seconds
    ModelProblem problem; // while Waiting or Failed
    qint64 secondsToRetry = 0; // while Waiting
};

} // namespace firesteel::app
