// SPDX-License-Identifier: MIT
#include "app/settings/request_settings.h"

#include <QCoreApplication>
#include <QJsonArray>

namespace firesteel::app {

RequestSettings RequestSettings::fromJson(const QJsonObject &json, QStringList *notes)
{
    RequestSettings settings;
    settings.m_values = json;
    for (const ParameterFacts &facts : requestParameters()) {
        const auto stored = json.constFind(facts.key);
        if (stored == json.constEnd())
            continue;
        const auto usable = usableValue(facts.parameter, *stored);
        if (usable)
            settings.m_values[facts.key] = *usable;
        else
            settings.m_values.remove(facts.key);
        if (notes == nullptr || (usable && *usable == *stored))
            continue;
        notes->append(
            usable ? QCoreApplication::translate("RequestSettings", "%1 was out of range: now %2.")
                         .arg(labelOf(facts.parameter), valueText(facts.parameter, *usable))
                   : QCoreApplication::translate("RequestSettings",
                                                 "%1 could not be read: now the default.")
                         .arg(labelOf(facts.parameter)));
    }
    return settings;
}

bool RequestSettings::isEmpty() const
{
    for (const ParameterFacts &facts : requestParameters()) {
        if (has(facts.parameter))
            return false;
    }
    return true;
}

bool RequestSettings::has(RequestParameter parameter) const
{
    return m_values.contains(factsOf(parameter).key);
}

QJsonValue RequestSettings::value(RequestParameter parameter) const
{
    return m_values.value(factsOf(parameter).key);
}

void RequestSettings::set(RequestParameter parameter, const QJsonValue &value)
{
    if (const auto usable = usableValue(parameter, value))
        m_values[factsOf(parameter).key] = *usable;
}

void RequestSettings::reset(RequestParameter parameter) { m_values.remove(factsOf(parameter).key); }

RequestSettings RequestSettings::over(const RequestSettings &base) const
{
    RequestSettings joined = base;
    for (auto member = m_values.constBegin(); member != m_values.constEnd(); ++member)
        joined.m_values[member.key()] = member.value();
    return joined;
}

QJsonValue effectiveValue(RequestParameter parameter, const RequestSettings &settings,
                          const engine::SamplingParams &model)
{
    return settings.has(parameter) ? settings.value(parameter) : defaultValue(parameter, model);
}

RequestOptions requestOptions(const RequestSettings &settings, const engine::SamplingParams &model)
{
    RequestOptions options;
    options.sampling = model;
    const auto number = [&](RequestParameter parameter, float &value) {
        if (settings.has(parameter))
            value = static_cast<float>(settings.value(parameter).toDouble());
    };
    number(RequestParameter::Temperature, options.sampling.temperature);
    number(RequestParameter::TopP, options.sampling.topP);
    number(RequestParameter::MinP, options.sampling.minP);
    number(RequestParameter::RepetitionPenalty, options.sampling.repetitionPenalty);
    number(RequestParameter::PresencePenalty, options.sampling.presencePenalty);
    number(RequestParameter::FrequencyPenalty, options.sampling.frequencyPenalty);
    if (settings.has(RequestParameter::TopK))
        options.sampling.topK = settings.value(RequestParameter::TopK).toInt();

    const qint64 seed = settings.value(RequestParameter::Seed).toInteger(kRandomSeed);
    if (seed != kRandomSeed)
        options.sampling.seed = static_cast<std::uint64_t>(seed);
    const auto limit = [&](RequestParameter parameter, std::optional<int> &tokens) {
        const int chosen = settings.value(parameter).toInt(kNoTokenLimit);
        if (chosen != kNoTokenLimit)
            tokens = chosen;
    };
    limit(RequestParameter::MaxTokens, options.maxTokens);
    limit(RequestParameter::ThinkingBudget, options.thinkingBudget);
    const int draft = settings.value(RequestParameter::DraftTokens).toInt(kAutomaticDraft);
    if (draft != kAutomaticDraft)
        options.drafting.tokens = draft;
    for (const auto &text : settings.value(RequestParameter::Stop).toArray())
        options.stop.push_back(text.toString().toStdString());

    const QJsonValue drafter = settings.value(RequestParameter::Drafter);
    for (const auto kind :
         { engine::DrafterKind::None, engine::DrafterKind::Lookup, engine::DrafterKind::Dflash2 }) {
        if (drafter.toString() == QLatin1StringView(engine::drafterName(kind)))
            options.drafting.drafter = kind;
    }

    const auto effort
        = choicesOf(RequestParameter::Thinking)
              .indexOf(effectiveValue(RequestParameter::Thinking, settings, model).toString());
    options.prompt.thinking = effort > 0;
    options.prompt.effort = effort == 3 ? engine::ReasoningEffort::Max
        : effort == 2                   ? engine::ReasoningEffort::High
                                        : engine::ReasoningEffort::Low;
    options.prompt.clearThinking
        = effectiveValue(RequestParameter::ClearThinking, settings, model).toBool();
    return options;
}

QString systemPromptOf(const RequestSettings &settings)
{
    return settings.value(RequestParameter::SystemPrompt).toString().trimmed();
}

} // namespace firesteel::app
