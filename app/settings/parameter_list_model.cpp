// SPDX-License-Identifier: MIT
#include "app/settings/parameter_list_model.h"

#include <QLocale>

#include <utility>

namespace firesteel::app {

namespace {

int rowsOfParameters() { return static_cast<int>(requestParameters().size()); }

// Presets and chats are what a person sees; these belong to no model.
bool isOfModel(RequestParameter parameter)
{
    switch (parameter) {
    case RequestParameter::Temperature:
    case RequestParameter::TopP:
    case RequestParameter::TopK:
    case RequestParameter::MinP:
    case RequestParameter::RepetitionPenalty:
        return true;
    default:
        return false;
    }
}

} // namespace

ParameterListModel::ParameterListModel(bool isOverPreset, QObject *parent)
    : QAbstractListModel(parent)
    , m_isOverPreset(isOverPreset)
{
}

void ParameterListModel::show(const RequestSettings &chosen, const RequestSettings &base,
                              const engine::SamplingParams &model, bool editable)
{
    const int count = chosenCount();
    const bool wasEditable = std::exchange(m_isEditable, editable);
    m_chosen = chosen;
    m_base = base;
    m_model = model;
    m_noteRow = -1;
    m_note.clear();
    Q_EMIT dataChanged(index(0), index(rowsOfParameters() - 1));
    if (wasEditable != editable)
        Q_EMIT editableChanged();
    if (count != chosenCount())
        Q_EMIT chosenCountChanged();
}

int ParameterListModel::chosenCount() const
{
    int count = 0;
    for (const ParameterFacts &facts : requestParameters())
        count += m_chosen.has(facts.parameter) ? 1 : 0;
    return count;
}

int ParameterListModel::rowCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : rowsOfParameters();
}

RequestParameter ParameterListModel::parameterAt(int row) const
{
    return requestParameters()[static_cast<std::size_t>(row)].parameter;
}

QJsonValue ParameterListModel::otherwise(RequestParameter parameter) const
{
    return effectiveValue(parameter, m_base, m_model);
}

QJsonValue ParameterListModel::effective(RequestParameter parameter) const
{
    return m_chosen.has(parameter) ? m_chosen.value(parameter) : otherwise(parameter);
}

QVariant ParameterListModel::data(const QModelIndex &index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    const RequestParameter parameter = parameterAt(index.row());
    const ParameterFacts &facts = factsOf(parameter);
    const QJsonValue value = effective(parameter);
    switch (role) {
    case KeyRole:
        return QString(facts.key);
    case KindRole:
        return static_cast<int>(facts.kind);
    case Qt::DisplayRole:
    case LabelRole:
        return labelOf(parameter);
    case HintRole:
        return hintOf(parameter);
    case ChosenRole:
        return m_chosen.has(parameter);
    case TextRole:
        return valueText(parameter, value);
    case NumberRole:
        return facts.kind == ParameterFacts::Kind::Choice
            ? static_cast<double>(choicesOf(parameter).indexOf(value.toString()))
            : value.toDouble();
    case CheckedRole:
        return value.toBool();
    case OtherwiseRole: {
        const QString text = valueText(parameter, otherwise(parameter)).simplified();
        if (m_base.has(parameter))
            return text.isEmpty() ? tr("Preset: none") : tr("Preset: %1").arg(text);
        if (isOfModel(parameter))
            return tr("Model's default: %1").arg(text);
        return text.isEmpty() ? tr("Default: none") : tr("Default: %1").arg(text);
    }
    case LeastRole:
        return facts.least;
    case GreatestRole:
        return facts.greatest;
    case StepRole:
        return facts.step;
    case ChoicesRole:
        return choiceLabels(parameter);
    case NoteRole:
        return index.row() == m_noteRow ? m_note : QString();
    default:
        return {};
    }
}

