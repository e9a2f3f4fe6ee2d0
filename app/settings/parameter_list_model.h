// SPDX-License-Identifier: MIT
//
// The parameters of an answer as rows to be edited: what was chosen, over what applies otherwise.
// The owner (a preset, a chat) hands the values in with show() and takes them back at `edited`.
#pragma once

#include "app/settings/request_settings.h"

#include <QAbstractListModel>
#include <QtQml/qqmlregistration.h>

namespace firesteel::app {

class ParameterListModel : public QAbstractListModel
{
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("Presets and chats own theirs")
    Q_PROPERTY(bool editable READ isEditable NOTIFY editableChanged FINAL)
    Q_PROPERTY(int chosenCount READ chosenCount NOTIFY chosenCountChanged FINAL)

public:
    enum Role {
        KeyRole = Qt::UserRole, // QString
        KindRole, // Kind
        LabelRole, // QString
        HintRole, // QString
        ChosenRole, // bool: false: what applies otherwise is shown
        TextRole, // QString: what applies, as it is typed
        NumberRole, // double: Real and Integer; of a Choice its index
        CheckedRole, // bool: of a Flag
        OtherwiseRole, // QString: "Model's default: 0.95"
        LeastRole, // double
        GreatestRole, // double
        StepRole, // double
        ChoicesRole, // QStringList: labels of a Choice
        NoteRole, // QString: what was wrong with the last input
    };
    Q_ENUM(Role)
    enum class Kind { Real, Integer, Text, Lines, Flag, Choice }; // as ParameterFacts::Kind
    Q_ENUM(Kind)

    // isOverPreset: `base` is a preset, and a value equal to what it gives is no choice.
    explicit ParameterListModel(bool isOverPreset, QObject *parent = nullptr);

    void show(const RequestSettings &chosen, const RequestSettings &base,
              const engine::SamplingParams &model, bool editable);
    const RequestSettings &chosen() const { return m_chosen; }
    bool isEditable() const { return m_isEditable; }
    int chosenCount() const;

    int rowCount(const QModelIndex &parent = {}) const override;
    QVariant data(const QModelIndex &index, int role) const override;
    QHash<int, QByteArray> roleNames() const override;

    // What cannot be a value changes nothing and leaves a note; what is out of range is brought
    // into it and leaves one too.
    Q_INVOKABLE void setText(int row, const QString &text);
    Q_INVOKABLE void setNumber(int row, double number); // of a Choice: its index
    Q_INVOKABLE void setChecked(int row, bool checked);
    Q_INVOKABLE void reset(int row);
    Q_INVOKABLE void resetAll();

Q_SIGNALS:
    void edited();
    void editableChanged();
    void chosenCountChanged();

private:
    RequestParameter parameterAt(int row) const;
    bool canEdit(int row) const;
    QJsonValue otherwise(RequestParameter parameter) const;
    QJsonValue effective(RequestParameter parameter) const;
    void choose(int row, const QJsonValue &value, const QString &note);
    void setNote(int row, const QString &note);
    void changed(int row);

    bool m_isOverPreset;
    bool m_isEditable = false;
    RequestSettings m_chosen;
    RequestSettings m_base;
    engine::SamplingParams m_model;
    int m_noteRow = -1;
    QString m_note;
};

} // namespace firesteel::app
