// SPDX-License-Identifier: MIT
//
// The presets: a name, a system prompt, sampling and thinking. Row 0 is "Standard", which keeps the
// model's defaults and is not stored; the others are the user's. One of them is what a new chat
// starts with, one is being edited. Owned by Application; chats look up theirs by id.
#pragma once

#include "app/settings/parameter_list_model.h"
#include "app/settings/preset_tables.h"
#include "app/store/database_thread.h"

#include <QAbstractListModel>
#include <QtQml/qqmlregistration.h>

#include <optional>
#include <vector>

namespace firesteel::app {

class PresetLibrary : public QAbstractListModel
{
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("Application owns the presets")
    Q_PROPERTY(int currentRow READ currentRow WRITE setCurrentRow NOTIFY currentChanged FINAL)
    Q_PROPERTY(firesteel::app::ParameterListModel *parameters READ parameters CONSTANT FINAL)
    Q_PROPERTY(bool canUndoRemove READ canUndoRemove NOTIFY removedChanged FINAL)
    Q_PROPERTY(QString removedName READ removedName NOTIFY removedChanged FINAL)
    Q_PROPERTY(QString notice READ notice NOTIFY noticeChanged FINAL)

public:
    enum Role {
        PresetIdRole = Qt::UserRole, // QString
        NameRole, // QString
        DefaultRole, // bool: new chats start with it
        StandardRole, // bool: cannot be changed
    };
    Q_ENUM(Role)

    static constexpr RecordId kStandard = 0;

    // The database must outlive the library.
    explicit PresetLibrary(DatabaseThread &database, QObject *parent = nullptr);

    void open(); // reads what is stored; `presetsChanged` follows

    // Null where there is none with this id (any more).
    const Preset *find(RecordId id) const;
    RecordId defaultId() const { return m_defaultId; }
    // For the words about defaults.
    const engine::SamplingParams &model() const { return m_model; }
    void setModel(const engine::SamplingParams &model);
    // Adds one; the name is made unique. Returns its id.
    RecordId add(const QString &name, const RequestSettings &settings);

    Q_INVOKABLE void create();
    Q_INVOKABLE void duplicate(int row);
    Q_INVOKABLE void rename(int row, const QString &name); // not Standard; never to nothing
    Q_INVOKABLE void remove(int row);
    Q_INVOKABLE void undoRemove();
    Q_INVOKABLE void makeDefault(int row);
    Q_INVOKABLE void dismissNotice();

    int currentRow() const { return m_currentRow; }
    void setCurrentRow(int row);
    ParameterListModel *parameters() { return &m_parameters; } // of the current row
    bool canUndoRemove() const { return m_removed.has_value(); }
    QString removedName() const { return m_removed ? m_removed->preset.name : QString(); }
    QString notice() const { return m_notice; }

    int rowCount(const QModelIndex &parent = {}) const override;
    QVariant data(const QModelIndex &index, int role) const override;
    QHash<int, QByteArray> roleNames() const override;

Q_SIGNALS:
    void presetsChanged(); // any of them, the default or the model
    void currentChanged();
    void removedChanged();
    void noticeChanged();

private:
    struct Removed
    {
        Preset preset;
        int row = 0;
        bool wasDefault = false;
    };

    const Preset &at(int row) const { return m_presets[static_cast<std::size_t>(row)]; }
    int count() const { return static_cast<int>(m_presets.size()); }
    bool isOwn(int row) const { return row > 0 && row < count(); }
    int rowOf(RecordId id) const;
    QString uniqueName(const QString &wanted, RecordId of) const;
    void insert(int row, Preset preset);
    void setDefault(RecordId id);
    void showCurrent();
    void onEdited();

    DatabaseThread &m_database;
    std::vector<Preset> m_presets; // [0]: Standard
    RecordId m_defaultId = kStandard;
    engine::SamplingParams m_model;
    int m_currentRow = 0;
    ParameterListModel m_parameters;
    std::optional<Removed> m_removed; // the last one
    QString m_notice;
};

} // namespace firesteel::app
