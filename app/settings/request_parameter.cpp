// SPDX-License-Identifier: MIT
#include "app/settings/request_parameter.h"

#include <QCoreApplication>
#include <QJsonArray>
#include <QLocale>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace firesteel::app {

namespace {

using namespace Qt::Literals::StringLiterals;
using Kind = ParameterFacts::Kind;

struct Words
{
    Q_DECLARE_TR_FUNCTIONS(RequestParameter)
};

constexpr double kLargestSeed = std::numeric_limits<std::uint32_t>::max();
constexpr double kMostTokens = 1 << 20;
constexpr qsizetype kLongestPrompt = 1'000'000; // characters
constexpr qsizetype kLongestStop = 1000;
constexpr int kDigits = 6; // of a float, without its noise
// In the order in which they are offered.
constexpr std::array kDrafters { engine::DrafterKind::Auto, engine::DrafterKind::None,
                                 engine::DrafterKind::Lookup, engine::DrafterKind::Dflash2 };

constexpr std::array kParameters {
    ParameterFacts { RequestParameter::SystemPrompt, "systemPrompt"_L1, Kind::Text },
    ParameterFacts { RequestParameter::Thinking, "thinking"_L1, Kind::Choice },
    ParameterFacts { RequestParameter::ThinkingBudget, "thinkingBudget"_L1, Kind::Integer,
                     kNoTokenLimit, kMostTokens, 256 },
    ParameterFacts { RequestParameter::ClearThinking, "clearThinking"_L1, Kind::Flag },
    ParameterFacts { RequestParameter::Temperature, "temperature"_L1, Kind::Real, 0, 2, 0.05 },
    ParameterFacts { RequestParameter::TopP, "topP"_L1, Kind::Real, 0.01, 1, 0.01 },
    ParameterFacts { RequestParameter::TopK, "topK"_L1, Kind::Integer, 0, 1000, 1 },
    ParameterFacts { RequestParameter::MinP, "minP"_L1, Kind::Real, 0, 0.99, 0.01 },
    ParameterFacts { RequestParameter::RepetitionPenalty, "repetitionPenalty"_L1, Kind::Real, 0.5,
                     2, 0.01 },
    ParameterFacts { RequestParameter::PresencePenalty, "presencePenalty"_L1, Kind::Real, -2, 2,
                     0.05 },
    ParameterFacts { RequestParameter::FrequencyPenalty, "frequencyPenalty"_L1, Kind::Real, -2, 2,
                     0.05 },
    ParameterFacts { RequestParameter::Seed, "seed"_L1, Kind::Integer, kRandomSeed, kLargestSeed,
                     1 },
    ParameterFacts { RequestParameter::MaxTokens, "maxTokens"_L1, Kind::Integer, kNoTokenLimit,
                     kMostTokens, 64 },
    ParameterFacts { RequestParameter::Stop, "stop"_L1, Kind::Lines },
    ParameterFacts { RequestParameter::Drafter, "drafter"_L1, Kind::Choice },
    ParameterFacts { RequestParameter::DraftTokens, "draftTokens"_L1, Kind::Integer,
                     kAutomaticDraft, engine::Drafting::kMaxTokens, 1 },
};

// A line holds one string: what would break the line is written as in C.
QString escaped(QString text)
{
    return text.replace(u'\\', u"\\\\"_s).replace(u'\n', u"\\n"_s).replace(u'\t', u"\\t"_s);
}

QString unescaped(const QString &line)
{
    QString text;
    for (qsizetype i = 0; i < line.size(); ++i) {
        const QChar next = i + 1 < line.size() ? line[i + 1] : QChar();
        if (line[i] == u'\\' && (next == u'n' || next == u't' || next == u'\\')) {
            text += next == u'n' ? u'\n' : next == u't' ? u'\t' : u'\\';
            ++i;
        } else {
            text += line[i];
        }
    }
    return text;
}

std::optional<QJsonValue> usableNumber(const ParameterFacts &facts, const QJsonValue &value)
{
    if (!value.isDouble() || !std::isfinite(value.toDouble()))
        return std::nullopt;
    const double number = std::clamp(value.toDouble(), facts.least, facts.greatest);
    return facts.kind == Kind::Integer ? std::round(number) : number;
}

std::optional<QJsonValue> usableLines(const QJsonValue &value)
{
    if (!value.isArray())
        return std::nullopt;
    QJsonArray lines;
    for (const auto &line : value.toArray()) {
        const QString text = line.toString().left(kLongestStop);
        if (!text.isEmpty() && !lines.contains(text) && lines.size() < kMostStopStrings)
            lines.append(text);
    }
    return lines;
}

bool isTokenLimit(RequestParameter parameter)
{
    return parameter == RequestParameter::MaxTokens
        || parameter == RequestParameter::ThinkingBudget;
}

QJsonValue shortened(float value)
{
    return QString::number(static_cast<double>(value), 'g', kDigits).toDouble();
}

} // namespace

