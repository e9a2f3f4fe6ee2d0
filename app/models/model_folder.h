// SPDX-License-Identifier: MIT
//
// Folders of models on the disk: what one holds that a person points at, and how one is deleted.
// Slow work for a worker thread; DownloadManager calls it.
#pragma once

#include "app/models/model_catalog.h"
#include "app/models/model_problem.h"
#include "app/models/model_tables.h"

#include <QString>

#include <optional>

namespace firesteel::app {

struct FoundFolder
{
    AddedFolder folder;
    std::optional<ModelProblem> problem;
};

// Told by the architecture in config.json; a drafter also by its weights' digest, which takes
// seconds.
FoundFolder inspectFolder(const QString &path, const ModelCatalog &catalog);

// Makes the folder where it is missing. The problem's detail says why files cannot be kept in it.
std::optional<ModelProblem> prepareModelsFolder(const QString &path);

// First out of the way in one step, then deleted: a kill between leaves no half model under its
// name, and sweepDeleted() does the rest at the next start.
void deleteFolder(const QString &folder);
void sweepDeleted(const QString &modelsFolder);

} // namespace firesteel::app
