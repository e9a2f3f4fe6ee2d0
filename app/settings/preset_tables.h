// SPDX-License-Identifier: MIT
//
// Rows of presets: read, write. Called by PresetLibrary, on the database thread.
#pragma once

#include "app/settings/request_settings.h"
#include "app/store/record_id.h"
#include "app/store/store_error.h"

#include <QSqlDatabase>
#include <QString>

#include <vector>

namespace firesteel::app {

struct Preset
{
    RecordId id = 0;
    QString name;
    RequestSettings settings;
};

struct StoredPresets
{
    std::vector<Preset> presets; // in the order they were made
    RecordId defaultId = 0; // 0: the one that is not stored
    QStringList notes; // about values that had to be changed
};

StoreResult<StoredPresets> readPresets(const QSqlDatabase &sql);
StoreResult<void> writePreset(const QSqlDatabase &sql, const Preset &preset); // new or changed
StoreResult<void> deletePreset(const QSqlDatabase &sql, RecordId id);
StoreResult<void> writeDefaultPreset(const QSqlDatabase &sql, RecordId id);

} // namespace firesteel::app