std::span<const ParameterFacts> requestParameters() { return kParameters; }

const ParameterFacts &factsOf(RequestParameter parameter)
{
    return kParameters.at(static_cast<std::size_t>(parameter));
}

const QStringList &choicesOf(RequestParameter parameter)
{
    static const QStringList thinking { u"off"_s, u"low"_s, u"high"_s, u"max"_s };
    static const QStringList drafter = [] {
        QStringList names;
        for (const engine::DrafterKind kind : kDrafters)
            names << QString::fromUtf8(engine::drafterName(kind));
        return names;
    }();
    static const QStringList none;
    switch (parameter) {
    case RequestParameter::Thinking:
        return thinking;
    case RequestParameter::Drafter:
        return drafter;
    default:
        return none;
    }
}

QStringList choiceLabels(RequestParameter parameter)
{
    switch (parameter) {
    case RequestParameter::Thinking:
        return { Words::tr("Off"), Words::tr("Low"), Words::tr("High"), Words::tr("Max") };
    case RequestParameter::Drafter:
        //: Who guesses. The third copies what followed the same words before.
        return { Words::tr("Automatic"), Words::tr("None"), Words::tr("Look-up"), u"DFlash2"_s };
    default:
        return {};
    }
}

QString labelOf(RequestParameter parameter)
{
    switch (parameter) {
    case RequestParameter::SystemPrompt:
        return Words::tr("System prompt");
    case RequestParameter::Thinking:
        return Words::tr("Thinking");
    case RequestParameter::ThinkingBudget:
        return Words::tr("Thinking budget");
    case RequestParameter::ClearThinking:
        return Words::tr("Leave out earlier thinking");
    case RequestParameter::Temperature:
        return Words::tr("Temperature");
    case RequestParameter::TopP:
        return Words::tr("Top-p");
    case RequestParameter::TopK:
        return Words::tr("Top-k");
    case RequestParameter::MinP:
        return Words::tr("Min-p");
    case RequestParameter::RepetitionPenalty:
        return Words::tr("Repetition penalty");
    case RequestParameter::PresencePenalty:
        return Words::tr("Presence penalty");
    case RequestParameter::FrequencyPenalty:
        return Words::tr("Frequency penalty");
    case RequestParameter::Seed:
        return Words::tr("Seed");
    case RequestParameter::MaxTokens:
        return Words::tr("Max tokens");
    case RequestParameter::Stop:
        return Words::tr("Stop sequences");
    case RequestParameter::Drafter:
        return Words::tr("Drafter");
    case RequestParameter::DraftTokens:
        break;
    }
    return Words::tr("K: tokens guessed per step");
}

QString hintOf(RequestParameter parameter)
{
    switch (parameter) {
    case RequestParameter::SystemPrompt:
        return Words::tr("How the model should behave in the whole chat.");
    case RequestParameter::Thinking:
        return Words::tr("How long the model may think before it answers.");
    case RequestParameter::ThinkingBudget:
        return Words::tr("After so many tokens of thinking the model has to answer with what it "
                         "has thought of.");
    case RequestParameter::ClearThinking:
        return Words::tr("The model does not read again what it thought before earlier answers.");
    case RequestParameter::Temperature:
        return Words::tr("Randomness: near 0 for facts and code, higher for stories.");
    case RequestParameter::TopP:
        return Words::tr("Only the likeliest tokens whose probabilities add up to p.");
    case RequestParameter::TopK:
        return Words::tr("Only the k likeliest tokens; 0 is off.");
    case RequestParameter::MinP:
        return Words::tr("Only tokens at least this likely beside the likeliest; 0 is off.");
    case RequestParameter::RepetitionPenalty:
        return Words::tr("Above 1, tokens that were already used become less likely.");
    case RequestParameter::PresencePenalty:
        return Words::tr("Above 0, tokens the answer has used once become less likely.");
    case RequestParameter::FrequencyPenalty:
        return Words::tr("Above 0, tokens become less likely each time the answer uses them.");
    case RequestParameter::Seed:
        return Words::tr("The same seed, prompt and settings give the same answer.");
    case RequestParameter::MaxTokens:
        return Words::tr("The longest answer, its thinking included.");
    case RequestParameter::Drafter:
        return Words::tr("Who guesses tokens for the model to check together. DFlash2 is a small "
                         "model of its own; a look-up copies what followed the same words before.");
    case RequestParameter::Stop:
        return Words::tr("The answer ends before one of these. One a line; \\n is a line break.");
    case RequestParameter::DraftTokens:
        break;
    }
    return Words::tr("What a drafter guesses for the model to check together; 0 is off. More suits "
                     "code and lists. It changes the speed, never the answer.");
}

