// SPDX-License-Identifier: MIT
//
// The versions of the database, one numbered step after another. A component that keeps tables adds
// a step at the end of migrations.cpp; a step that has shipped is never changed.
#pragma once

#include "app/store/store_error.h"

#include <QSqlDatabase>
#include <QString>
#include <QStringList>

#include <span>

namespace firesteel::app {

struct Migration
{
    int version = 0; // of the database after this step: 1, 2, 3 ...
    QString owner; // the folder whose code reads and writes these tables
    QStringList statements; // run in one transaction
};

std::span<const Migration> migrations(); // all of them, in order

int newestVersion(std::span<const Migration> steps);
StoreResult<int> databaseVersion(const QSqlDatabase &database);

// Runs the steps after the database's version, each in a transaction of its own that also sets the
// version: an interrupted migration continues where it was. Errors: Newer; as the statements.
StoreResult<void> migrate(const QSqlDatabase &database, std::span<const Migration> steps);

} // namespace firesteel::app
