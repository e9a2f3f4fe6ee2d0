// SPDX-License-Identifier: MIT
#include "app/chat/chat_options.h"

namespace firesteel::app {

namespace {

using namespace Qt::Literals::StringLiterals;

constexpr auto kPreset = "preset"_L1;
constexpr auto kId = "id"_L1;
constexpr auto kName = "name"_L1;
constexpr auto kSettings = "settings"_L1;
constexpr auto kOwn = "overrides"_L1;
constexpr auto kEngine = "engine"_L1;
constexpr auto kEffortAlone = "thinkingEffort"_L1; // a number, before there were presets

} // namespace

ChatOptions::ChatOptions(PresetLibrary &presets, RemoteEngines &engines, QObject *parent)
    : QObject(parent)
    , m_library(presets)
    , m_engines(engines)
    , m_parameters(true)
{
    connect(&m_library, &PresetLibrary::presetsChanged, this, &ChatOptions::showParameters);
    connect(&m_engines, &RemoteEngines::enginesChanged, this, &ChatOptions::changed);
    connect(&m_parameters, &ParameterListModel::edited, this, &ChatOptions::onEdited);
    showParameters();
}

void ChatOptions::load(const QJsonObject &settings)
{
    QStringList notes;
    const QJsonObject preset = settings[kPreset].toObject();
    m_copy = Preset { preset[kId].toString().toLongLong(), preset[kName].toString(),
                      RequestSettings::fromJson(preset[kSettings].toObject(), &notes) };
    m_own = RequestSettings::fromJson(settings[kOwn].toObject(), &notes);
    if (const auto effort = settings[kEffortAlone]; !settings.contains(kOwn) && effort.isDouble())
        m_own.set(RequestParameter::Thinking,
                  choicesOf(RequestParameter::Thinking).value(effort.toInt()));
    m_notice = notes.join(u' ');
    const QJsonObject engine = settings[kEngine].toObject();
    m_engine = EngineChoice { engine[kId].toString(), engine[kName].toString() };
    m_otherSettings = settings;
    for (const auto key : { kPreset, kOwn, kEffortAlone, kEngine })
        m_otherSettings.remove(key);
    showParameters();
}

QJsonObject ChatOptions::json() const
{
    QJsonObject settings = m_otherSettings;
    if (m_copy && m_copy->id != PresetLibrary::kStandard) {
        settings[kPreset] = QJsonObject { { kId, QString::number(m_copy->id) },
                                          { kName, m_copy->name },
                                          { kSettings, m_copy->settings.json() } };
    }
    if (!m_own.json().isEmpty())
        settings[kOwn] = m_own.json();
    if (m_engine && !m_engine->id.isEmpty())
        settings[kEngine] = QJsonObject { { kId, m_engine->id }, { kName, m_engine->name } };
    return settings;
}

Preset ChatOptions::preset() const
{
    const RecordId id = m_copy ? m_copy->id : m_library.defaultId();
    if (const Preset *living = m_library.find(id))
        return *living;
    return m_copy.value_or(Preset {});
}

bool ChatOptions::pin()
{
    const QJsonObject before = json();
    const bool wasFollowing = !m_copy.has_value();
    m_copy = preset();
    m_engine = engineChoice();
    return wasFollowing || json() != before;
}

// With the name that the engine has now.
ChatOptions::EngineChoice ChatOptions::engineChoice() const
{
    EngineChoice choice = m_engine.value_or(EngineChoice { m_engines.defaultId(), {} });
    if (const RemoteEngine *engine = m_engines.find(choice.id))
        choice.name = engine->name;
    return choice;
}

const RemoteEngine *ChatOptions::engine() const { return m_engines.find(engineChoice().id); }

QString ChatOptions::engineId() const
{
    const RemoteEngine *chosen = engine();
    return chosen ? chosen->id : QString();
}

QString ChatOptions::engineName() const
{
    const RemoteEngine *chosen = engine();
    return chosen ? chosen->name : tr("This machine");
}

QString ChatOptions::engineNotice() const
{
    if (const RemoteEngine *chosen = engine())
        return unencryptedNotice(chosen->base);
    if (const EngineChoice choice = engineChoice(); !choice.id.isEmpty())
        return tr("%1 was removed: this machine answers.").arg(choice.name);
    return {};
}

void ChatOptions::chooseEngine(const QString &id)
{
    const RemoteEngine *chosen = m_engines.find(id);
    if (!id.isEmpty() && chosen == nullptr)
        return;
    m_engine = chosen ? EngineChoice { id, chosen->name } : EngineChoice {};
    Q_EMIT changed();
    Q_EMIT edited();
}

RequestSettings ChatOptions::effective() const { return m_own.over(preset().settings); }

int ChatOptions::thinkingEffort() const
{
    return static_cast<int>(
        choicesOf(RequestParameter::Thinking)
            .indexOf(effectiveValue(RequestParameter::Thinking, effective(), m_library.model())
                         .toString()));
}

void ChatOptions::setThinkingEffort(int effort)
{
    m_parameters.setNumber(static_cast<int>(RequestParameter::Thinking), effort);
}

QString ChatOptions::presetId() const { return QString::number(preset().id); }

QString ChatOptions::presetName() const { return preset().name; }

bool ChatOptions::isPresetGone() const { return m_library.find(preset().id) == nullptr; }

void ChatOptions::choosePreset(const QString &id)
{
    const Preset *chosen = m_library.find(id.toLongLong());
    if (chosen == nullptr)
        return;
    m_copy = *chosen;
    m_own = RequestSettings();
    showParameters();
    Q_EMIT edited();
}

void ChatOptions::resetToPreset() { m_parameters.resetAll(); }

void ChatOptions::saveAsPreset()
{
    const RequestSettings settings = effective();
    choosePreset(QString::number(m_library.add(presetName(), settings)));
}

void ChatOptions::showParameters()
{
    m_parameters.show(m_own, preset().settings, m_library.model(), true);
    Q_EMIT changed();
}

void ChatOptions::onEdited()
{
    m_own = m_parameters.chosen();
    m_notice.clear();
    Q_EMIT changed();
    Q_EMIT edited();
}

} // namespace firesteel::app
