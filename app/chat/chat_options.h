// SPDX-License-Identifier: MIT
//
// How one chat is answered: by which engine, with which preset and what differs from it. A chat
// that was not stored yet follows the default preset. The chat keeps a copy of the preset it last
// used, so an exported chat is whole and a deleted preset goes on working. Owned by
// ConversationController.
#pragma once

#include "app/remote/remote_engines.h"
#include "app/settings/parameter_list_model.h"
#include "app/settings/preset_library.h"

#include <QJsonObject>
#include <QObject>
#include <QtQml/qqmlregistration.h>

#include <optional>

namespace firesteel::app {

class ChatOptions : public QObject
{
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("A conversation owns its options")
    Q_PROPERTY(QString presetId READ presetId NOTIFY changed FINAL)
    Q_PROPERTY(QString presetName READ presetName NOTIFY changed FINAL)
    Q_PROPERTY(bool presetGone READ isPresetGone NOTIFY changed FINAL)
    Q_PROPERTY(bool differs READ differs NOTIFY changed FINAL)
    Q_PROPERTY(firesteel::app::ParameterListModel *parameters READ parameters CONSTANT FINAL)
    Q_PROPERTY(firesteel::app::PresetLibrary *presets READ presets CONSTANT FINAL)
    Q_PROPERTY(QString notice READ notice NOTIFY changed FINAL)
    // Empty: this machine's.
    Q_PROPERTY(QString engineId READ engineId NOTIFY changed FINAL)
    Q_PROPERTY(QString engineName READ engineName NOTIFY changed FINAL)
    Q_PROPERTY(QString engineNotice READ engineNotice NOTIFY changed FINAL)
    Q_PROPERTY(firesteel::app::RemoteEngines *engines READ engines CONSTANT FINAL)

public:
    // Both must outlive the options.
    ChatOptions(PresetLibrary &presets, RemoteEngines &engines, QObject *parent = nullptr);

    // The members of a stored conversation's settings, unknown ones included.
    void load(const QJsonObject &settings);
    QJsonObject json() const;
    // Preset and engine are no longer the defaults' business, and the copy is what applies now.
    // Returns whether json() changed.
    bool pin();

    RequestSettings effective() const;
    int thinkingEffort() const; // index into choicesOf(Thinking)
    void setThinkingEffort(int effort);

    QString presetId() const;
    QString presetName() const;
    bool isPresetGone() const; // deleted, or of another computer
    bool differs() const { return !m_own.isEmpty(); }
    QString notice() const { return m_notice; } // about values that had to be changed
    ParameterListModel *parameters() { return &m_parameters; }
    PresetLibrary *presets() const { return &m_library; }
    RemoteEngines *engines() const { return &m_engines; }
    const RemoteEngine *engine() const; // null: this machine's
    QString engineId() const;
    QString engineName() const;
    QString engineNotice() const; // about one that was removed, or the way to it
    Q_INVOKABLE void chooseEngine(const QString &id); // empty: this machine's

    Q_INVOKABLE void choosePreset(const QString &id); // what differs is forgotten
    Q_INVOKABLE void resetToPreset();
    Q_INVOKABLE void saveAsPreset(); // what applies, as a new preset that this chat then uses

Q_SIGNALS:
    void changed(); // anything shown
    void edited(); // json() changed, by a person

private:
    struct EngineChoice
    {
        QString id; // empty: this machine's
        QString name; // for when it is gone
    };

    EngineChoice engineChoice() const;
    Preset preset() const; // the library's, or the copy
    void showParameters();
    void onEdited();

    PresetLibrary &m_library;
    RemoteEngines &m_engines;
    std::optional<EngineChoice> m_engine; // unset: follows the default
    std::optional<Preset> m_copy; // unset: follows the default
    RequestSettings m_own;
    QJsonObject m_otherSettings; // of a later version: kept as they are
    QString m_notice;
    ParameterListModel m_parameters;
};

} // namespace firesteel::app