QJsonValue defaultValue(RequestParameter parameter, const engine::SamplingParams &model)
{
    switch (parameter) {
    case RequestParameter::SystemPrompt:
        return QString();
    case RequestParameter::Thinking:
        return choicesOf(parameter)[1];
    case RequestParameter::ClearThinking:
        return true; // the vendor's advice for plain chat
    case RequestParameter::Temperature:
        return shortened(model.temperature);
    case RequestParameter::TopP:
        return shortened(model.topP);
    case RequestParameter::TopK:
        return model.topK;
    case RequestParameter::MinP:
        return shortened(model.minP);
    case RequestParameter::RepetitionPenalty:
        return shortened(model.repetitionPenalty);
    case RequestParameter::PresencePenalty:
        return shortened(model.presencePenalty);
    case RequestParameter::FrequencyPenalty:
        return shortened(model.frequencyPenalty);
    case RequestParameter::Seed:
        return kRandomSeed;
    case RequestParameter::ThinkingBudget:
    case RequestParameter::MaxTokens:
        return kNoTokenLimit;
    case RequestParameter::Stop:
        return QJsonArray();
    case RequestParameter::Drafter:
        return choicesOf(parameter)[0];
    case RequestParameter::DraftTokens:
        break;
    }
    return kAutomaticDraft;
}

std::optional<QJsonValue> usableValue(RequestParameter parameter, const QJsonValue &value)
{
    const ParameterFacts &facts = factsOf(parameter);
    switch (facts.kind) {
    case Kind::Real:
    case Kind::Integer:
        return usableNumber(facts, value);
    case Kind::Text:
        return value.isString() ? std::optional<QJsonValue>(value.toString().left(kLongestPrompt))
                                : std::nullopt;
    case Kind::Lines:
        return usableLines(value);
    case Kind::Flag:
        return value.isBool() ? std::optional(value) : std::nullopt;
    case Kind::Choice:
        break;
    }
    return choicesOf(parameter).contains(value.toString()) ? std::optional(value) : std::nullopt;
}

QString valueText(RequestParameter parameter, const QJsonValue &value)
{
    const QLocale locale;
    switch (factsOf(parameter).kind) {
    case Kind::Real:
        return locale.toString(value.toDouble(), 'g', kDigits);
    case Kind::Integer:
        if (parameter == RequestParameter::Seed && value.toInteger() == kRandomSeed)
            return Words::tr("random");
        if (isTokenLimit(parameter) && value.toInteger() == kNoTokenLimit)
            return Words::tr("no limit");
        if (parameter == RequestParameter::DraftTokens && value.toInteger() == kAutomaticDraft)
            return Words::tr("automatic");
        return QString::number(value.toInteger()); // no group separators: it is edited
    case Kind::Text:
        return value.toString();
    case Kind::Lines: {
        QStringList lines;
        for (const auto &line : value.toArray())
            lines << escaped(line.toString());
        return lines.join(u'\n');
    }
    case Kind::Flag:
        return value.toBool() ? Words::tr("on") : Words::tr("off");
    case Kind::Choice:
        break;
    }
    return choiceLabels(parameter).value(choicesOf(parameter).indexOf(value.toString()));
}

std::optional<QJsonValue> valueFromText(RequestParameter parameter, const QString &text)
{
    const ParameterFacts &facts = factsOf(parameter);
    if (facts.kind == Kind::Text)
        return usableValue(parameter, text);
    if (facts.kind == Kind::Lines) {
        QJsonArray lines;
        for (const QString &line : text.split(u'\n'))
            lines.append(unescaped(line));
        return usableValue(parameter, lines);
    }
    if (facts.kind != Kind::Real && facts.kind != Kind::Integer)
        return std::nullopt;
    const QString words = text.trimmed();
    for (const double none : { double { kRandomSeed }, double { kNoTokenLimit } }) {
        if (words.compare(valueText(parameter, none), Qt::CaseInsensitive) == 0)
            return none;
    }
    bool isNumber = false;
    double number = QLocale().toDouble(words, &isNumber);
    if (!isNumber) // a point is a decimal point everywhere
        number = QLocale::c().toDouble(words, &isNumber);
    return isNumber && std::isfinite(number) ? std::optional<QJsonValue>(number) : std::nullopt;
}

} // namespace firesteel::app
