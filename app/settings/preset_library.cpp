// SPDX-License-Identifier: MIT
#include "app/settings/preset_library.h"

#include <algorithm>
#include <utility>

namespace firesteel::app {

namespace {

constexpr qsizetype kLongestName = 80;

} // namespace

PresetLibrary::PresetLibrary(DatabaseThread &database, QObject *parent)
    : QAbstractListModel(parent)
    , m_database(database)
    , m_presets { Preset { kStandard, tr("Standard"), {} } }
    , m_parameters(false)
{
    connect(&m_parameters, &ParameterListModel::edited, this, &PresetLibrary::onEdited);
    showCurrent();
}

void PresetLibrary::open()
{
    m_database.read(readPresets).then(this, [this](const StoreResult<StoredPresets> &stored) {
        if (!stored)
            return; // the store's own notice says why
        beginResetModel();
        m_presets.erase(m_presets.begin() + 1, m_presets.end());
        m_presets.insert(m_presets.end(), stored->presets.begin(), stored->presets.end());
        m_defaultId = stored->defaultId;
        m_notice = stored->notes.join(u'\n');
        m_currentRow = rowOf(m_defaultId);
        endResetModel();
        showCurrent();
        Q_EMIT currentChanged();
        Q_EMIT noticeChanged();
        Q_EMIT presetsChanged();
    });
}

const Preset *PresetLibrary::find(RecordId id) const
{
    const auto found = std::ranges::find(m_presets, id, &Preset::id);
    return found == m_presets.end() ? nullptr : &*found;
}

int PresetLibrary::rowOf(RecordId id) const
{
    const auto found = std::ranges::find(m_presets, id, &Preset::id);
    return found == m_presets.end() ? 0 : static_cast<int>(found - m_presets.begin());
}

void PresetLibrary::setModel(const engine::SamplingParams &model)
{
    m_model = model;
    showCurrent();
    Q_EMIT presetsChanged();
}

QString PresetLibrary::uniqueName(const QString &wanted, RecordId of) const
{
    const QString base = wanted.simplified().left(kLongestName);
    const auto isTaken = [this, of](const QString &name) {
        return std::ranges::any_of(m_presets, [&](const Preset &preset) {
            return preset.id != of && preset.name == name;
        });
    };
    QString name = base;
    for (int number = 2; isTaken(name); ++number)
        name = tr("%1 %2", "a name that is taken, a number").arg(base).arg(number);
    return name;
}

void PresetLibrary::insert(int row, Preset preset)
{
    m_database.keep([preset](const QSqlDatabase &sql) { return writePreset(sql, preset); });
    beginInsertRows({}, row, row);
    m_presets.insert(m_presets.begin() + row, std::move(preset));
    endInsertRows();
    m_currentRow = row;
    showCurrent();
    Q_EMIT currentChanged();
    Q_EMIT presetsChanged();
}

RecordId PresetLibrary::add(const QString &name, const RequestSettings &settings)
{
    const RecordId id = newRecordId();
    insert(count(), { id, uniqueName(name, id), settings });
    return id;
}

void PresetLibrary::create() { add(tr("New preset"), {}); }

void PresetLibrary::duplicate(int row)
{
    if (row >= 0 && row < count())
        add(at(row).name, RequestSettings(at(row).settings));
}

void PresetLibrary::rename(int row, const QString &name)
{
    const QString wanted = name.simplified().left(kLongestName);
    if (!isOwn(row) || wanted.isEmpty() || wanted == at(row).name)
        return;
    Preset &preset = m_presets[static_cast<std::size_t>(row)];
    preset.name = uniqueName(wanted, preset.id);
    m_database.keep([preset](const QSqlDatabase &sql) { return writePreset(sql, preset); });
    Q_EMIT dataChanged(index(row), index(row), { NameRole });
    Q_EMIT presetsChanged();
}

void PresetLibrary::remove(int row)
{
    if (!isOwn(row))
        return;
    m_removed = Removed { at(row), row, at(row).id == m_defaultId };
    m_database.keep([id = at(row).id](const QSqlDatabase &sql) { return deletePreset(sql, id); });
    beginRemoveRows({}, row, row);
    m_presets.erase(m_presets.begin() + row);
    endRemoveRows();
    if (m_removed->wasDefault)
        setDefault(kStandard);
    m_currentRow = std::min(m_currentRow, count() - 1);
    showCurrent();
    Q_EMIT currentChanged();
    Q_EMIT removedChanged();
    Q_EMIT presetsChanged();
}

void PresetLibrary::undoRemove()
{
    if (!m_removed)
        return;
    const Removed removed = *std::exchange(m_removed, std::nullopt);
    const RecordId id = removed.preset.id;
    insert(std::clamp(removed.row, 1, count()), removed.preset);
    if (removed.wasDefault)
        setDefault(id);
    Q_EMIT removedChanged();
}

void PresetLibrary::makeDefault(int row)
{
    if (row >= 0 && row < count())
        setDefault(at(row).id);
}

void PresetLibrary::setDefault(RecordId id)
{
    if (id == m_defaultId)
        return;
    m_defaultId = id;
    m_database.keep([id](const QSqlDatabase &sql) { return writeDefaultPreset(sql, id); });
    Q_EMIT dataChanged(index(0), index(count() - 1), { DefaultRole });
    Q_EMIT presetsChanged();
}

void PresetLibrary::setCurrentRow(int row)
{
    if (row < 0 || row >= count() || row == m_currentRow)
        return;
    m_currentRow = row;
    showCurrent();
    Q_EMIT currentChanged();
}

void PresetLibrary::showCurrent()
{
    m_parameters.show(at(m_currentRow).settings, {}, m_model, isOwn(m_currentRow));
}

void PresetLibrary::onEdited()
{
    Preset &preset = m_presets[static_cast<std::size_t>(m_currentRow)];
    preset.settings = m_parameters.chosen();
    m_database.keep([preset](const QSqlDatabase &sql) { return writePreset(sql, preset); });
    Q_EMIT presetsChanged();
}

void PresetLibrary::dismissNotice()
{
    m_notice.clear();
    Q_EMIT noticeChanged();
}

int PresetLibrary::rowCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_presets.size());
}

QVariant PresetLibrary::data(const QModelIndex &index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    const Preset &preset = at(index.row());
    switch (role) {
    case PresetIdRole:
        return QString::number(preset.id);
    case Qt::DisplayRole:
    case NameRole:
        return preset.name;
    case DefaultRole:
        return preset.id == m_defaultId;
    case StandardRole:
        return preset.id == kStandard;
    default:
        return {};
    }
}

QHash<int, QByteArray> PresetLibrary::roleNames() const
{
    return {
        { PresetIdRole, "presetId" },
        { NameRole, "name" },
        { DefaultRole, "isDefault" },
        { StandardRole, "isStandard" },
    };
}

} // namespace firesteel::app
