// SPDX-License-Identifier: MIT
#include "app/settings/preset_tables.h"

#include "app/store/sql.h"

#include <QCoreApplication>
#include <QJsonDocument>

namespace firesteel::app {

namespace {

using namespace Qt::Literals::StringLiterals;

StoreResult<void> run(const QSqlDatabase &sql, const QString &statement, const QVariantList &values)
{
    const auto done = execute(sql, statement, values);
    return done ? StoreResult<void>() : std::unexpected(done.error());
}

} // namespace

StoreResult<StoredPresets> readPresets(const QSqlDatabase &sql)
{
    auto query = execute(sql, u"SELECT id, name, settings, is_default FROM presets ORDER BY id"_s);
    if (!query)
        return std::unexpected(query.error());
    StoredPresets stored;
    const auto read = forEachRow(*query, [&stored](const QSqlQuery &row) {
        Preset preset { row.value(0).toLongLong(), row.value(1).toString(), {} };
        QStringList notes;
        // What is no JSON gives an empty object: a preset of defaults that keeps its name.
        const auto json = QJsonDocument::fromJson(row.value(2).toByteArray());
        if (!json.isObject())
            notes << QCoreApplication::translate("Presets", "It could not be read.");
        preset.settings = RequestSettings::fromJson(json.object(), &notes);
        if (row.value(3).toBool())
            stored.defaultId = preset.id;
        if (!notes.isEmpty())
            stored.notes << QCoreApplication::translate("Presets", "Preset “%1”: %2")
                                .arg(preset.name, notes.join(u' '));
        stored.presets.push_back(std::move(preset));
        return true;
    });
    if (!read)
        return std::unexpected(read.error());
    return stored;
}

StoreResult<void> writePreset(const QSqlDatabase &sql, const Preset &preset)
{
    const auto json = QJsonDocument(preset.settings.json()).toJson(QJsonDocument::Compact);
    return run(
        sql,
        u"INSERT INTO presets (id, name, settings) VALUES (?, ?, ?)"
        " ON CONFLICT (id) DO UPDATE SET name = excluded.name, settings = excluded.settings"_s,
        { QVariant::fromValue<qlonglong>(preset.id), preset.name, QString::fromUtf8(json) });
}

StoreResult<void> deletePreset(const QSqlDatabase &sql, RecordId id)
{
    return run(sql, u"DELETE FROM presets WHERE id = ?"_s, { QVariant::fromValue<qlonglong>(id) });
}

StoreResult<void> writeDefaultPreset(const QSqlDatabase &sql, RecordId id)
{
    return run(sql, u"UPDATE presets SET is_default = (id = ?)"_s,
               { QVariant::fromValue<qlonglong>(id) });
}

} // namespace firesteel::app
