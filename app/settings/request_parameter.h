// SPDX-License-Identifier: MIT
//
// What a person can choose for each answer: names, ranges and words of every parameter, in the
// order they are shown. The keys are those of presets in the database and of exported chats.
#pragma once

#include "engine/api/request.h"

#include <QJsonValue>
#include <QString>
#include <QStringList>

#include <optional>
#include <span>

namespace firesteel::app {

enum class RequestParameter {
    SystemPrompt,
    Thinking,
    ThinkingBudget,
    ClearThinking,
    Temperature,
    TopP,
    TopK,
    MinP,
    RepetitionPenalty,
    PresencePenalty,
    FrequencyPenalty,
    Seed,
    MaxTokens,
    Stop,
    Drafter,
    DraftTokens,
};

struct ParameterFacts
{
    enum class Kind {
        Real,
        Integer,
        Text,
        Lines, // strings, edited one a line
        Flag,
        Choice, // one of choicesOf()
    };

    RequestParameter parameter;
    QLatin1StringView key;
    Kind kind = Kind::Real;
    double least = 0; // Real and Integer
    double greatest = 0;
    double step = 0; // of the arrow keys
};

std::span<const ParameterFacts> requestParameters(); // one each, in the order of the enum
const ParameterFacts &factsOf(RequestParameter parameter);

// The values of a Choice, as they are stored; nothing for other kinds. Of Thinking "off", "low",
// "high", "max", the least first; of Drafter the engine's names.
const QStringList &choicesOf(RequestParameter parameter);
QStringList choiceLabels(RequestParameter parameter); // for a person, in the same order

constexpr int kRandomSeed = -1; // the values that mean "none"
constexpr int kNoTokenLimit = 0;
constexpr int kAutomaticDraft = -1;
constexpr int kMostStopStrings = 16; // as the engine allows

QString labelOf(RequestParameter parameter); // for a person
QString hintOf(RequestParameter parameter);

// What applies where nobody chose: the model's own sampling, and this application's habits.
QJsonValue defaultValue(RequestParameter parameter, const engine::SamplingParams &model);

// The value in the parameter's range and type; nothing where it cannot be one.
std::optional<QJsonValue> usableValue(RequestParameter parameter, const QJsonValue &value);

// To and from the text of an input field, in the person's language. A number is what was typed, in
// range or not.
QString valueText(RequestParameter parameter, const QJsonValue &value);
std::optional<QJsonValue> valueFromText(RequestParameter parameter, const QString &text);

} // namespace firesteel::app