QHash<int, QByteArray> ParameterListModel::roleNames() const
{
    return {
        { KeyRole, "key" },         { KindRole, "kind" },       { LabelRole, "label" },
        { HintRole, "hint" },       { ChosenRole, "chosen" },   { TextRole, "text" },
        { CheckedRole, "checked" }, { NumberRole, "number" },   { OtherwiseRole, "otherwise" },
        { StepRole, "step" },       { LeastRole, "least" },     { GreatestRole, "greatest" },
        { NoteRole, "note" },       { ChoicesRole, "choices" },
    };
}

bool ParameterListModel::canEdit(int row) const
{
    return m_isEditable && row >= 0 && row < rowsOfParameters();
}

void ParameterListModel::setText(int row, const QString &text)
{
    if (!canEdit(row))
        return;
    const RequestParameter parameter = parameterAt(row);
    const ParameterFacts &facts = factsOf(parameter);
    const bool isNumber
        = facts.kind == ParameterFacts::Kind::Real || facts.kind == ParameterFacts::Kind::Integer;
    if (isNumber && text.trimmed().isEmpty())
        return reset(row);
    const auto typed = valueFromText(parameter, text);
    const auto value = typed ? usableValue(parameter, *typed) : std::nullopt;
    if (!value) {
        setNote(row, tr("“%1” is no number.").arg(text.trimmed()));
        return;
    }
    QString note;
    if (isNumber && (typed->toDouble() < facts.least || typed->toDouble() > facts.greatest)) {
        constexpr int kDigits = 10;
        const QLocale locale;
        note = tr("From %1 to %2.")
                   .arg(locale.toString(facts.least, 'g', kDigits),
                        locale.toString(facts.greatest, 'g', kDigits));
    }
    choose(row, *value, note);
}

void ParameterListModel::setNumber(int row, double number)
{
    if (!canEdit(row))
        return;
    const RequestParameter parameter = parameterAt(row);
    const ParameterFacts &facts = factsOf(parameter);
    if (facts.kind == ParameterFacts::Kind::Choice) {
        const auto choice = static_cast<qsizetype>(number);
        if (choice >= 0 && choice < choicesOf(parameter).size())
            choose(row, choicesOf(parameter)[choice], {});
        return;
    }
    if (const auto value = usableValue(parameter, number))
        choose(row, *value, {});
}

void ParameterListModel::setChecked(int row, bool checked)
{
    if (canEdit(row) && factsOf(parameterAt(row)).kind == ParameterFacts::Kind::Flag)
        choose(row, checked, {});
}

void ParameterListModel::choose(int row, const QJsonValue &value, const QString &note)
{
    const RequestParameter parameter = parameterAt(row);
    setNote(row, note);
    if (m_isOverPreset && value == otherwise(parameter)) {
        if (m_chosen.has(parameter))
            return reset(row);
    } else if (!m_chosen.has(parameter) || m_chosen.value(parameter) != value) {
        m_chosen.set(parameter, value);
        return changed(row);
    }
    Q_EMIT dataChanged(index(row), index(row)); // the field shows what it became
}

void ParameterListModel::reset(int row)
{
    if (!canEdit(row) || !m_chosen.has(parameterAt(row)))
        return;
    m_chosen.reset(parameterAt(row));
    changed(row);
}

void ParameterListModel::resetAll()
{
    if (!m_isEditable || chosenCount() == 0)
        return;
    for (const ParameterFacts &facts : requestParameters())
        m_chosen.reset(facts.parameter);
    m_noteRow = -1;
    Q_EMIT dataChanged(index(0), index(rowsOfParameters() - 1));
    Q_EMIT chosenCountChanged();
    Q_EMIT edited();
}

void ParameterListModel::changed(int row)
{
    Q_EMIT dataChanged(index(row), index(row));
    Q_EMIT chosenCountChanged();
    Q_EMIT edited();
}

void ParameterListModel::setNote(int row, const QString &note)
{
    const int before = std::exchange(m_noteRow, note.isEmpty() ? -1 : row);
    m_note = note;
    for (const int noted : { before, m_noteRow }) {
        if (noted >= 0)
            Q_EMIT dataChanged(index(noted), index(noted), { NoteRole });
    }
}

} // namespace firesteel::app
