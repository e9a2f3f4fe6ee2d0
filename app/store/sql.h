// SPDX-License-Identifier: MIT
//
// Running statements with StoreResult instead of QSqlQuery's booleans. Used by every component that
// keeps tables; only on the database thread.
#pragma once

#include "app/store/store_error.h"

#include <QSqlDatabase>
#include <QSqlQuery>
#include <QStringList>
#include <QVariantList>

#include <functional>

namespace firesteel::app {

StoreError storeErrorOf(const QSqlError &error);

// Runs one statement with its values bound to the question marks in order.
StoreResult<QSqlQuery> execute(const QSqlDatabase &database, const QString &statement,
                               const QVariantList &values = {});

// A statement to be run many times, with runPrepared().
StoreResult<QSqlQuery> prepared(const QSqlDatabase &database, const QString &statement);
StoreResult<void> runPrepared(QSqlQuery &query, const QVariantList &values);

// Runs statements that take no values, up to the first that fails.
StoreResult<void> executeAll(const QSqlDatabase &database, const QStringList &statements);

// Calls visit for each row left, until visit returns false.
StoreResult<void> forEachRow(QSqlQuery &query, const std::function<bool(const QSqlQuery &)> &visit);

// First column of the first row. NotFound without a row.
StoreResult<QVariant> singleValue(const QSqlDatabase &database, const QString &statement,
                                  const QVariantList &values = {});

} // namespace firesteel::app
