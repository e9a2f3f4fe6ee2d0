// SPDX-License-Identifier: MIT
//
// Lets SIGTERM, SIGINT and SIGHUP end the program the way closing its window does, so that
// everything is stored and joined.
#pragma once

class QCoreApplication;

namespace firesteel::app {

void quitOnTermination(QCoreApplication &application);

} // namespace firesteel::app
