// SPDX-License-Identifier: MIT
//
// `firesteel --download` and `--accept-license` without a window: the same database, the same
// rules, lines on standard output. Called by main() in place of the window.
#pragma once

#include "app/models/models_controller.h"

#include <QString>
#include <QStringList>

namespace firesteel::app {

struct HeadlessRequest
{
    QStringList downloads; // "repository@revision" of the catalogue
    QStringList accepted; // likewise: licences the person accepts by naming them

    bool isEmpty() const { return downloads.isEmpty() && accepted.isEmpty(); }
};

// Runs an event loop; needs a QCoreApplication. 0 when everything named is done, else 1 with the
// reason on standard error.
int runHeadless(const HeadlessRequest &request, ModelsController::Setup setup,
                const QString &databaseFile);

} // namespace firesteel::app
